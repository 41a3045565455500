import { hashText } from "./hash.ts";
import { fixed } from "./limits.ts";

/**
 * Where records live. Frozen at version 1. Tenants and run ids are `[A-Za-z0-9._-]{1,64}`, so `#` separates and no tenant can
 * collide with the partition of definitions. Neighbours carry the first eight characters of `runUid`: a purged and restarted
 * run id never meets its predecessor's records. Numbers are zero-padded, so that ranges sort.
 */
export interface RecordKey {
  readonly pk: string;
  readonly sk: string;
}

const idPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** Whether a text may be a tenant, a run id, a workflow, a node, a signal or a group. */
export function isId(text: unknown): text is string {
  return typeof text === "string" && idPattern.test(text);
}

export const idRule = "1 to 64 characters of A-Z, a-z, 0-9, '.', '_' and '-'";

export function partitionOf(tenant: string, runId: string): string {
  return `${tenant}#${runId}`;
}

const pad = (value: number, width: number) => String(value).padStart(width, "0");
const uid8 = (runUid: string) => runUid.slice(0, 8);

/** All that one Query with this prefix loads: the row, its mailbox, its strikes. */
export const statePrefix = "STATE";

export const sk = {
  state: "STATE",
  mail: (runUid: string) => `STATE#MAIL#${uid8(runUid)}`,
  strikes: (runUid: string) => `STATE#STRIKES#${uid8(runUid)}`,
  attempt: (runUid: string, node: number, index: number, attempt: number) =>
    `ATT#${uid8(runUid)}#${pad(node, 4)}#${pad(index, 7)}#${pad(attempt, 3)}`,
  attemptsOf: (runUid: string, node?: number, index?: number) =>
    `ATT#${uid8(runUid)}#${node === undefined ? "" : `${pad(node, 4)}#`}${index === undefined ? "" : `${pad(index, 7)}#`}`,
  input: (runUid: string) => `IN#${uid8(runUid)}`,
  /** An output too big for its record, named by the token of the attempt that made it. */
  output: (runUid: string, node: number, index: number, token: string) =>
    `OUT#${uid8(runUid)}#${pad(node, 4)}#${pad(index, 7)}#${token}`,
  /** A page of spilled tiny outputs: committed ones only, so whoever writes it first is right. */
  page: (runUid: string, page: number) => `OUT#${uid8(runUid)}#P#${pad(page, 5)}`,
  pages: (runUid: string) => `OUT#${uid8(runUid)}#P#`,
  /** A signal's payload that was too big for the mailbox. */
  signal: (runUid: string, token: string) => `OUT#${uid8(runUid)}#S#${token}`,
  items: (runUid: string, node: number, page: number, token: string) =>
    `ITEM#${uid8(runUid)}#${pad(node, 4)}#${pad(page, 6)}#${token}`,
} as const;

/** Neighbours of one run: everything a purge deletes before the row itself. */
export const neighbourPrefixes = (runUid: string): readonly string[] => [
  `ATT#${uid8(runUid)}#`,
  `IN#${uid8(runUid)}`,
  `OUT#${uid8(runUid)}#`,
  `ITEM#${uid8(runUid)}#`,
];

export function definitionKey(hash: string): RecordKey {
  return { pk: `#DEF#${hash}`, sk: "DEF" };
}

/** What the steps of a definition took and yielded in some build, by the digest of that; with an empty digest the prefix of all. */
export function contractsKey(hash: string, digest: string): RecordKey {
  return { pk: `#DEF#${hash}`, sk: `CONTRACTS#${digest}` };
}

/** Partitions of the index `due`: overdue work, parked runs, and runs that ended badly. */
export const duePartition = {
  live: (runUid: string) => `D${pad(hashText(runUid) % fixed.dueShards, 2)}`,
  parked: (runUid: string) => `P${pad(hashText(runUid) % fixed.dueShards, 2)}`,
  endedBadly: (tenant: string, runUid: string) => `B#${tenant}#${hashText(runUid) % fixed.runShards}`,
  shard: (kind: "D" | "P", shard: number) => `${kind}${pad(shard, 2)}`,
} as const;

/** Partition of the index `runs`; never changes in a run's life. */
export function runsPartition(tenant: string, workflow: string, runUid: string): string {
  return `${tenant}#${workflow}#${hashText(runUid) % fixed.runShards}`;
}

/** An attempt's name within its run: hints, logs and sets use it. */
export function attemptName(node: number, index: number, attempt: number): string {
  return `${node}/${index}/${attempt}`;
}
