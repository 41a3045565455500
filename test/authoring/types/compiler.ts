import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
export const tsc = join(root, "node_modules/typescript/bin/tsc");

/** The public entries, as users import them. */
const entries = {
  tickwright: "lib/index.ts",
  "tickwright/testing": "lib/testing/index.ts",
  "tickwright/guard": "lib/guard/index.ts",
  "tickwright/connect": "lib/tools/connect.ts",
  "tickwright/deploy": "lib/tools/deploy.ts",
  "tickwright/cdk": "cdk/tickwright.ts",
};

/** A user's project with one file (and what it imports), beside this package, checked by the compiler that a user has. */
export function createProject(
  source: string,
  types: readonly string[] = ["node"],
  others: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "tickwright-types-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const file = join(folder, "user.ts");
  for (const [name, text] of Object.entries({ ...others, "user.ts": source })) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      types,
      rootDir: "/",
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
      declaration: true,
      paths: Object.fromEntries(Object.entries(entries).map(([entry, path]) => [entry, [join(root, path)]])),
    },
    include: [],
    files: ["user.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const run = (...options: readonly string[]) =>
    new Promise<string>((resolve) => {
      execFile(process.execPath, [tsc, "-p", folder, ...options], { cwd: folder, maxBuffer: 1e8 }, (_, stdout) =>
        resolve(stdout.replaceAll(folder, "")),
      );
    });
  return {
    folder,
    file,
    /** What the compiler complains about. */
    complaints: () => run("--pretty", "false"),
    /** How many types it made: the same on every machine. */
    async instantiations() {
      const told = await run("--extendedDiagnostics");
      return Number(/Instantiations:\s+(\d+)/.exec(told)?.[1]);
    },
    async declarations() {
      await run("--noEmit", "false", "--emitDeclarationOnly", "--outDir", join(folder, "out"));
      return readFileSync(join(folder, "out", folder, "user.d.ts"), "utf8");
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

export async function inProject<R>(
  source: string,
  ask: (project: ReturnType<typeof createProject>) => Promise<R>,
  types?: readonly string[],
): Promise<R> {
  const project = createProject(source, types);
  try {
    return await ask(project);
  } finally {
    project.remove();
  }
}
