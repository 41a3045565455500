import { fileURLToPath } from "node:url";
import { App, CliCredentialsStackSynthesizer, type IReusableStackSynthesizer, RemovalPolicy } from "aws-cdk-lib";
import { TickwrightStack } from "../../cdk/stack.ts";

/** Our stack as it is, with the workflows of the examples. The emulator refuses the roles of the bootstrap under enforced IAM. */
const app = new App();
new TickwrightStack(app, "Tickwright", {
  synthesizer: new CliCredentialsStackSynthesizer() as IReusableStackSynthesizer,
  removalPolicy: RemovalPolicy.DESTROY,
  workflows: fileURLToPath(new URL("../../examples/registry.ts", import.meta.url)),
});
