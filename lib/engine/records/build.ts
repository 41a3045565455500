import type { Check, Fields, Key, Write } from "../../ports.ts";

/** How far a build has come in waking what was parked before it. */
export interface Waking {
  readonly build: string;
  /** Shards that it is done with. */
  readonly shards: number;
  /** Where it stands in the next one. */
  readonly after?: string;
  /** How often it has gone through all of them, and when it last came to the end. */
  readonly rounds: number;
  readonly roundAtMs: number;
}

const a = { build: "b", shards: "n", after: "k", rounds: "r", roundAtMs: "e" } as const;

/** One record of the installation, in a partition that no tenant has. */
export const buildKey: Key = { pk: "#WATCH", sk: "BUILD" };

export function wakingFrom(record: Fields | undefined): Waking | undefined {
  if (record === undefined) return undefined;
  const after = record[a.after];
  return {
    build: String(record[a.build]),
    shards: Number(record[a.shards]),
    rounds: Number(record[a.rounds] ?? 1),
    roundAtMs: Number(record[a.roundAtMs] ?? 0),
    ...(after !== undefined && { after: String(after) }),
  };
}

/** Goes on from what was read: of two watchdogs one is refused, and what it woke was woken twice. */
export function putWaking(next: Waking, seen: Waking | undefined): Write {
  const fields: Fields = {
    [a.build]: next.build,
    [a.shards]: next.shards,
    [a.rounds]: next.rounds,
    [a.roundAtMs]: next.roundAtMs,
    ...(next.after !== undefined && { [a.after]: next.after }),
  };
  return { kind: "put", key: buildKey, fields, when: unchanged(seen) };
}

function unchanged(seen: Waking | undefined): readonly Check[] {
  if (!seen) return [{ kind: "absent", path: ["pk"] }];
  return [
    { kind: "equals", path: [a.build], value: seen.build },
    { kind: "equals", path: [a.shards], value: seen.shards },
    seen.after === undefined
      ? { kind: "absent", path: [a.after] }
      : { kind: "equals", path: [a.after], value: seen.after },
  ];
}
