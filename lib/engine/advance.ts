import { attemptNameFromSk } from "../core/attempt-format.ts";
import { attemptName, partitionOf, sk } from "../core/keys.ts";
import { isTaken } from "../core/mail.ts";
import { type Mailbox, mailboxFrom } from "../core/mail-format.ts";
import { newlyOwed, type Owed, owed } from "../core/owed.ts";
import { nodeAt, type Program } from "../core/program.ts";
import { rowAttributes } from "../core/row-format.ts";
import { type Active, isLive, isSettled, type Run, statusOf } from "../core/run.ts";
import { pauseBefore } from "../guard/windows.ts";
import { type Closed, tickAndClose } from "./close.ts";
import { commit } from "./commit.ts";
import type { Engine } from "./engine.ts";
import { inputsOf, type Loaded, load, snapshot } from "./load.ts";
import { send, wakeUp } from "./messages.ts";
import { perform } from "./perform.ts";
import { noWork, type Processing, type Work } from "./processing.ts";
import { dropDue } from "./records/attempt.ts";
import { mailKey } from "./records/mail.ts";
import { requeue } from "./requeue.ts";
import { logCommit, logParked } from "./run-log.ts";
import { settle, tidy } from "./tidy.ts";

/**
 * How a processing ended. `done`: the run as it stands now; the message may be acknowledged. `requeued`: a new message carries
 * on. `missing`: there is no such run (any more).
 */
export type Advanced =
  | { readonly kind: "done"; readonly loaded: Loaded; readonly hasCommitted: boolean }
  | { readonly kind: "requeued" | "force-failed" | "missing" };

/**
 * Moves a run as far as it will go: load, tick, end what must be ended, commit, perform, tidy. A conflict is no error: somebody
 * else moved the run, so everything is computed again from fresh state, five times in jittered windows, then by a new message.
 * Throws faults of the platform (hand the message back) and of the row or the tick (count a strike).
 */
export async function advance(
  engine: Engine,
  processing: Processing,
  work: Work = noWork,
  base?: Loaded,
): Promise<Advanced> {
  let from = base;
  let hasCommitted = false;
  let hasDoubt = false;
  let last: Loaded | undefined;
  for (let conflicts = 0; ; ) {
    const pauseMs = pauseBefore(conflicts + 1, engine.random, engine.limits.commitWindowsMs);
    if (pauseMs === undefined || pauseMs > processing.remaining() - engine.limits.reserveMs)
      return await requeue(engine, processing, work, last, { isEvidence: conflicts > 0 && !hasDoubt });
    if (pauseMs > 0) await engine.clock.sleep(pauseMs);
    const loaded = from ?? (await freshly(engine, processing));
    from = undefined;
    if (!loaded) return await missing(engine, processing);
    last = loaded;
    if (!isLive(loaded.run)) return await ended(engine, processing, work, loaded, hasCommitted);
    const nowMs = engine.clock.nowMs();
    const inputs = await inputsOf(engine, loaded, {
      parks: work.parks,
      isUnpark: processing.why === "unpark" && !hasCommitted,
      held: work.held,
    });
    const closed = await tickAndClose(engine, loaded, inputs, nowMs);
    if (closed.run === loaded.run)
      return await unchanged(engine, processing, work, loaded, closed, nowMs, hasCommitted);
    const committed = await commit(engine, loaded.run, closed.run, conflicts + 1);
    if (committed.kind === "gone") return await missing(engine, processing);
    if (committed.kind === "applied") {
      hasCommitted = true;
      conflicts = 0;
      if (!committed.isClear) processing.isPerformAll = true;
      const now = { ...loaded, run: committed.run };
      await afterCommit(engine, processing, work, loaded, now, closed, nowMs);
      // what stood beside the row was seen before this commit: whoever goes on from here reads it again
      const next = { ...now, mailbox: undefined, attempts: new Map(), dues: [] };
      if (!(await hasNews(engine, loaded, committed.run))) return { kind: "done", loaded: next, hasCommitted };
    } else {
      if (committed.kind !== "ended") conflicts += 1;
      // where many results come at once, the loser takes all that are there: the next ones find theirs taken
      if (loaded.run.active.length > engine.limits.tickInPlaceMax) processing.isLoadAll = true;
      if (committed.kind === "unclear" || (committed.kind === "conflict" && !committed.isClear)) {
        processing.isPerformAll = true;
        hasDoubt = true;
      }
    }
  }
}

async function freshly(engine: Engine, processing: Processing): Promise<Loaded | undefined> {
  const seen = await snapshot(engine, processing);
  if (!seen || (processing.runUid !== undefined && seen.owner.runUid !== processing.runUid)) return undefined;
  return await load(engine, seen, { hints: processing.hints, isAll: processing.isLoadAll });
}

/** Committed: what it owes is performed before anything else, as nothing but this message carries it. */
async function afterCommit(
  engine: Engine,
  processing: Processing,
  work: Work,
  before: Loaded,
  now: Loaded,
  closed: Closed,
  nowMs: number,
): Promise<void> {
  meter(engine, before.run, now.run, closed);
  const isAll = processing.isPerformAll || !isLive(now.run);
  const fresh = isAll ? owed(now.run, now.program, nowMs) : newlyOwed(now.run, before.run, now.program, nowMs);
  const spare = spareTimers(processing, now.run, now.program, nowMs);
  const isDone = await perform(engine, now.run, now.program, union(fresh, spare), closed.inputs.attempts);
  await watchLeases(engine, processing, work, now.run, nowMs);
  if (isDone) await settle(engine, now.run);
  await tidy(engine, now.run, before);
  await dropOverdue(engine, processing, now.run);
}

/** Nothing to write. The message may still be the last carrier of something: performed in full if nobody knows what was sent. */
async function unchanged(
  engine: Engine,
  processing: Processing,
  work: Work,
  loaded: Loaded,
  closed: Closed,
  nowMs: number,
  hasCommitted: boolean,
): Promise<Advanced> {
  engine.metrics.count("noop-ticks");
  const all = processing.isPerformAll ? owed(loaded.run, loaded.program, nowMs) : [];
  const spare = spareTimers(processing, loaded.run, loaded.program, nowMs);
  await perform(engine, loaded.run, loaded.program, union(all, spare), closed.inputs.attempts);
  await watchLeases(engine, processing, work, loaded.run, nowMs);
  await tidy(engine, loaded.run, loaded);
  await dropOverdue(engine, processing, loaded.run);
  meterLate(engine, work, hasCommitted);
  return { kind: "done", loaded, hasCommitted };
}

/** A terminal run: what it owes is done by whoever cannot know that it was; results that come now are late. */
async function ended(
  engine: Engine,
  processing: Processing,
  work: Work,
  loaded: Loaded,
  hasCommitted: boolean,
): Promise<Advanced> {
  const { run, program } = loaded;
  if (!isSettled(run) && processing.isPerformAll) {
    if (await perform(engine, run, program, owed(run, program, engine.clock.nowMs()))) await settle(engine, run);
  }
  await tidy(engine, run, loaded);
  meterLate(engine, work, hasCommitted);
  await dropOverdue(engine, processing);
  return { kind: "done", loaded, hasCommitted };
}

/** Results that no commit of this processing took: their attempts had ended before. */
function meterLate(engine: Engine, work: Work, hasCommitted: boolean): void {
  const late = work.held?.results.length ?? 0;
  if (late > 0 && !hasCommitted) engine.metrics.count("attempts-late", late);
}

async function missing(engine: Engine, processing: Processing): Promise<Advanced> {
  engine.metrics.count("runs-missing");
  engine.log.write("info", "run.missing", { runId: processing.runId, tenant: processing.tenant });
  await dropOverdue(engine, processing);
  return { kind: "missing" };
}

/**
 * A neighbour whose run is gone or over would stay at the head of the watchdog's list for ever; so would, as long as the run lives, an
 * end that it took in and whose due nobody removed, as whoever took it died before its tidying.
 */
async function dropOverdue(engine: Engine, processing: Processing, live?: Run): Promise<void> {
  if (processing.sk === undefined || processing.sk === sk.state) return;
  if (live && isLive(live) && !isPast(live, processing.sk)) return;
  const key = { pk: partitionOf(processing.tenant, processing.runId), sk: processing.sk };
  const [record] = await engine.store.read([key], { isConsistent: true });
  const dueAtMs = record?.[rowAttributes.dueAtMs];
  if (typeof dueAtMs === "number") await engine.store.write(dropDue(key, dueAtMs));
}

/** Whether it is an attempt that the run no longer waits for. Its mailbox is tidied whenever it is looked at. */
function isPast(run: Run, name: string): boolean {
  const isOf = (entry: Active) => sk.attempt(run.runUid, entry.node, entry.index, entry.attempt) === name;
  return attemptNameFromSk(name) !== undefined && !run.active.some(isOf);
}

/** A timer that came early is sent again for the rest. */
function spareTimers(processing: Processing, run: Run, program: Program, nowMs: number): readonly Owed[] {
  if (processing.why !== "timer") return [];
  return owed(run, program, nowMs).filter(
    (each) =>
      each.kind === "timer" && processing.hints.has(attemptName(each.entry.node, each.entry.index, each.entry.attempt)),
  );
}

const union = (one: readonly Owed[], other: readonly Owed[]): readonly Owed[] => {
  const keys = new Set(one.map((each) => each.key));
  return [...one, ...other.filter((each) => !keys.has(each.key))];
};

/**
 * Somebody's inline lease still runs, and that somebody may be dead: look again at its end. A look that came early, as a message
 * waits 15 minutes at most and clocks differ, is sent again for the rest.
 */
async function watchLeases(engine: Engine, processing: Processing, work: Work, run: Run, nowMs: number): Promise<void> {
  if (!isLive(run)) return;
  const isNamed = (entry: Active) =>
    processing.why === "timer" && processing.hints.has(attemptName(entry.node, entry.index, entry.attempt));
  const held = run.active.filter(
    (entry) =>
      entry.state === "held" &&
      entry.token !== work.held?.token &&
      entry.untilMs > nowMs &&
      (processing.isPerformAll || isNamed(entry)),
  );
  await send(
    engine,
    held.map((entry) =>
      wakeUp(
        run,
        { why: "timer", hints: [attemptName(entry.node, entry.index, entry.attempt)] },
        entry.untilMs - nowMs,
        `${run.runUid}:${attemptName(entry.node, entry.index, entry.attempt)}:lease`,
      ),
    ),
  );
}

/**
 * After a commit that opened a wait, the mailbox is read once more: an entry may have been looked at, and left, between this
 * tick's load and its commit, and nobody else would look again.
 */
async function hasNews(engine: Engine, { run: before, program }: Loaded, now: Run): Promise<boolean> {
  const opened = now.active.some(
    (entry) =>
      entry.state === "signal" && !before.active.some((each) => each.state === "signal" && each.node === entry.node),
  );
  if (!opened || !isLive(now)) return false;
  const [record] = await engine.store.read([mailKey(now)], { isConsistent: true });
  return record !== undefined && wants(now, program, mailboxFrom(record));
}

function wants(run: Run, program: Program, mailbox: Mailbox): boolean {
  if (mailbox.commands.some((command) => command.seq >= run.mail.commands)) return true;
  const names = new Set(
    run.active.flatMap((entry) => (entry.state === "signal" ? [signalName(program, entry.node)] : [])),
  );
  return mailbox.signals.some((signal) => names.has(signal.name) && !isTaken(run.mail, signal.seq));
}

function signalName(program: Program, position: number): string {
  const { def } = nodeAt(program, position);
  return def.kind === "signal" ? def.signal : "";
}

function meter(engine: Engine, before: Run, now: Run, closed: Closed): void {
  const { notes } = closed;
  if (notes.undelivered > 0) engine.metrics.count("signals-undelivered", notes.undelivered);
  if (notes.uncompensated > 0) engine.metrics.count("uncompensated", notes.uncompensated);
  if (now.isParked && !before.isParked) engine.metrics.count("runs-parked", 1, { workflow: now.workflow });
  for (const { entry, node, fault } of notes.parked) logParked(engine, now, { ...entry, node }, fault);
  logCommit(engine, now, !isLive(now));
  if (!isLive(now)) engine.metrics.count("runs-ended", 1, { workflow: now.workflow, status: statusOf(now) });
}
