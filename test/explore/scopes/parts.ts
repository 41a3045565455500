import type { Definition, NodeDef, StepNode } from "../../../lib/core/definition.ts";
import { command, signal } from "../../../lib/engine/commands.ts";
import { decide } from "../../../lib/engine/decide.ts";
import { envelope, message, queues } from "../../../lib/engine/messages.ts";
import { start } from "../../../lib/engine/start.ts";
import { ref, stepNode } from "../../core/fixture.ts";
import { definitionOf, refOf } from "../../engine/raw.ts";
import type { End, Outside } from "../scope.ts";

export const retry = { attempts: 3, firstDelayMs: 1000, longestDelayMs: 1000, factor: 1, jitter: 0 };

/** A step that may be tried three times, for 30 s each. */
export const step = (name: string, reads: readonly string[], more: Partial<StepNode> = {}): StepNode =>
  stepNode(name, reads, { retry, ...more });

export const inline = (name: string, reads: readonly string[], more: Partial<StepNode> = {}): StepNode =>
  step(name, reads, { isInline: true, ...more });

export const waitFor = (signalName: string, name = signalName, more: object = {}): NodeDef => ({
  kind: "signal",
  name,
  signal: signalName,
  ...more,
});

/** The workflow of run `r`. */
export const flow = (nodes: readonly NodeDef[], output: string): Definition => definitionOf("w", nodes, ref(output));

export const twoSteps = flow([step("a", ["$input"]), step("b", ["a"])], "b");
export const oneStep = flow([step("a", ["$input"])], "a");

/** A wake-up written by hand: look at everything. */
export const byHand = (runUid: string, number: number, runId = "r") =>
  message(queues.wake("standard"), envelope({ tenant: "default", runId, runUid }, { why: "hand" }), `hand-${number}`);

/** Somebody who starts run `r`. */
export const starts = (name: string, n = 1): Outside => ({
  name,
  call: (engine) => start(engine, { workflow: "w", runId: "r", input: { n } }),
});

/** Somebody who sends a signal with this number as its payload and its id. */
export const sends = (name: string, payload: number, after?: string): Outside => ({
  name: `signal ${payload}`,
  ...(after !== undefined && { after }),
  call: (engine) => signal(engine, refOf("r"), { signal: name, payload, id: `s${payload}` }),
});

export const decides = (who: string, approved: boolean): Outside => ({
  name: who,
  call: (engine) => decide(engine, refOf("r"), { gate: "g", approved, by: who, id: who }),
});

export const commands = (kind: "cancel" | "terminate" | "pause" | "resume", after?: string): Outside => ({
  name: kind,
  ...(after !== undefined && { after }),
  call: (engine) => command(engine, refOf("r"), { kind, by: "ann", id: kind }),
});

/** A run that succeeds yields one of these. */
export const yields =
  (...wanted: readonly unknown[]) =>
  ({ status, output }: End): string | undefined =>
    status === "succeeded" && !wanted.some((each) => JSON.stringify(each) === JSON.stringify(output))
      ? `the output is ${JSON.stringify(output)}`
      : undefined;
