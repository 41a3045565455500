import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundlingOf } from "../../cdk/bundling.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A function's code as the construct has it made, with the same options. `workflowsFile`: what `#workflows` stands for, from the root. */
export async function bundle(name: string, workflowsFile: string, outfile: string): Promise<void> {
  const { format = "esm", target = "node24", mainFields = [], minify = true, banner = "" } = bundlingOf(name, "");
  await build({
    entryPoints: [`${root}functions/${name}.ts`],
    outfile,
    bundle: true,
    platform: "node",
    format,
    target,
    mainFields,
    minify,
    alias: { "#workflows": `${root}${workflowsFile}` },
    banner: { js: banner },
    logLevel: "error",
  });
}
