import { dueOfSettled } from "../../core/due.ts";
import { partitionOf, sk } from "../../core/keys.ts";
import { rowAttributes as a, dueFields, encodeRun } from "../../core/row-format.ts";
import { isLive, type Run } from "../../core/run.ts";
import type { Check, Edit, Fields, Key, Write } from "../../ports.ts";

/** Where a run's row lives. */
export function stateKey(run: { readonly tenant: string; readonly runId: string }): Key {
  return { pk: partitionOf(run.tenant, run.runId), sk: sk.state };
}

const seconds = (ms: number) => Math.ceil(ms / 1000);

/** A row that has ended is kept for the retention and then collected; a live one never is. */
function rowFields(run: Run, retentionMs: number): Fields {
  const row = encodeRun(run);
  return run.endedAtMs === undefined ? row : { ...row, [a.expiresAtS]: seconds(run.endedAtMs + retentionMs) };
}

/** The run's row as the store will hold it: for sizes. */
export function storedState(run: Run, retentionMs: number): Fields & Key {
  return { ...rowFields(run, retentionMs), ...stateKey(run) };
}

/** Creation: nothing may be there, or only what has expired and was not collected yet. */
export function createState(run: Run, nowMs: number, retentionMs: number): Write {
  return {
    kind: "put",
    key: stateKey(run),
    fields: rowFields(run, retentionMs),
    when: [
      {
        kind: "any",
        of: [
          [{ kind: "absent", path: ["pk"] }],
          [
            { kind: "exists", path: [a.expiresAtS] },
            { kind: "atMost", path: [a.expiresAtS], value: Math.floor(nowMs / 1000) },
          ],
        ],
      },
    ],
  };
}

/** Never written by an edit: the keys, what creation fixed, what the store counts up. */
const untouched = new Set<string>([
  a.format,
  a.runUid,
  a.recordVersion,
  a.hashes,
  a.runsPartition,
  a.createdAtMs,
  a.hasParent,
]);

/**
 * The guarded commit, the one mechanism of the engine: applied if the row is still the one that was read, and live. The store
 * adds one to the version; every attribute of the next run is set, every other one removed.
 */
export function commitState(previous: Run, next: Run, retentionMs: number): Write {
  return { kind: "edit", key: stateKey(next), edits: stateEdits(next, retentionMs), when: guard(previous) };
}

/** The same statement ends a run that cannot move, on the version that was seen. */
export function guard(seen: Pick<Run, "runUid" | "recordVersion">): readonly Check[] {
  return [
    { kind: "equals", path: [a.recordVersion], value: seen.recordVersion },
    { kind: "equals", path: [a.runUid], value: seen.runUid },
    { kind: "exists", path: [a.live] },
  ];
}

function stateEdits(next: Run, retentionMs: number): readonly Edit[] {
  const fields = rowFields(next, retentionMs);
  const edits: Edit[] = [{ kind: "add", path: [a.recordVersion], by: 1 }];
  for (const name of Object.values(a)) {
    if (untouched.has(name)) continue;
    const value = fields[name];
    edits.push(value === undefined ? { kind: "remove", path: [name] } : { kind: "set", path: [name], value });
  }
  return edits;
}

/** A terminal run owes nothing any more: it leaves the index of what is due. */
export function settleState(run: Run): Write {
  const due = dueFields({ ...run, due: dueOfSettled(run, run.due) });
  const keys = [a.duePartition, a.dueAtMs].map((name): Edit => {
    const value = due[name];
    return value === undefined ? { kind: "remove", path: [name] } : { kind: "set", path: [name], value };
  });
  return {
    kind: "edit",
    key: stateKey(run),
    edits: [{ kind: "add", path: [a.recordVersion], by: 1 }, ...keys],
    when: [
      { kind: "equals", path: [a.recordVersion], value: run.recordVersion },
      { kind: "equals", path: [a.runUid], value: run.runUid },
      { kind: "absent", path: [a.live] },
    ],
  };
}

/** Deletes a terminal run's row, last of all that it left. */
export function purgeState(run: Run): Write {
  if (isLive(run)) throw new RangeError("only a terminal run is purged");
  return {
    kind: "delete",
    key: stateKey(run),
    when: [
      { kind: "equals", path: [a.recordVersion], value: run.recordVersion },
      { kind: "equals", path: [a.runUid], value: run.runUid },
      { kind: "absent", path: [a.live] },
    ],
  };
}
