import { toDelaySeconds } from "../../lib/core/delay.ts";
import { Fault } from "../../lib/core/faults.ts";
import { faultOfMessage } from "../../lib/ports/sendable.ts";
import type { Key, Message, Sent, Write, Written } from "../../lib/ports.ts";
import { applyWrite } from "../../lib/testing/apply-write.ts";
import type { Answer, Call } from "./call.ts";
import type { Contents, Held, State, StoredText } from "./state.ts";

/** How a call goes: as it should, or with a fault. */
export type Manner = "well" | "lost-reply" | "repeat" | "again" | "lost-request" | "stale" | "throttled";

/** A write that was applied: what stood there, and what stands there now. */
export interface Change {
  readonly write: Write;
  readonly before: StoredText | undefined;
  readonly now: StoredText | undefined;
}

export interface Served {
  readonly state: State;
  readonly answer: Answer;
  readonly changes: readonly Change[];
  /** In words. */
  readonly outcome: string;
}

/** Carries a call out on a state, as a memory adapter would, and gives the state after it. Nothing but the call's own record changes. */
export function serve(contents: Contents, state: State, call: Call, manner: Manner): Served {
  if (manner === "throttled" && call.op !== "send")
    return { state, answer: { key: "throttled", error: throttled }, changes: [], outcome: "the platform refuses it" };
  switch (call.op) {
    case "write":
      return write(contents, state, call, manner);
    case "read": {
      const found = call.keys.map((key) => read(contents, state, key, manner === "stale"));
      return said(
        state,
        found.map((each) => each?.fields),
        found.map((each) => each?.id ?? "-").join(),
      );
    }
    case "list": {
      const items = within(contents, state, call, manner === "stale");
      const page = items.slice(0, call.limit);
      const next = items.length > page.length ? page.at(-1)?.key.sk : undefined;
      return said(state, { items: page.map(({ item }) => item), next }, page.map(({ id }) => id).join());
    }
    case "find":
      return find(contents, state, call.index, call.query);
    case "send":
      return send(contents, state, call.messages, manner);
    case "isBehind": {
      const isBehind = state.messages.some(
        (held) => contents.messageOf(held.text).queue === call.queue && held.shownAtMs <= state.nowMs,
      );
      return said(state, isBehind, String(isBehind));
    }
    case "sleep":
      return said(state, undefined, "awake");
    case "effect": {
      const effects = [...state.effects, `${call.effect.key} ${call.effect.attempt}`].sort();
      return said({ ...state, effects }, undefined, "done");
    }
  }
}

const said = (state: State, value: unknown, key: string, outcome = ""): Served => ({
  state,
  answer: { key, value },
  changes: [],
  outcome,
});

const placeOf = (key: Key) => `${key.pk}\u0000${key.sk}`;

function read(contents: Contents, state: State, key: Key, isStale: boolean): StoredText | undefined {
  const place = placeOf(key);
  const at = (ids: readonly number[]) => ids.map((id) => contents.of(id)).find((each) => each.place === place);
  // a record that is new was not there before
  if (isStale && at(state.previous.filter((id) => id < 0).map((id) => -id - 1))) return undefined;
  return (isStale && at(state.previous.filter((id) => id >= 0))) || at(state.records);
}

function within(
  contents: Contents,
  state: State,
  call: Extract<Call, { op: "list" }>,
  isStale: boolean,
): readonly StoredText[] {
  return state.records
    .map((id) => contents.of(id))
    .filter(({ key }) => key.pk === call.pk && key.sk.startsWith(call.prefix) && key.sk > (call.after ?? ""))
    .flatMap((each) => {
      const seen = isStale ? read(contents, state, each.key, true) : each;
      return seen ? [seen] : [];
    })
    .sort((a, b) => (a.key.sk < b.key.sk ? -1 : 1));
}

function find(
  contents: Contents,
  state: State,
  index: "due" | "runs",
  query: Extract<Call, { op: "find" }>["query"],
): Served {
  const [partition, at] = index === "due" ? (["q", "d"] as const) : (["p", "o"] as const);
  const items = state.records
    .map((id) => contents.of(id))
    .filter(({ fields }) => fields[partition] === query.partition && Number(fields[at]) <= (query.upTo ?? Infinity))
    .map(({ key, fields }) => ({ ...key, at: Number(fields[at]) }))
    .sort((a, b) => a.at - b.at || (a.sk < b.sk ? -1 : 1));
  return said(state, { items, next: undefined }, JSON.stringify(items));
}

function write(contents: Contents, state: State, call: Extract<Call, { op: "write" }>, manner: Manner): Served {
  if (manner === "lost-request") return unclear(state, [], "the request is lost");
  const made = applyOnce(contents, state, call, manner !== "again");
  if (manner === "lost-reply") return unclear(made.state, made.changes, `${made.outcome}; the reply is lost`);
  return manner === "repeat"
    ? { ...made, outcome: `${made.outcome}; the reply is lost, the client will ask again` }
    : made;
}

function unclear(state: State, changes: readonly Change[], outcome: string): Served {
  const value: Written = { kind: "unclear", fault: lost.data };
  return { state, answer: { key: "unclear", value }, changes, outcome };
}

const lost = new Fault("unavailable", "there was no answer");
const throttled = new Fault("throttled", "one too many");

function applyOnce(
  contents: Contents,
  state: State,
  { write: asked, isAll }: Extract<Call, { op: "write" }>,
  isClear: boolean,
): Served {
  const before = read(contents, state, asked.key, false);
  let made: ReturnType<typeof applyWrite>;
  try {
    made = applyWrite(asked, before?.fields);
  } catch (error) {
    if (!Fault.is(error)) throw error;
    return { state, answer: { key: `!${error.message}`, error }, changes: [], outcome: error.message };
  }
  if (made.kind === "absent")
    return said(state, { kind: "absent", isClear } satisfies Written, `absent${isClear}`, "there is no such record");
  if (made.kind === "refused")
    return said(
      state,
      { kind: "refused", now: made.now, isClear } satisfies Written,
      `refused${before?.id}${isClear}`,
      "refused",
    );
  const key = { pk: asked.key.pk, sk: asked.key.sk };
  const now = made.fields && contents.of(contents.record(key, made.fields));
  const records = state.records.filter((id) => id !== before?.id);
  const value: Written = { kind: "applied", now: isAll ? now?.fields : undefined, isClear };
  return {
    state: {
      ...state,
      records: now ? [...records, now.id].sort((a, b) => a - b) : records,
      previous:
        state.left.stale > 0 || state.previous.length > 0 ? previously(contents, state, before, now) : state.previous,
    },
    answer: { key: `applied${isAll ? now?.id : ""}${isClear}`, value },
    changes: [{ write: asked, before, now }],
    outcome: "applied",
  };
}

/** What a stale read meets from now on: what stood there, or nothing (a negative number) where nothing did. */
function previously(
  contents: Contents,
  state: State,
  before: StoredText | undefined,
  now: StoredText | undefined,
): readonly number[] {
  const place = (before ?? now)?.place;
  const others = state.previous.filter((id) => contents.of(id < 0 ? -id - 1 : id).place !== place);
  return before ? [...others, before.id] : now ? [...others, -now.id - 1] : others;
}

function send(contents: Contents, state: State, messages: readonly Message[], manner: Manner): Served {
  const failed: readonly Sent[] = messages.map(() => ({ kind: "failed", fault: lost.data }));
  if (manner === "lost-request" || manner === "throttled")
    return said(state, failed, "not sent", "the queue does not take it");
  const sent: Sent[] = [];
  const added: Held[] = [];
  for (const { queue, body, group, taskKey, delaySeconds = 0 } of messages) {
    const fault = faultOfMessage({ queue, body, group, taskKey });
    sent.push(fault ? { kind: "failed", fault: fault.data } : { kind: "sent" });
    const shownAtMs = state.nowMs + toDelaySeconds(delaySeconds * 1000) * 1000;
    if (!fault)
      added.push({
        text: contents.text({ queue, body, group, taskKey }),
        shownAtMs,
        receives: 0,
        holder: "",
        receipt: "",
      });
  }
  const next = { ...state, messages: [...state.messages, ...added] };
  if (manner !== "lost-reply") return said(next, sent, sent.map(({ kind }) => kind).join(), "sent");
  return said(next, failed, "lost", "sent; the reply is lost");
}
