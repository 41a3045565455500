import type { Signal } from "../../../lib/core/inputs.ts";
import { partitionOf, sk } from "../../../lib/core/keys.ts";
import { fixed } from "../../../lib/core/limits.ts";
import { isTaken } from "../../../lib/core/mail.ts";
import { mailAttributes as m, mailboxFrom } from "../../../lib/core/mail-format.ts";
import { isLive, type MailCursor, type Run } from "../../../lib/core/run.ts";
import type { Fields } from "../../../lib/ports.ts";
import type { Checker, Scene } from "./checker.ts";

/** Longest that fair weather may leave a signal beside a node that waits for it: two minutes, a watchdog's interval, a function. */
const lookMsMax = 8 * 60_000;

/**
 * Invariant 7: mail leaves its box only once the row has dealt with it, each signal is taken by one node, one that was acknowledged is
 * taken, in the box, or reported undelivered, and none stands long beside a node that waits for it.
 */
export function signals({ world, people, programs }: Scene): Checker {
  const unheardSince = new Map<string, number>();
  const mailOf = (run: Run) => world.store.peek({ pk: partitionOf(run.tenant, run.runId), sk: sk.mail(run.runUid) });
  const nameOf = (run: Run, node: number) => {
    const def = programs.get(run.definitionHash)?.nodes[node]?.def;
    return def?.kind === "signal" ? def.signal : undefined;
  };

  function checkTrim(pk: string, before: Fields, now: Fields): void {
    const run = world.rows.get(pk);
    const [was, is] = [mailboxFrom(before), mailboxFrom(now)];
    for (const [lane, one, other] of [
      ["signals", was.signals, is.signals],
      ["commands", was.commands, is.commands],
    ] as const) {
      const left = new Set(other.map((each) => each.seq));
      for (const { seq } of one) {
        if (left.has(seq)) continue;
        const isDone = run && (lane === "signals" ? isTaken(run.mail, seq) : seq < run.mail.commands);
        if (!isDone) world.violate(7, `${pk}: ${lane} ${seq} left the mailbox, and the row has not dealt with it`);
      }
    }
    for (const [hash, seq] of Object.entries(was.ids))
      if (is.ids[hash] !== undefined && is.ids[hash] !== seq)
        world.violate(7, `${pk}: one id was appended twice, as ${seq} and as ${is.ids[hash]}`);
    const names = (box: typeof was) => box.signals.map((each) => `${each.seq}:${each.name}`);
    const known = new Set(names(was));
    for (const name of names(is))
      if (!known.has(name) && Number(name.split(":")[0]) < was.signalNext)
        world.violate(7, `${pk}: signal ${name} changed in the mailbox`);
  }

  /** Of one name the oldest is taken first. */
  function checkTaken(pk: string, is: Run, box: readonly Signal[], taken: readonly number[]): void {
    for (const signal of box.filter((each) => taken.includes(each.seq))) {
      const older = box.find(({ name, seq }) => name === signal.name && seq < signal.seq && !isTaken(is.mail, seq));
      if (older) world.violate(7, `${pk}: signal ${signal.seq} was taken before ${older.seq} of the same name`);
    }
  }

  return {
    onChange({ write, before, now }) {
      if (!write.key.sk.startsWith("STATE#MAIL") || !before) return;
      if (now) return checkTrim(write.key.pk, before, now);
      const run = world.rows.get(write.key.pk);
      if (run && isLive(run)) world.violate(7, `${write.key.pk}: the mailbox of a live run was deleted`);
    },
    onCommit({ was, is, write }) {
      if (!was || !is || was.runUid !== is.runUid) return;
      const taken = newlyTaken(was.mail, is.mail);
      if (taken.length === 0 || !isLive(was)) return;
      const before = new Set(was.tiny);
      const known = (node: number) => [...before].some((each) => each.node === node);
      const takers = is.tiny.filter(
        (each) => each.kind !== "fault" && nameOf(is, each.node) !== undefined && !known(each.node),
      );
      const mailbox = mailOf(is);
      if (mailbox && isLive(is)) checkTaken(`${write.key.pk}`, is, mailboxFrom(mailbox).signals, taken);
      const isFull =
        mailbox &&
        (mailboxFrom(mailbox).signals.length >= fixed.mailboxSignalsMax ||
          Number(mailbox[m.signalBytes]) > fixed.mailboxBytesMax - fixed.mailEntryBytesMax);
      if (takers.length !== taken.length && !isFull && isLive(is))
        world.violate(
          7,
          `${write.key.pk}: signals ${taken.join(", ")} were taken, and ${takers.length} nodes took one`,
        );
    },
    onSweep() {
      if (world.profile.isCarried) return;
      const nowMs = world.timeline.nowMs();
      for (const run of world.rows.values()) {
        const record = isLive(run) ? mailOf(run) : undefined;
        const wanted = new Set(
          run.active.flatMap((entry) => (entry.state === "signal" ? [nameOf(run, entry.node)] : [])),
        );
        const stands =
          record && mailboxFrom(record).signals.find((each) => wanted.has(each.name) && !isTaken(run.mail, each.seq));
        if (!stands || run.isPaused || world.plagues.isStill(partitionOf(run.tenant, run.runId))) {
          unheardSince.delete(run.runUid);
          continue;
        }
        const sinceMs = unheardSince.get(run.runUid) ?? nowMs;
        unheardSince.set(run.runUid, sinceMs);
        if (nowMs - sinceMs > lookMsMax + 2 * world.profile.skewMs)
          world.violate(
            7,
            `${run.runId} waits for a signal that is in its mailbox for ${Math.round((nowMs - sinceMs) / 1000)} s`,
          );
      }
    },
    atEnd(run) {
      const record = mailOf(run);
      const box = record && mailboxFrom(record);
      for (const sent of people.record.signals) {
        if (sent.runUid !== run.runUid || sent.seq === undefined || isTaken(run.mail, sent.seq)) continue;
        if (!box?.signals.some((each) => each.seq === sent.seq && each.name === sent.name))
          world.violate(7, `${run.runId}: signal ${sent.id} was acknowledged, and is neither taken nor in the mailbox`);
      }
    },
  };
}

/** Numbers of the signals that one row had not taken and the next has. */
function newlyTaken(was: MailCursor, is: MailCursor): readonly number[] {
  const found: number[] = [];
  for (let seq = was.signals; seq < is.signals + 32; seq++) if (!isTaken(was, seq) && isTaken(is, seq)) found.push(seq);
  return found;
}
