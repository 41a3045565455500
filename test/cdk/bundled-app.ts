import { fileURLToPath } from "node:url";
import { App } from "aws-cdk-lib";
import { TickwrightStack } from "../../cdk/stack.ts";

/** Bundles every function into the folder given, as `cdk synth` would. */
const app = new App({ ...(process.argv[2] !== undefined && { outdir: process.argv[2] }) });
new TickwrightStack(app, "Test", { workflows: fileURLToPath(new URL("./long-workflows.ts", import.meta.url)) });
app.synth();
