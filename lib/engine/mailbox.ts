import { Fault } from "../core/faults.ts";
import { isTaken } from "../core/mail.ts";
import { mailAttributes, mailboxFrom, untaken } from "../core/mail-format.ts";
import { isLive, type Run } from "../core/run.ts";
import { digest } from "../digest.ts";
import type { Fields } from "../ports.ts";
import type { Engine, RunRef } from "./engine.ts";
import { loadRun } from "./load.ts";
import { send, wakeUp } from "./messages.ts";
import { appendMail, type Entry, type Lane, openMailbox } from "./records/mail.ts";

/** What an append tells its caller. */
export interface Appended {
  /** Number of the entry in its lane; a repeat of the same id gets the old one. */
  readonly seq: number;
  readonly isRepeat: boolean;
}

/** The lane's letter and a hash: numbers of the two lanes are counted apart, and so are their ids forgotten. */
const idHashOf = (lane: Lane, id: string): string => `${lane.slice(0, 1)}${digest(id).slice(0, 12)}`;

/** Seconds after which a full mailbox is worth another try. */
const retryAfterS = 1;

/**
 * Appends to a run's mailbox and wakes the run. Acknowledged only when the queue has taken the wake-up: if that fails the entry
 * stays, and a repeat with the same id is harmless. Throws `run-ended`, `mailbox-full` (with `retryAfterS`), `unavailable`.
 */
export async function append(engine: Engine, run: Run, lane: Lane, text: string, id: string): Promise<Appended> {
  if (!isLive(run)) throw ended(run);
  const entry: Entry = { lane, text, idHash: idHashOf(lane, id) };
  const appended = await write(engine, run, entry);
  await send(engine, [wakeUp(run, { hints: ["mail"] })]);
  await lookAgain(engine, run, lane, appended.seq);
  return appended;
}

async function write(engine: Engine, run: Run, entry: Entry): Promise<Appended> {
  const at = { dueAtMs: engine.clock.nowMs() + engine.limits.owedGraceMs, retentionMs: engine.limits.retentionMs };
  for (let again = 0; again < 5; again++) {
    const written = await engine.store.write(appendMail(run, entry, at), { returns: "all" });
    if (written.kind === "applied" && written.now) return { seq: seqOf(written.now, entry), isRepeat: false };
    if (written.kind === "refused") return refused(engine, run, entry, written.now);
    if (written.kind !== "absent") continue;
    const opened = await engine.store.write(openMailbox(run, entry, at), { returns: "all" });
    if (opened.kind === "applied")
      return { seq: entry.lane === "signals" ? run.mail.signals : run.mail.commands, isRepeat: false };
  }
  throw new Fault("unavailable", "the mailbox could not be written: repeat the call with the same id");
}

function refused(engine: Engine, run: Run, entry: Entry, record: Fields): Appended {
  const mailbox = mailboxFrom(record);
  const known = mailbox.ids[entry.idHash];
  if (known !== undefined) return { seq: known, isRepeat: true };
  if (mailbox.isSealed || record[mailAttributes.runUid] !== run.runUid) throw ended(run);
  engine.metrics.count("mailbox-full");
  throw new Fault(
    "mailbox-full",
    `${mailbox.signals.length} signals wait already; repeat the call in ${retryAfterS} s`,
    { retryAfterS },
  );
}

const seqOf = (record: Fields, entry: Entry) => mailboxFrom(record).ids[entry.idHash] ?? 0;

const ended = (run: Run) =>
  new Fault("run-ended", `run "${run.runId}" has ${run.phase === "failed" ? "failed" : `ended: ${run.phase}`}`, {
    status: run.phase,
  });

/** The run may have ended between the look and the append: an honest answer says so. */
async function lookAgain(engine: Engine, run: Run, lane: Lane, seq: number): Promise<void> {
  const { run: now } = await loadRun(engine, run);
  if (isLive(now) && now.runUid === run.runUid) return;
  const isDealtWith = lane === "signals" ? isTaken(now.mail, seq) : seq < now.mail.commands;
  if (!isDealtWith || now.runUid !== run.runUid) throw ended(now);
}

/** Signals of a run that nobody took: all that a run which has ended will never take. */
export async function undelivered(engine: Engine, ref: RunRef) {
  const { run, mailbox } = await loadRun(engine, ref);
  return isLive(run) || !mailbox ? [] : untaken(mailbox, run.mail);
}
