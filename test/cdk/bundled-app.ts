import { fileURLToPath } from "node:url";
import { App } from "aws-cdk-lib";
import { TickwrightStack } from "../../cdk/stack.ts";

/** Bundles every function into the folder given, as `cdk synth` would, with the workflows of this folder that are named. */
const [, , folder = "", workflows = "long-workflows.ts"] = process.argv;
const app = new App({ outdir: folder });
new TickwrightStack(app, "Test", { workflows: fileURLToPath(new URL(workflows, import.meta.url)) });
app.synth();
