import type { Envelope, Why } from "../core/envelope.ts";
import type { Held, Inputs } from "../core/inputs.ts";
import type { Remaining } from "../ports/received.ts";
import type { Engine, RunRef } from "./engine.ts";

/** One processing of one run: what brought it here, and what it learns on its way. Hints add up and are never replaced. */
export interface Processing extends RunRef {
  readonly runUid: string | undefined;
  readonly hints: Set<string>;
  /** Every attempt in flight is looked at. */
  isLoadAll: boolean;
  /** Everything owed is performed, as nobody knows what was sent. */
  isPerformAll: boolean;
  readonly why: Why;
  readonly requeues: number;
  readonly requeuesAtSeq: number;
  readonly doubts: number;
  readonly firstAtMs: number | undefined;
  /** A record that the watchdog found overdue. */
  readonly sk: string | undefined;
  readonly remaining: Remaining;
}

/** What a worker brings to its own tick. */
export interface Work {
  readonly held?: Held;
  readonly parks: Inputs["parks"];
}

export const noWork: Work = { parks: [] };

/** What a message says about how to process the run that it names. */
export function processingOf(
  engine: Engine,
  envelope: Envelope,
  receiveCount: number,
  remaining: Remaining,
): Processing {
  const isRedelivered = receiveCount > 1;
  const isWatchdog = envelope.why === "watchdog";
  const isBare = envelope.hints.length === 0 && !envelope.task;
  return {
    tenant: envelope.tenant,
    runId: envelope.runId,
    runUid: envelope.runUid,
    hints: new Set(envelope.hints),
    isLoadAll:
      isRedelivered || isWatchdog || isBare || envelope.isAll || envelope.why === "timer" || envelope.why === "unpark",
    isPerformAll: isRedelivered || isWatchdog || envelope.isAll,
    why: envelope.why,
    requeues: envelope.requeues,
    requeuesAtSeq: envelope.requeuesAtSeq,
    doubts: envelope.doubts ?? 0,
    firstAtMs: envelope.firstAtMs ?? engine.clock.nowMs(),
    sk: envelope.sk,
    remaining,
  };
}

/** What only its own message makes the run do (try what is parked again, send an early timer again) is not lost among others. */
const foremost = (one: Why, other: Why): Why =>
  (["unpark", "timer"] as const).find((why) => why === one || why === other) ?? (one === other ? one : "hand");

/** Several first-time messages for one run are one processing: their hints add up. */
export function merged(processings: readonly Processing[]): Processing {
  const [first] = processings;
  if (!first) throw new RangeError("nothing to merge");
  const most = (of: (each: Processing) => number) => Math.max(...processings.map(of));
  return {
    ...first,
    runUid: processings.every((each) => each.runUid === first.runUid) ? first.runUid : undefined,
    hints: new Set(processings.flatMap((each) => [...each.hints])),
    isLoadAll: processings.some((each) => each.isLoadAll),
    isPerformAll: processings.some((each) => each.isPerformAll),
    why: processings.map((each) => each.why).reduce(foremost),
    requeues: most((each) => each.requeues),
    requeuesAtSeq: most((each) => each.requeuesAtSeq),
    doubts: most((each) => each.doubts),
    sk: processings.find((each) => each.sk !== undefined)?.sk,
  };
}
