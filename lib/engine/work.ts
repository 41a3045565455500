import { attemptAttributes, attemptFrom } from "../core/attempt-format.ts";
import type { Envelope } from "../core/envelope.ts";
import { Fault, type FaultData } from "../core/faults.ts";
import { attemptName } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import { leaseMs } from "../core/nodes/lease.ts";
import { isInline, nodeAt, type ProgramNode, stepBodyOf } from "../core/program.ts";
import { type Active, isLive, type Run } from "../core/run.ts";
import type { HandedBack, Received, Remaining } from "../ports/received.ts";
import type { Write, Written } from "../ports.ts";
import { type Advanced, advance } from "./advance.ts";
import { attempt, type Ran } from "./attempt.ts";
import type { Engine } from "./engine.ts";
import { outsideMs } from "./external.ts";
import { runInline } from "./inline.ts";
import { type Loaded, load, snapshot } from "./load.ts";
import { message, queues, send, wakeUp } from "./messages.ts";
import { type Processed, readMessage, withStrikes } from "./process.ts";
import { type Processing, processingOf, type Work } from "./processing.ts";
import { claimAttempt, extendLease, recordAttempt } from "./records/attempt.ts";
import { logFailedAttempt } from "./run-log.ts";
import { isTransient } from "./strike.ts";
import { tracing } from "./tracing.ts";

/** Consumes the tasks of one worker group: claims, runs the handler, records, and ticks in place. Gives what is handed back. */
export async function work(
  untraced: Engine,
  group: string,
  batch: readonly Received[],
  remaining: Remaining,
): Promise<HandedBack> {
  const queue = queues.task(group);
  const results = await Promise.all(
    batch.map(async (received): Promise<Processed> => {
      const engine = tracing(untraced, received);
      const read = await readMessage(engine, received, queue);
      if (read.kind === "dealt-with") return read.result;
      const { envelope } = read;
      const processing = processingOf(engine, envelope, received.receiveCount, remaining);
      return await withStrikes(engine, processing, envelope, received.receiveCount, queue, async () => {
        const advanced = await task({ engine, group, queue, envelope, processing });
        return advanced?.kind === "done" ? { isAll: advanced.loaded.isAll, seen: advanced.loaded } : { isAll: false };
      });
    }),
  );
  return batch.flatMap((received, at) => (results[at] === "back" ? [received.id] : []));
}

type Ended = Ran & { readonly outcome: NonNullable<Ran["outcome"]> };

interface Task {
  readonly engine: Engine;
  readonly group: string;
  readonly queue: string;
  readonly envelope: Envelope;
  readonly processing: Processing;
}

/** What one task comes to; nothing where the message had nothing left to carry. */
async function task(asked: Task): Promise<Advanced | undefined> {
  const { engine, envelope, processing } = asked;
  const id = envelope.task;
  if (!id) return await advance(engine, processing);
  processing.hints.add(attemptName(id.node, id.index, id.attempt));
  const seen = await snapshot(engine, processing);
  const loaded =
    seen?.owner.isLive && isSame(seen.owner.runUid, envelope)
      ? await load(engine, seen, { hints: new Set(), isAll: false })
      : undefined;
  const entry = loaded?.run.active.find(
    (each) => each.node === id.node && each.index === id.index && each.attempt === id.attempt,
  );
  if (!loaded || !entry || !isWanted(loaded.run, entry)) return await unwanted(asked);
  const { sinceMs } = entry;
  if (entry.state === "task" && sinceMs > engine.clock.nowMs()) return await later(asked, sinceMs);
  const node = nodeAt(loaded.program, entry.node);
  return isInline(node.def) ? await inline(asked, loaded, entry) : await remote(asked, loaded, node, entry);
}

const isSame = (runUid: string, envelope: Envelope) => envelope.runUid === undefined || envelope.runUid === runUid;

/** Claimed is only what the row wants now: live, not paused, this very attempt in flight. */
const isWanted = (run: Run, entry: Active) =>
  isLive(run) && !run.isPaused && (entry.state === "task" || entry.state === "held");

/** The row has moved on. A redelivered task may still be the last carrier of what its first delivery did not finish. */
async function unwanted({ engine, processing }: Task): Promise<Advanced | undefined> {
  return processing.isPerformAll ? await advance(engine, processing) : undefined;
}

/**
 * Not yet, or somebody else's still: the same task again, for then. Farther than a message can wait the row's due takes over: a
 * message that sent itself again and again, for days, would only multiply with every duplicate.
 */
async function later({ engine, queue, envelope, processing }: Task, atMs: number): Promise<undefined> {
  const delayMs = atMs - engine.clock.nowMs();
  if (delayMs > fixed.delayMsMax) return undefined;
  const { task: id } = envelope;
  await send(engine, [
    message(
      queue,
      { ...envelope, isAll: envelope.isAll || processing.isPerformAll },
      `${envelope.runUid ?? envelope.runId}:${id ? attemptName(id.node, id.index, id.attempt) : ""}:later`,
      delayMs,
    ),
  ]);
  return undefined;
}

async function inline(asked: Task, loaded: Loaded, entry: Active): Promise<Advanced | undefined> {
  const { engine, processing, group } = asked;
  if (entry.state === "held" && entry.untilMs > engine.clock.nowMs()) return await later(asked, entry.untilMs);
  // an inline attempt has no claim that would refuse: its record is looked at, somebody may have closed it
  const looked = await load(engine, loaded, { hints: processing.hints, isAll: processing.isLoadAll });
  return await runInline(engine, processing, { group, loaded: looked, claim: entry });
}

async function remote(asked: Task, loaded: Loaded, node: ProgramNode, entry: Active): Promise<Advanced | undefined> {
  const { engine, processing } = asked;
  const { run } = loaded;
  const body = stepBodyOf(node.def);
  if (!body) throw new RangeError(`${node.def.name} is no step`);
  const prepared = await attempt(engine, loaded, node, entry, new Map());
  if (prepared.kind === "park") return await advance(engine, processing, parking(entry, prepared.fault));
  const token = engine.random.token();
  const nowMs = engine.clock.nowMs();
  const claim = {
    token,
    leaseUntilMs: nowMs + leaseMs(body, engine.limits),
    nowMs,
    retentionMs: engine.limits.retentionMs,
  };
  // without an answer it is asked again: the record that refuses it then bears this very token
  const claimed = await patiently(asked, claimAttempt(run, entry, claim), "the claim may not have been written");
  if (claimed.kind === "refused" && claimed.now[attemptAttributes.token] !== token)
    return await taken(asked, entry, claimed.now);
  engine.metrics.count("attempts-claimed", 1, { group: asked.group });
  const ran = await prepared.run({ token, leaseUntilMs: claim.leaseUntilMs, remaining: processing.remaining });
  if (!ran.outcome) return await leave(asked, loaded, node, entry, token);
  const isRecorded = await record(asked, run, entry, token, { ...ran, outcome: ran.outcome });
  if (!isRecorded) {
    engine.metrics.count("attempts-late");
    return undefined;
  }
  engine.metrics.count("attempts-ended", 1, { group: asked.group, outcome: ran.outcome.kind });
  engine.metrics.count("attempt-ms", engine.clock.nowMs() - nowMs, { group: asked.group });
  if (ran.outcome.kind === "failed")
    logFailedAttempt(engine, run, { ...entry, node: node.def.name }, ran.outcome.fault);
  return await onward(asked, loaded, token);
}

/** The handler has begun what goes on outside: the lease is what it has until it is completed, or until the next heartbeat. */
async function leave(
  asked: Task,
  { run }: Loaded,
  node: ProgramNode,
  entry: Active,
  token: string,
): Promise<undefined> {
  const untilMs = asked.engine.clock.nowMs() + outsideMs(node) + asked.engine.limits.clockSlackMs;
  await patiently(asked, extendLease(run, entry, { token, untilMs }), "the lease may not have been extended");
  return undefined;
}

const parking = (entry: Active, fault: FaultData): Work => ({
  parks: [{ node: entry.node, index: entry.index, attempt: entry.attempt, fault }],
});

/** Somebody else claimed it, or it has ended. An attempt is claimed once: a dead lease is closed, never taken over. */
async function taken(
  asked: Task,
  entry: Active,
  record: { readonly [name: string]: unknown },
): Promise<Advanced | undefined> {
  const { engine, processing } = asked;
  const found = attemptFrom(entry, record);
  const isAlive = !found.outcome && (found.leaseUntilMs ?? 0) > engine.clock.nowMs();
  return isAlive ? await later(asked, found.leaseUntilMs ?? 0) : await advance(engine, processing);
}

/** Records the end under the claim's token. False: the attempt was ended by somebody else, so this result is late. */
async function record(asked: Task, run: Run, entry: Active, token: string, ran: Ended): Promise<boolean> {
  const { outcome, output } = ran;
  const write = recordAttempt(run, entry, { token, outcome, output, nowMs: asked.engine.clock.nowMs() });
  const written = await patiently(asked, write, "the result may not have been recorded");
  if (written.kind !== "refused") return written.kind === "applied";
  return written.now[attemptAttributes.token] === token && written.now[attemptAttributes.endedBy] === token;
}

/**
 * Writes a claim, or what a handler has done. That is worth some patience: a reply that was lost, and a refusal of the platform, are
 * asked again while there is time. A claim that nobody knows of burns an attempt; a result without a record is done again.
 */
async function patiently({ engine, processing }: Task, write: Write, doubt: string): Promise<Certain> {
  for (let again = 0; ; again++) {
    const written = await asking(() => engine.store.write(write, { returns: "nothing" }));
    if (written.kind !== "unclear") return written;
    const pauseMs = 100 * 2 ** again;
    if (again === 6 || pauseMs > processing.remaining() - engine.limits.reserveMs)
      throw new Fault("unavailable", `${doubt}: ${written.fault.message}`);
    await engine.clock.sleep(pauseMs);
  }
}

type Certain = Exclude<Written, { readonly kind: "unclear" }>;

/** A refusal of the platform is no answer: the same as a reply that was lost. */
async function asking(write: () => Promise<Written>): Promise<Written> {
  try {
    return await write();
  } catch (error) {
    if (!isTransient(error) || !Fault.is(error)) throw error;
    return { kind: "unclear", fault: error.data };
  }
}

/** After its result: tick in place, one queue hop saved, unless so much is in flight that one tick should take many results. */
async function onward(
  { engine, processing, group }: Task,
  loaded: Loaded,
  token: string,
): Promise<Advanced | undefined> {
  if (loaded.run.active.length > engine.limits.tickInPlaceMax && !processing.isPerformAll) {
    await send(engine, [wakeUp(loaded.run, { hints: [...processing.hints] })]);
    return undefined;
  }
  return await runInline(engine, processing, { group, token });
}
