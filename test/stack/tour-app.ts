import { fileURLToPath } from "node:url";
import { App, CliCredentialsStackSynthesizer, type IReusableStackSynthesizer, RemovalPolicy } from "aws-cdk-lib";
import { TickwrightStack } from "../../cdk/stack.ts";

/**
 * Our stack with workflows of all kinds, and periods short enough to wait for. `TOUR` says which deploy it is; under enforced IAM
 * `TOUR_SYNTHESIZER=cli`, as the emulator refuses the roles of the bootstrap then.
 */
const app = new App();
new TickwrightStack(app, "Tour", {
  ...(process.env["TOUR_SYNTHESIZER"] === "cli" && {
    synthesizer: new CliCredentialsStackSynthesizer() as IReusableStackSynthesizer,
  }),
  removalPolicy: RemovalPolicy.DESTROY,
  workflows: fileURLToPath(new URL(`./tour/${process.env["TOUR"] ?? "first"}.ts`, import.meta.url)),
  coordinator: { timeoutS: 10 },
  watchdog: { timeoutS: 15 },
  deadTasks: { timeoutS: 10 },
  groups: { default: { timeoutS: 10 } },
  limits: {
    dispatchGraceMs: 5_000,
    owedGraceMs: 5_000,
    watchIntervalMs: 10_000,
    strikesMax: 2,
    strikeSpacingMs: 16_000,
    stuckAfterMs: 20_000,
  },
});
