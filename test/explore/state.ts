import { hashText } from "../../lib/core/hash.ts";
import type { Fields, Key } from "../../lib/ports.ts";
import type { Position } from "./process.ts";

/** Faults that may still happen on a way through a scope. */
export interface Faults {
  /** A process dies at one of its calls, or before its acknowledgement. */
  readonly crash: number;
  /** Time goes on to the next instant at which anything happens while somebody is in the middle of something. */
  readonly slow: number;
  /** A write is applied, or messages are sent, and the reply is lost. */
  readonly lostReply: number;
  /** A write is applied, the reply is lost, and the client asks again by itself, at once or when others have come between. */
  readonly repeat: number;
  /** A write is lost, and nobody can know. */
  readonly lostRequest: number;
  /** A message is lost. */
  readonly lostMessage: number;
  /** A message is delivered and stays. */
  readonly duplicate: number;
  /** A read that does not ask for consistency meets a record's previous version. */
  readonly stale: number;
  /** A delayed message comes at once. */
  readonly early: number;
  /** The platform refuses a call as one too many: nothing was done. */
  readonly throttle: number;
}

export const noFaults: Faults = {
  crash: 0,
  slow: 0,
  lostReply: 0,
  repeat: 0,
  lostRequest: 0,
  lostMessage: 0,
  duplicate: 0,
  stale: 0,
  early: 0,
  throttle: 0,
};

/** A message in a queue. Whoever received it last holds it. */
export interface Held {
  readonly text: number;
  readonly shownAtMs: number;
  readonly receives: number;
  readonly holder: string;
  /** The id under which its holder received it. */
  readonly receipt: string;
}

export interface Running {
  readonly name: string;
  /** In words. */
  readonly label: string;
  readonly position: Position;
  /** Versions of rows that it was shown or made itself, by partition. */
  readonly saw: ReadonlyMap<string, number>;
  /** The call that was carried out once, without a reply, and that the client will ask again. */
  readonly again?: number;
  /** A call from outside, by its number; or a consumer of a message. */
  readonly outside: number | undefined;
}

/** Everything that the future depends on. Immutable: what does not change is shared. Records and messages are numbers of texts. */
export interface State {
  readonly nowMs: number;
  readonly records: readonly number[];
  /** What stood where something else stands now; kept only if reads may be stale. */
  readonly previous: readonly number[];
  readonly messages: readonly Held[];
  readonly running: readonly Running[];
  readonly left: Faults;
  /** What each call from outside came to: nothing while it has not begun or not ended. */
  readonly answers: readonly (string | undefined)[];
  readonly isBegun: readonly boolean[];
  /** Effects on the world outside, as `key attempt`, sorted. */
  readonly effects: readonly string[];
  /** How often a message of this text and receipt was taken: names must differ. */
  readonly taken: ReadonlyMap<string, number>;
  readonly watchedAtMs: number;
}

export interface StoredText {
  readonly id: number;
  readonly key: Key;
  readonly place: string;
  readonly fields: Fields;
  readonly item: Fields & Key;
}

/** Records and messages by content: the same content is the same number. */
export interface Contents {
  record(key: Key, fields: Fields): number;
  of(id: number): StoredText;
  text(message: MessageText): number;
  messageOf(id: number): MessageText;
}

export interface MessageText {
  readonly queue: string;
  readonly body: string;
  readonly group: string;
  readonly taskKey: string;
}

export function createContents(): Contents {
  const records: StoredText[] = [];
  const byText = new Map<string, number>();
  const messages: MessageText[] = [];
  const byMessage = new Map<string, number>();
  return {
    record(key, fields) {
      const place = `${key.pk}\u0000${key.sk}`;
      const text = `${place}\u0000${canonical(fields)}`;
      const known = byText.get(text);
      if (known !== undefined) return known;
      const id = records.length;
      records.push({ id, key, place, fields, item: Object.freeze({ ...fields, ...key }) });
      byText.set(text, id);
      return id;
    },
    of: (id) => records[id] as StoredText,
    text(message) {
      const text = `${message.queue}\u0000${message.group}\u0000${message.taskKey}\u0000${message.body}`;
      const known = byMessage.get(text);
      if (known !== undefined) return known;
      messages.push(message);
      byMessage.set(text, messages.length - 1);
      return messages.length - 1;
    },
    messageOf: (id) => messages[id] as MessageText,
  };
}

/** The same text for the same content, whatever the order of names. */
function canonical(value: unknown): string {
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString("base64")}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const named = value as { readonly [name: string]: unknown };
  return `{${Object.keys(named)
    .sort()
    .map((name) => `${name}:${canonical(named[name])}`)
    .join(",")}}`;
}

/**
 * Two states with one key have the same future (but for one in 2^53 of pairs). States share what did not change between them, so the
 * text of each part is made once.
 */
export function keyOf(state: State): number {
  const { nowMs, records, previous, messages, running, left, answers, isBegun, effects, taken, watchedAtMs } = state;
  return hashText(
    `${nowMs}|${textOf(records, joined)}|${textOf(previous, joined)}|${textOf(messages, messagesText)}|${textOf(running, runningText)}|${textOf(left, leftText)}|${textOf(answers, joined)}|${textOf(isBegun, joined)}|${textOf(effects, joined)}|${textOf(taken, takenText)}|${watchedAtMs}`,
  );
}

const texts = new WeakMap<object, string>();

function textOf<T extends object>(part: T, make: (part: T) => string): string {
  const known = texts.get(part);
  if (known !== undefined) return known;
  const text = make(part);
  texts.set(part, text);
  return text;
}

const joined = (all: readonly unknown[]) => all.join();
const leftText = (left: Faults) => Object.values(left).join();
const takenText = (taken: State["taken"]) =>
  [...taken]
    .map(([name, count]) => `${name}=${count}`)
    .sort()
    .join();
const runningText = (running: State["running"]) =>
  running
    .map(({ position, again = -1 }) => `${position.id}/${again}`)
    .sort()
    .join();
const messagesText = (messages: State["messages"]) =>
  messages
    .map(({ text, shownAtMs, receives, holder, receipt }) => `${text}/${shownAtMs}/${receives}/${holder}/${receipt}`)
    .sort()
    .join();
