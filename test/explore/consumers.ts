import type { SQSEvent } from "aws-lambda";
import { type BatchOutcome, runBatch } from "../../lib/aws/batch.ts";
import { attributeNames } from "../../lib/aws/names.ts";
import { envelopeFrom } from "../../lib/core/envelope.ts";
import { attemptName } from "../../lib/core/keys.ts";
import { bury } from "../../lib/engine/bury.ts";
import { coordinate } from "../../lib/engine/coordinate.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { queues } from "../../lib/engine/messages.ts";
import { work } from "../../lib/engine/work.ts";
import type { Received, Remaining } from "../../lib/ports/received.ts";
import type { Invocation, Position } from "./process.ts";
import type { Running, State } from "./state.ts";

/** Longer than any scope takes, so that no process is short of time. */
export const functionMs = 4 * 3_600_000;

/** A function that was handed messages of one queue: what stands between Lambda and the verb is the production code too. */
export function consumerOf(queue: string, all: readonly Received[], name: string, state: State): Invocation {
  const verb = (engine: Engine, batch: readonly Received[], remaining: Remaining) => {
    if (queue === queues.deadTask) return bury(engine, batch, remaining);
    return queue.startsWith("task:")
      ? work(engine, queue.slice(5), batch, remaining)
      : coordinate(engine, batch, remaining, queue);
  };
  return {
    name,
    endAtMs: state.nowMs + functionMs,
    begin: (engine, remaining) => runBatch(eventOf(all), (batch) => verb(engine, batch, remaining)),
  };
}

/** As Lambda hands messages over. */
const eventOf = (all: readonly Received[]) =>
  ({
    Records: all.map(({ id, body, receiveCount, taskKey = "" }) => ({
      messageId: id,
      body,
      attributes: { ApproximateReceiveCount: String(receiveCount) },
      messageAttributes: { [attributeNames.taskKey]: { stringValue: taskKey } },
    })),
  }) as unknown as SQSEvent;

/** Defects that the answer names: there never should be any. */
export const defectsOf = ({ result }: Position): readonly string[] =>
  (outcomeOf(result)?.defects ?? []).map(({ what, cause }) => `${what}: ${String(cause)}`);

const outcomeOf = (result: Position["result"]) =>
  result?.kind === "returned" ? (result.value as Partial<BatchOutcome> | undefined) : undefined;

/** Receipts that come back, as Lambda takes an answer: an empty list is success of all, a name that it does not know failure of all. */
export function handedBack(state: State, { name, position }: Running): ReadonlySet<string> {
  const held = new Set(state.messages.flatMap(({ holder, receipt }) => (holder === name ? [receipt] : [])));
  if (position.result?.kind !== "returned") return held;
  const named = (outcomeOf(position.result)?.response?.batchItemFailures ?? []).map(
    ({ itemIdentifier }) => itemIdentifier,
  );
  return named.every((each) => held.has(each)) ? new Set(named) : held;
}

export function consumerInWords(
  { queue, body }: { queue: string; body: string },
  receives: number,
  nth: number,
): string {
  const { task, hints, why } = envelopeFrom(body);
  const who = queue.startsWith("task:") ? "worker" : queue === queues.deadTask ? "undertaker" : "coordinator";
  const what = task ? attemptName(task.node, task.index, task.attempt) : [why, ...hints].join(" ");
  return `${who}[${what}${receives > 1 ? ` r${receives}` : ""}${nth > 1 ? ` #${nth}` : ""}]`;
}
