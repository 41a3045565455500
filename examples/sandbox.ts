import { setTimeout as wait } from "node:timers/promises";
import { FatalError, RetryableError, type StepContext } from "../lib/index.ts";

/**
 * What a demo or a test may replace: how a worker dies, and how time passes. As they stand, the worker's process exits, and a
 * slow service takes its time.
 */
export const sandbox: {
  crash(context: StepContext): Promise<never>;
  pause(ms: number, signal: AbortSignal): Promise<void>;
} = {
  crash: async ({ runId, node }) => {
    console.error(
      `${runId}: its input takes the process of "${node}" down, once. What is kept goes on at the next start.`,
    );
    process.exit(137);
  },
  pause: (ms, signal) => wait(ms, undefined, { signal }),
};

const slowMs = 2000;
const hangingMs = 3_600_000;

/**
 * The services of the examples: none is real. As with the test cards of payment providers, a word in the identifier that a
 * service is asked about decides what happens, so the input of a run decides how it goes: `sku-flaky`, `card-refused`.
 *
 * | word | what the service does |
 * |---|---|
 * | `slow` | answers after two seconds |
 * | `flaky` | fails at the first attempt |
 * | `busy` | at the first attempt asks to be called again in two seconds |
 * | `hanging` | does not answer the first attempt |
 * | `crash` | takes the worker down at the first attempt |
 * | `broken` | fails at every attempt |
 * | `refused` | says no for good |
 * | `final` | does what it is asked, and never takes it back |
 */
export async function ask(service: string, subject: string, context: StepContext): Promise<void> {
  const words = wordsOf(subject);
  const isFirst = context.attempt === 1;
  if (words.has("slow")) await sandbox.pause(slowMs, context.signal);
  if (words.has("hanging") && isFirst) await sandbox.pause(hangingMs, context.signal);
  if (words.has("crash") && isFirst) await sandbox.crash(context);
  if (words.has("busy") && isFirst) throw new RetryableError(`${service} is busy`, { after: "2s" });
  if (words.has("flaky") && isFirst) throw new Error(`${service} did not answer`);
  if (words.has("broken")) throw new Error(`${service} is down`);
  if (words.has("refused")) throw new FatalError(`${service} refused ${subject}`);
}

/** Asks a service to take back what it did. */
export async function takeBack(service: string, subject: string): Promise<void> {
  if (wordsOf(subject).has("final")) throw new FatalError(`${service} takes nothing back from ${subject}`);
}

const wordsOf = (subject: string) => new Set(subject.toLowerCase().split(/[^a-z]+/));
