import { fileURLToPath } from "node:url";
import { App, CliCredentialsStackSynthesizer, type IReusableStackSynthesizer, RemovalPolicy } from "aws-cdk-lib";
import { TickwrightStack } from "../../cdk/stack.ts";

/** Our stack with the probe in place of every function. The emulator refuses the roles of the bootstrap under enforced IAM. */
const entry = fileURLToPath(new URL("./probe.ts", import.meta.url));
const app = new App();
new TickwrightStack(app, "Tickwright", {
  synthesizer: new CliCredentialsStackSynthesizer() as IReusableStackSynthesizer,
  removalPolicy: RemovalPolicy.DESTROY,
  workflows: fileURLToPath(new URL("../cdk/workflows.ts", import.meta.url)),
  coordinator: { entry },
  watchdog: { entry },
  api: { entry },
  deadTasks: { entry },
  groups: { default: { entry }, mail: { entry, isKept: true } },
});
