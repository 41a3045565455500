import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { envFor } from "./endpoint.ts";
import { root } from "./state.ts";

interface CdkOptions {
  readonly isQuiet?: boolean;
  /** Of the app; this repository unless given. */
  readonly folder?: string;
}

/** The ordinary CDK CLI against the endpoint on a port. Shows what it says, or keeps it for the error. */
export function cdk(port: number, args: readonly string[], options: CdkOptions = {}): void {
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin/cdk"), args, {
    cwd: options.folder ?? root,
    env: { ...process.env, ...envFor(port) },
    encoding: "utf8",
    stdio: options.isQuiet ? "pipe" : "inherit",
  });
  if (status !== 0) throw new Error(`cdk ${args[0]} failed. ${stdout ?? ""}${stderr ?? ""}`);
}

/** Bootstraps the endpoint's account and deploys every stack of an app, as one would on AWS. `app` is a command or an assembly. */
export function bootstrapAndDeploy(
  port: number,
  options: CdkOptions & { readonly app?: string; readonly outputsFile: string },
): void {
  const app = options.app === undefined ? [] : ["--app", options.app];
  cdk(port, ["bootstrap", "aws://000000000000/us-east-1", ...app], options);
  cdk(port, ["deploy", "--all", "--require-approval", "never", "--outputs-file", options.outputsFile, ...app], options);
}
