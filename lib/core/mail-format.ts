import { factBytes, factsFrom } from "./attempt-format.ts";
import { bytesToHex, hexToBytes, utf8 } from "./bytes.ts";
import type { Command, CommandKind, Mail, Signal } from "./inputs.ts";
import type { Json } from "./json.ts";
import { fixed } from "./limits.ts";
import type { MailCursor } from "./run.ts";

/**
 * Attributes of the mailbox. Signals and commands are two lists with a base and a next number each: commands are always taken,
 * so they never stand behind a signal that nobody wants. Entries are JSON texts.
 */
export const mailAttributes = {
  runUid: "u",
  signals: "e",
  signalBase: "b",
  signalNext: "t",
  signalBytes: "y",
  commands: "ce",
  commandBase: "cb",
  commandNext: "ct",
  /** Hashed ids of what is pending and of the last ones, each with its number: a repeat gets the old answer. */
  ids: "i",
  sealed: "z",
  duePartition: "q",
  dueAtMs: "d",
  expiresAtS: "x",
} as const;

const a = mailAttributes;

/** The mailbox's record, read. */
export interface Mailbox {
  readonly signals: readonly Signal[];
  readonly signalBase: number;
  readonly signalNext: number;
  readonly signalBytes: number;
  readonly signalTexts: readonly string[];
  readonly commands: readonly Command[];
  readonly commandBase: number;
  readonly commandNext: number;
  readonly ids: { readonly [hash: string]: number };
  readonly isSealed: boolean;
  readonly dueAtMs: number | undefined;
}

export function signalText(signal: Omit<Signal, "seq">): string {
  const { payload } = signal;
  if (payload.kind === "value") return JSON.stringify({ n: signal.name, a: signal.atMs, p: payload.value });
  return JSON.stringify({ n: signal.name, a: signal.atMs, k: payload.token, f: bytesToHex(factBytes(payload.facts)) });
}

export function commandText(command: Omit<Command, "seq">): string {
  return JSON.stringify({ c: command.kind, b: command.by, r: command.reason });
}

export function mailboxFrom(record: { readonly [name: string]: unknown }): Mailbox {
  const signalBase = Number(record[a.signalBase]);
  const commandBase = Number(record[a.commandBase]);
  const signalTexts = record[a.signals] as readonly string[];
  const due = record[a.dueAtMs];
  return {
    signalTexts,
    signals: signalTexts.map((text, at) => signalFrom(text, signalBase + at)),
    signalBase,
    signalNext: Number(record[a.signalNext]),
    signalBytes: Number(record[a.signalBytes]),
    commands: (record[a.commands] as readonly string[]).map((text, at) => commandFrom(text, commandBase + at)),
    commandBase,
    commandNext: Number(record[a.commandNext]),
    ids: record[a.ids] as { readonly [hash: string]: number },
    isSealed: record[a.sealed] !== undefined,
    dueAtMs: typeof due === "number" ? due : undefined,
  };
}

function signalFrom(text: string, seq: number): Signal {
  const { n, a: atMs, p, k, f } = JSON.parse(text) as { n: string; a: number; p?: Json; k?: string; f?: string };
  const payload =
    k === undefined
      ? ({ kind: "value", value: p ?? null } as const)
      : ({ kind: "payload", token: k, facts: factsFrom(hexToBytes(f ?? "")) } as const);
  return { seq, name: n, payload, atMs };
}

function commandFrom(text: string, seq: number): Command {
  const { c, b, r } = JSON.parse(text) as { c: CommandKind; b: string; r: string };
  return { seq, kind: c, by: b, reason: r };
}

/**
 * What a tick sees of it: nothing if there is no mailbox. It is full if it would be after a trim: what stands below the cursor only
 * waits to be removed.
 */
export function mailOf(mailbox: Mailbox | undefined, cursor: MailCursor): Mail {
  if (!mailbox) return { signals: [], commands: [], isFull: false };
  const dealtWith = Math.max(0, cursor.signals - mailbox.signalBase);
  const left = mailbox.signalTexts.slice(dealtWith);
  const bytes = left.reduce((sum, text) => sum + utf8(text).length, 0);
  const isFull = left.length >= fixed.mailboxSignalsMax || bytes >= fixed.mailboxBytesMax - fixed.mailEntryBytesMax;
  return { signals: mailbox.signals, commands: mailbox.commands, isFull };
}

/** Signals of a mailbox that a run has not dealt with: undelivered if the run has ended. */
export function untaken(mailbox: Mailbox, cursor: MailCursor): readonly Signal[] {
  return mailbox.signals.filter(
    (signal) => signal.seq >= cursor.signals && ((cursor.mask >>> (signal.seq - cursor.signals)) & 1) === 0,
  );
}
