import type { FaultCode } from "../../core/faults.ts";
import { partitionOf, sk } from "../../core/keys.ts";
import type { Check, Edit, Fields, Key, Write } from "../../ports.ts";

/** Whose strikes: readable even if the row itself is not. */
export interface StrikeOwner {
  readonly tenant: string;
  readonly runId: string;
  readonly runUid: string;
}

/** Processings that began and did not end, counted by transition and build; and what the watchdog sent last. */
export interface Strikes {
  readonly seq: number;
  readonly build: string;
  readonly count: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly fault: FaultCode;
  readonly message: string;
}

export interface Sent {
  readonly dueAtMs: number;
  readonly atMs: number;
  readonly intervalMs: number;
}

const a = {
  runUid: "u",
  seq: "s",
  build: "b",
  count: "n",
  firstAtMs: "f",
  lastAtMs: "a",
  fault: "c",
  message: "m",
  sentDueAtMs: "w",
  sentAtMs: "y",
  sentIntervalMs: "i",
  expiresAtS: "x",
} as const;
const strikeNames = [a.seq, a.build, a.count, a.firstAtMs, a.lastAtMs, a.fault, a.message] as const;

export function strikesKey(owner: StrikeOwner): Key {
  return { pk: partitionOf(owner.tenant, owner.runId), sk: sk.strikes(owner.runUid) };
}

export function strikesFrom(record: Fields | undefined): Strikes | undefined {
  if (record?.[a.count] === undefined) return undefined;
  return {
    seq: Number(record[a.seq]),
    build: String(record[a.build]),
    count: Number(record[a.count]),
    firstAtMs: Number(record[a.firstAtMs]),
    lastAtMs: Number(record[a.lastAtMs]),
    fault: String(record[a.fault]) as FaultCode,
    message: String(record[a.message] ?? ""),
  };
}

export function sentFrom(record: Fields | undefined): Sent | undefined {
  if (record?.[a.sentAtMs] === undefined) return undefined;
  return {
    dueAtMs: Number(record[a.sentDueAtMs]),
    atMs: Number(record[a.sentAtMs]),
    intervalMs: Number(record[a.sentIntervalMs]),
  };
}

/** Characters of a fault's text that are kept. */
export const strikeMessageMax = 256;

const fieldsOf = (strikes: Strikes): Fields => ({
  [a.seq]: strikes.seq,
  [a.build]: strikes.build,
  [a.count]: strikes.count,
  [a.firstAtMs]: strikes.firstAtMs,
  [a.lastAtMs]: strikes.lastAtMs,
  [a.fault]: strikes.fault,
  [a.message]: strikes.message.slice(0, strikeMessageMax),
});

/** One more strike, on what was read: two processings never count as one, nor one as two. */
export function putStrikes(
  owner: StrikeOwner,
  strikes: Strikes,
  seen: Strikes | undefined,
  isRecordThere: boolean,
  expiresAtS: number,
): Write {
  const fields = { ...fieldsOf(strikes), [a.runUid]: owner.runUid, [a.expiresAtS]: expiresAtS };
  if (!isRecordThere) return { kind: "put", key: strikesKey(owner), fields, when: [{ kind: "absent", path: ["pk"] }] };
  return { kind: "edit", key: strikesKey(owner), edits: setAll(fields), when: unchanged(owner, seen) };
}

/** Removes the strikes, and leaves the watchdog's memory beside them. */
export function clearStrikes(owner: StrikeOwner, seen: Strikes): Write {
  return {
    kind: "edit",
    key: strikesKey(owner),
    edits: strikeNames.map((name): Edit => ({ kind: "remove", path: [name] })),
    when: unchanged(owner, seen),
  };
}

/** What the watchdog sent, remembered beside the strikes. */
export function putSent(owner: StrikeOwner, sent: Sent, isRecordThere: boolean, expiresAtS: number): Write {
  const fields = {
    [a.runUid]: owner.runUid,
    [a.sentDueAtMs]: sent.dueAtMs,
    [a.sentAtMs]: sent.atMs,
    [a.sentIntervalMs]: sent.intervalMs,
    [a.expiresAtS]: expiresAtS,
  };
  if (!isRecordThere) return { kind: "put", key: strikesKey(owner), fields, when: [{ kind: "absent", path: ["pk"] }] };
  return {
    kind: "edit",
    key: strikesKey(owner),
    edits: setAll(fields),
    when: [{ kind: "equals", path: [a.runUid], value: owner.runUid }],
  };
}

const setAll = (fields: Fields): readonly Edit[] =>
  Object.entries(fields).map(([name, value]): Edit => ({ kind: "set", path: [name], value }));

function unchanged(owner: StrikeOwner, seen: Strikes | undefined): readonly Check[] {
  const same: Check = { kind: "equals", path: [a.runUid], value: owner.runUid };
  if (!seen) return [same, { kind: "absent", path: [a.count] }];
  return [
    same,
    { kind: "equals", path: [a.count], value: seen.count },
    { kind: "equals", path: [a.lastAtMs], value: seen.lastAtMs },
    { kind: "equals", path: [a.seq], value: seen.seq },
  ];
}
