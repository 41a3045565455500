import { type Mailbox, untaken } from "../core/mail-format.ts";
import { isLive, isSettled, type Run } from "../core/run.ts";
import type { Engine } from "./engine.ts";
import type { Loaded } from "./load.ts";
import { dropDue } from "./records/attempt.ts";
import { sealMailbox, trimMail } from "./records/mail.ts";
import { settleState } from "./records/state.ts";

/**
 * Puts the neighbours in order after a tick on `run` (committed, or unchanged): trims the mailbox, removes its due if everything
 * in it was looked at, takes decisions that were read out of the index. Missing one of these costs a later look, never more, so
 * an unclear write is left to it.
 */
export async function tidy(engine: Engine, run: Run, seen: Pick<Loaded, "mailbox" | "dues">): Promise<void> {
  if (seen.mailbox) await tidyMail(engine, run, seen.mailbox);
  const inFlight = new Set(run.active.map((entry) => `${entry.node}/${entry.index}/${entry.attempt}`));
  for (const due of seen.dues) if (!inFlight.has(due.name)) await engine.store.write(dropDue(due.key, due.dueAtMs));
}

async function tidyMail(engine: Engine, run: Run, mailbox: Mailbox): Promise<void> {
  if (!isLive(run)) return await seal(engine, run, mailbox);
  const withDue = trimMail(run, mailbox, { isLookedAt: true });
  if (!withDue) return;
  const written = await engine.store.write(withDue);
  if (written.kind !== "refused") return;
  // something was appended since: its due stays
  const without = trimMail(run, mailbox, { isLookedAt: false });
  if (without) await engine.store.write(without);
}

/** What an ended run has not taken is undelivered; whoever finds it seals the mailbox and removes its due. */
async function seal(engine: Engine, run: Run, mailbox: Mailbox): Promise<void> {
  const left = untaken(mailbox, run.mail).length;
  const isOpen = !mailbox.isSealed && (left > 0 || mailbox.commandNext > run.mail.commands);
  if (!isOpen && mailbox.dueAtMs === undefined) return;
  if (!mailbox.isSealed && left > 0) engine.metrics.count("signals-undelivered", left);
  await engine.store.write(sealMailbox(run));
}

/** After what a terminal run owed was done: it leaves the index. A conflict means that somebody else settled it. */
export async function settle(engine: Engine, run: Run): Promise<void> {
  if (!isLive(run) && !isSettled(run)) await engine.store.write(settleState(run));
}
