import { fileURLToPath } from "node:url";
import { App } from "aws-cdk-lib";
import { TickwrightStack } from "./stack.ts";

/**
 * `cdk deploy`: one installation with the workflows of the examples, in the account and region of the CLI's credentials.
 * `-c prefix=...` for a second one beside it.
 */
const app = new App();
const prefix: unknown = app.node.tryGetContext("prefix");
new TickwrightStack(app, "Tickwright", {
  workflows: fileURLToPath(new URL("../examples/registry.ts", import.meta.url)),
  ...(typeof prefix === "string" && { prefix }),
});
