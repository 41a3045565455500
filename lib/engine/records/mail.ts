import { duePartition, partitionOf, sk } from "../../core/keys.ts";
import { fixed } from "../../core/limits.ts";
import { mailAttributes as a, type Mailbox } from "../../core/mail-format.ts";
import type { Run } from "../../core/run.ts";
import type { Check, Edit, Key, Write } from "../../ports.ts";
import { expiresAtS } from "./attempt.ts";

export type Lane = "signals" | "commands";

/** Something to append: its text, and the hash of the id that makes a repeat harmless. */
export interface Entry {
  readonly lane: Lane;
  readonly text: string;
  readonly idHash: string;
}

const lanes = {
  signals: { list: a.signals, base: a.signalBase, next: a.signalNext },
  commands: { list: a.commands, base: a.commandBase, next: a.commandNext },
} as const;

export function mailKey(run: Pick<Run, "tenant" | "runId" | "runUid">): Key {
  return { pk: partitionOf(run.tenant, run.runId), sk: sk.mail(run.runUid) };
}

const bytesOf = (entry: Entry) => (entry.lane === "signals" ? new TextEncoder().encode(entry.text).length : 0);

/** The first append makes the mailbox, beginning where the row's cursors stand. */
export function openMailbox(
  run: Run,
  entry: Entry,
  at: { readonly dueAtMs: number; readonly retentionMs: number },
): Write {
  const isSignal = entry.lane === "signals";
  return {
    kind: "put",
    key: mailKey(run),
    fields: {
      [a.runUid]: run.runUid,
      [a.signals]: isSignal ? [entry.text] : [],
      [a.signalBase]: run.mail.signals,
      [a.signalNext]: run.mail.signals + (isSignal ? 1 : 0),
      [a.signalBytes]: bytesOf(entry),
      [a.commands]: isSignal ? [] : [entry.text],
      [a.commandBase]: run.mail.commands,
      [a.commandNext]: run.mail.commands + (isSignal ? 0 : 1),
      [a.ids]: { [entry.idHash]: isSignal ? run.mail.signals : run.mail.commands },
      [a.duePartition]: duePartition.live(run.runUid),
      [a.dueAtMs]: at.dueAtMs,
      [a.expiresAtS]: expiresAtS(run, at.retentionMs),
    },
    when: [{ kind: "absent", path: ["pk"] }],
  };
}

/** One statement: the entry, its number under its id, the next number. Signals have bounds; commands are always taken. */
export function appendMail(run: Run, entry: Entry, at: { readonly dueAtMs: number }): Write {
  const lane = lanes[entry.lane];
  const bounds: readonly Check[] =
    entry.lane === "commands"
      ? []
      : [
          { kind: "sized", path: [a.signals], is: "under", count: fixed.mailboxSignalsMax },
          { kind: "atMost", path: [a.signalBytes], value: fixed.mailboxBytesMax - bytesOf(entry) },
        ];
  return {
    kind: "edit",
    key: mailKey(run),
    edits: [
      { kind: "append", path: [lane.list], values: [entry.text] },
      { kind: "copy", path: [a.ids, entry.idHash], from: [lane.next] },
      { kind: "add", path: [lane.next], by: 1 },
      { kind: "add", path: [a.signalBytes], by: bytesOf(entry) },
      { kind: "setIfAbsent", path: [a.duePartition], value: duePartition.live(run.runUid) },
      { kind: "setIfAbsent", path: [a.dueAtMs], value: at.dueAtMs },
    ],
    when: [
      { kind: "equals", path: [a.runUid], value: run.runUid },
      { kind: "absent", path: [a.sealed] },
      { kind: "absent", path: [a.ids, entry.idHash] },
      ...bounds,
    ],
  };
}

/**
 * Removes what the committed row has dealt with, guarded by both bases; a repeat of it is refused, so it can never take an entry
 * that nobody read. `isLookedAt`: everything was seen, so the due goes too, unless something was appended since.
 */
export function trimMail(run: Run, mailbox: Mailbox, options: { readonly isLookedAt: boolean }): Write | undefined {
  const signals = Math.min(run.mail.signals - mailbox.signalBase, mailbox.signals.length);
  const commands = Math.min(run.mail.commands - mailbox.commandBase, mailbox.commands.length);
  const hasDue = options.isLookedAt && mailbox.dueAtMs !== undefined;
  if (signals <= 0 && commands <= 0 && !hasDue) return undefined;
  const removed = mailbox.signalTexts.slice(0, Math.max(0, signals));
  const edits: Edit[] = [];
  if (signals > 0) {
    edits.push({ kind: "set", path: [a.signalBase], value: mailbox.signalBase + signals });
    edits.push({
      kind: "add",
      path: [a.signalBytes],
      by: -removed.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0),
    });
    for (let at = 0; at < signals; at++) edits.push({ kind: "remove", path: [a.signals, at] });
  }
  if (commands > 0) {
    edits.push({ kind: "set", path: [a.commandBase], value: mailbox.commandBase + commands });
    for (let at = 0; at < commands; at++) edits.push({ kind: "remove", path: [a.commands, at] });
  }
  const old = [
    ...forgotten(mailbox, "signals", mailbox.signalBase + Math.max(signals, 0)),
    ...forgotten(mailbox, "commands", mailbox.commandBase + Math.max(commands, 0)),
  ];
  for (const hash of old) edits.push({ kind: "remove", path: [a.ids, hash] });
  if (hasDue) edits.push({ kind: "remove", path: [a.duePartition] }, { kind: "remove", path: [a.dueAtMs] });
  const unchanged: readonly Check[] = hasDue
    ? [
        { kind: "equals", path: [a.signalNext], value: mailbox.signalNext },
        { kind: "equals", path: [a.commandNext], value: mailbox.commandNext },
      ]
    : [];
  return {
    kind: "edit",
    key: mailKey(run),
    edits,
    when: [
      { kind: "equals", path: [a.runUid], value: run.runUid },
      { kind: "equals", path: [a.signalBase], value: mailbox.signalBase },
      { kind: "equals", path: [a.commandBase], value: mailbox.commandBase },
      ...unchanged,
    ],
  };
}

/** Ids of one lane that are older than the last ones before its new base. */
function forgotten(mailbox: Mailbox, lane: Lane, base: number): readonly string[] {
  const oldest = base - fixed.mailIdsKept;
  return Object.entries(mailbox.ids).flatMap(([hash, seq]) =>
    hash.startsWith(lane.slice(0, 1)) && seq < oldest ? [hash] : [],
  );
}

/** Mail on an ended run: nothing is appended any more, and it is due no more. What was not taken stays, as undelivered. */
export function sealMailbox(run: Run): Write {
  return {
    kind: "edit",
    key: mailKey(run),
    edits: [
      { kind: "set", path: [a.sealed], value: 1 },
      { kind: "remove", path: [a.duePartition] },
      { kind: "remove", path: [a.dueAtMs] },
    ],
    when: [{ kind: "equals", path: [a.runUid], value: run.runUid }],
  };
}
