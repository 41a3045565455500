import { type BundlingOptions, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";

/** What a function's bundle depends on to run at all. */
type Fixed =
  | "format"
  | "target"
  | "mainFields"
  | "externalModules"
  | "bundleAwsSDK"
  | "sourceMap"
  | "sourceMapMode"
  | "assetHash";

/** What may be chosen of how esbuild makes a function's code. Beside it stands what the code needs to run, which is not to be had otherwise. */
export type FunctionBundling = Omit<BundlingOptions, Fixed>;

/** ES modules have no `require`, and some of what is bundled asks for it. */
const requireBanner = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** Arguments of esbuild that would undo what stands in {@link bundlingOf}. */
const refused =
  /^--(?:format|platform|bundle|external|packages|sourcemap|main-fields|target|outfile|outdir|splitting)(?:[:=]|$)/;

/**
 * One ES module for Node 24 with the AWS SDK in it, at the version that was tested (the runtime's own changes by itself), a source map
 * beside it, and the user's workflows under the name that the functions import. A user's options are laid over the rest; those
 * that would undo this are refused, a banner comes after ours.
 */
export function bundlingOf(id: string, workflowsFile: string, given: FunctionBundling = {}): BundlingOptions {
  const { banner, esbuildArgs, ...others } = given;
  for (const [name, value] of Object.entries(esbuildArgs ?? {})) {
    if (refused.test(name)) {
      throw new Error(`The bundling of ${id} sets ${name}, which the functions depend on: remove it from esbuildArgs.`);
    }
    if (`${name}:${[value].flat().join(" ")}`.includes("#workflows")) {
      throw new Error(
        `The bundling of ${id} gives #workflows another meaning: name your file in \`workflows\` instead.`,
      );
    }
  }
  return {
    minify: true,
    sourcesContent: false,
    ...others,
    format: OutputFormat.ESM,
    target: "node24",
    mainFields: ["module", "main"],
    sourceMap: true,
    externalModules: [],
    esbuildArgs: { ...esbuildArgs, "--alias:#workflows": workflowsFile },
    banner: banner === undefined ? requireBanner : `${requireBanner}\n${banner}`,
  };
}
