import { App } from "aws-cdk-lib";
import { TickwrightStack } from "./stack.ts";

/** `cdk deploy`: one installation in the account and region of the CLI's credentials. `-c prefix=...` for a second one beside it. */
const app = new App();
const prefix: unknown = app.node.tryGetContext("prefix");
new TickwrightStack(app, "Tickwright", typeof prefix === "string" ? { prefix } : {});
