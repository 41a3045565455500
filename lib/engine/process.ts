import { type Envelope, envelopeFrom } from "../core/envelope.ts";
import { Fault } from "../core/faults.ts";
import type { Received } from "../ports/received.ts";
import type { Engine, RunRef } from "./engine.ts";
import { forceFail } from "./force-fail.ts";
import { type Snapshot, snapshot } from "./load.ts";
import { message, queues } from "./messages.ts";
import type { Strikes } from "./records/strikes.ts";
import { isEnough, isTransient, removeStrikes, standingOf, strike, takeBack } from "./strike.ts";

/** `done`: acknowledge. `back`: hand the message back, it will be delivered again. */
export type Processed = "done" | "back";

/** A message read, or already dealt with because it cannot be. */
export type Read =
  | { readonly kind: "envelope"; readonly received: Received; readonly envelope: Envelope }
  | { readonly kind: "dealt-with"; readonly received: Received; readonly result: Processed };

/** Messages of a newer format wait for the deploy to finish, as new ones: they must never end in the dead-letter queue. */
const newerFormatDelayS = 60;

/**
 * Reads a message. What cannot be read goes to the dead-letter queue at once, with the reason, and its neighbours never notice;
 * what a newer build wrote is sent again with a delay.
 */
export async function readMessage(engine: Engine, received: Received, queue: string): Promise<Read> {
  try {
    return { kind: "envelope", received, envelope: envelopeFrom(received.body) };
  } catch (error) {
    if (!Fault.is(error)) throw error;
    const isNewer = error.code === "newer-format";
    engine.metrics.count(isNewer ? "format-ahead" : "messages-dead");
    engine.log.write(isNewer ? "info" : "warn", isNewer ? "message.newer-format" : "message.unreadable", {
      messageId: received.id,
      reason: error.message,
      // what it holds is nobody's to print: the dead-letter queue has it
      chars: received.body.length,
    });
    const common = { body: received.body, group: "default", taskKey: received.taskKey ?? received.id };
    const [sent] = await engine.queue.send([
      isNewer
        ? { ...common, queue, delaySeconds: newerFormatDelayS }
        : { ...common, queue: queues.dead, reason: error.message },
    ]);
    return { kind: "dealt-with", received, result: sent?.kind === "sent" ? "done" : "back" };
  }
}

/**
 * Runs a processing with the evidence around it. A message that is received again first looks at the strikes that stand, then
 * counts itself, then processes; a permanent fault counts in its catch; a fault of the platform removes what was counted, as it
 * says nothing about the run; a normal end that had looked at everything removes all, any other one what it counted itself.
 */
export async function withStrikes(
  engine: Engine,
  ref: RunRef,
  envelope: Envelope,
  receiveCount: number,
  queue: string,
  process: () => Promise<{ readonly isAll: boolean; readonly seen?: Snapshot }>,
): Promise<Processed> {
  let counted: { readonly seen: Snapshot; readonly strikes: Strikes | undefined } | undefined;
  try {
    const seen = receiveCount > 1 ? await snapshot(engine, ref) : undefined;
    if (seen?.owner.isLive && isMeant(envelope, seen)) {
      const standing = standingOf(engine, seen);
      if (
        standing &&
        isEnough(engine, standing, { isSpacingOver: true }) &&
        (await forceFail(engine, seen, "stuck", why(standing))) === "ended"
      )
        return "done";
      counted = {
        seen,
        strikes: await strike(engine, seen, { code: "stuck", message: "a processing began and did not end" }),
      };
    }
    const { isAll, seen: loaded } = await process();
    if (!isAll && counted) await takeBack(engine, counted.seen, counted.strikes);
    // what was loaded after this receipt was counted: also what a lost reply hid from whoever counted
    if (isAll && loaded) await removeStrikes(engine, loaded, loaded.strikes);
    return "done";
  } catch (error) {
    return isTransient(error)
      ? await transient(engine, envelope, queue, error, counted)
      : await permanent(engine, ref, error);
  }
}

/** A message for a run that was replaced says nothing about its successor. */
const isMeant = (envelope: Envelope, seen: Snapshot) =>
  envelope.runUid === undefined || envelope.runUid === seen.owner.runUid;

const why = (strikes: Strikes) => `${strikes.count} processings did not end; the last: ${strikes.message}`;

async function transient(
  engine: Engine,
  envelope: Envelope,
  queue: string,
  error: unknown,
  counted: { readonly seen: Snapshot; readonly strikes: Strikes | undefined } | undefined,
): Promise<Processed> {
  const fault = error as Fault;
  engine.log.write("warn", "processing.transient", { runId: envelope.runId, code: fault.code, reason: fault.message });
  const isClear = !counted?.strikes || (await removeStrikes(engine, counted.seen, counted.strikes));
  const isNewer = fault.code === "newer-format";
  if (isClear && !isNewer) return "back";
  // the table takes not even that: a new message is nobody's redelivery; and what a newer build wrote waits for the deploy
  const delayMs = isNewer ? newerFormatDelayS * 1000 : 5_000;
  // what is handed back by name is counted where the batch is answered
  engine.metrics.count(isNewer ? "format-ahead" : "messages-handed-back");
  const [sent] = await engine.queue.send([
    message(queue, { ...envelope, isAll: true }, `${envelope.runId}:after-fault`, delayMs),
  ]);
  return sent?.kind === "sent" ? "done" : "back";
}

async function permanent(engine: Engine, ref: RunRef, error: unknown): Promise<Processed> {
  const data = Fault.is(error)
    ? error.data
    : { code: "bad-row" as const, message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  engine.log.write("error", "processing.failed", {
    runId: ref.runId,
    tenant: ref.tenant,
    code: data.code,
    reason: data.message,
    ...(error instanceof Error && { stack: error.stack }),
  });
  try {
    const seen = await snapshot(engine, ref);
    if (!seen?.owner.isLive) return "back";
    const strikes = await strike(engine, seen, data);
    if (strikes && isEnough(engine, strikes, { isSpacingOver: false })) {
      return (await forceFail(engine, seen, "stuck", why(strikes))) === "ended" ? "done" : "back";
    }
  } catch (fault) {
    if (!isTransient(fault)) throw fault;
  }
  return "back";
}
