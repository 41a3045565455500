import { attemptAttributes as a, outcomeFields } from "../../core/attempt-format.ts";
import type { Ending, Outcome } from "../../core/inputs.ts";
import { duePartition, partitionOf, sk } from "../../core/keys.ts";
import type { Run } from "../../core/run.ts";
import type { Edit, Fields, Key, Write } from "../../ports.ts";

/** Which run, and what its neighbours need of it. */
export type Owner = Pick<Run, "tenant" | "runId" | "runUid" | "deadlineAtMs">;
export type AttemptId = { readonly node: number; readonly index: number; readonly attempt: number };

export function attemptKey(run: Pick<Run, "tenant" | "runId" | "runUid">, id: AttemptId): Key {
  return { pk: partitionOf(run.tenant, run.runId), sk: sk.attempt(run.runUid, id.node, id.index, id.attempt) };
}

/** Neighbours live as long as their run may, and its retention beyond. */
export function expiresAtS(run: Pick<Run, "deadlineAtMs">, retentionMs: number): number {
  return Math.ceil((run.deadlineAtMs + retentionMs) / 1000);
}

/** The one claim of an attempt's life. */
export function claimAttempt(
  run: Owner,
  id: AttemptId,
  claim: {
    readonly token: string;
    readonly leaseUntilMs: number;
    readonly nowMs: number;
    readonly retentionMs: number;
  },
): Write {
  const fields = {
    [a.runUid]: run.runUid,
    [a.token]: claim.token,
    [a.leaseUntilMs]: claim.leaseUntilMs,
    [a.startedAtMs]: claim.nowMs,
    [a.expiresAtS]: expiresAtS(run, claim.retentionMs),
  };
  return { kind: "put", key: attemptKey(run, id), fields, when: [{ kind: "absent", path: ["pk"] }] };
}

/** Where an output stands: in the record, or beside it under the attempt's token. */
export type StoredOutput =
  | { readonly kind: "value"; readonly text: string }
  | { readonly kind: "payload"; readonly token: string };

function endFields(
  outcome: Outcome,
  end: { readonly by: string; readonly nowMs: number; readonly output?: StoredOutput | undefined },
): Fields {
  const { output } = end;
  return {
    ...outcomeFields(outcome),
    [a.endedBy]: end.by,
    [a.endedAtMs]: end.nowMs,
    ...(output?.kind === "value" && { [a.output]: output.text }),
    ...(output?.kind === "payload" && { [a.payload]: output.token }),
  };
}

function dueFields(run: Owner, dueAtMs: number | undefined): Fields {
  return dueAtMs === undefined ? {} : { [a.duePartition]: duePartition.live(run.runUid), [a.dueAtMs]: dueAtMs };
}

/** The end of a claimed attempt, by its worker or, for an external, by whoever has its token: the claim, and no end yet. */
export function recordAttempt(
  run: Owner,
  id: AttemptId,
  end: {
    readonly token: string;
    /** Who ends it, unless it is the claim's holder. */
    readonly by?: string;
    readonly outcome: Outcome;
    /** An end from outside carries its own due: between it and its wake-up nothing can sleep. */
    readonly dueAtMs?: number;
    readonly nowMs: number;
    readonly output?: StoredOutput | undefined;
  },
): Write {
  const fields = {
    ...endFields(end.outcome, { by: end.by ?? end.token, nowMs: end.nowMs, output: end.output }),
    ...dueFields(run, end.dueAtMs),
  };
  return {
    kind: "edit",
    key: attemptKey(run, id),
    edits: Object.entries(fields).map(([name, value]): Edit => ({ kind: "set", path: [name], value })),
    when: [
      { kind: "equals", path: [a.token], value: end.token },
      { kind: "absent", path: [a.outcome] },
    ],
  };
}

/** Extends a lease, never shortens it, and never opens one that was closed. */
export function extendLease(
  run: Owner,
  id: AttemptId,
  lease: { readonly token: string; readonly untilMs: number },
): Write {
  return {
    kind: "edit",
    key: attemptKey(run, id),
    edits: [{ kind: "set", path: [a.leaseUntilMs], value: lease.untilMs }],
    when: [
      { kind: "equals", path: [a.token], value: lease.token },
      { kind: "absent", path: [a.outcome] },
      { kind: "under", path: [a.leaseUntilMs], value: lease.untilMs },
    ],
  };
}

/** An end without a claim: it can only be the record's first and last write. */
export function endUnclaimed(
  run: Owner,
  id: AttemptId,
  end: {
    readonly outcome: Outcome;
    readonly by: string;
    readonly nowMs: number;
    readonly retentionMs: number;
    readonly output?: StoredOutput | undefined;
    readonly startedAtMs?: number;
    /** A decision carries its own due: between it and its wake-up nothing can sleep. */
    readonly dueAtMs?: number;
  },
): Write {
  const fields = {
    [a.runUid]: run.runUid,
    ...endFields(end.outcome, end),
    [a.expiresAtS]: expiresAtS(run, end.retentionMs),
    ...(end.startedAtMs !== undefined && { [a.startedAtMs]: end.startedAtMs }),
    ...dueFields(run, end.dueAtMs),
  };
  return { kind: "put", key: attemptKey(run, id), fields, when: [{ kind: "absent", path: ["pk"] }] };
}

/** Carries out what a tick asked for before it can go on. Results, heartbeats and decisions win over it. */
export function closeAttempt(
  run: Owner,
  ending: Ending,
  close: { readonly by: string; readonly nowMs: number; readonly retentionMs: number },
): Write {
  if (ending.kind !== "lost") {
    const outcome: Outcome =
      ending.kind === "inline-lost" ? { kind: "lost", isUnclaimed: false } : { kind: ending.kind };
    return endUnclaimed(run, ending, { ...close, outcome });
  }
  const fields = endFields({ kind: "lost", isUnclaimed: false }, close);
  return {
    kind: "edit",
    key: attemptKey(run, ending),
    edits: Object.entries(fields).map(([name, value]): Edit => ({ kind: "set", path: [name], value })),
    when: [
      { kind: "equals", path: [a.token], value: ending.token },
      { kind: "equals", path: [a.leaseUntilMs], value: ending.leaseUntilMs },
      { kind: "absent", path: [a.outcome] },
    ],
  };
}

/** Takes a record out of the index of what is due, if it is still there for that instant. */
export function dropDue(key: Key, dueAtMs: number): Write {
  return {
    kind: "edit",
    key,
    edits: [
      { kind: "remove", path: ["q"] },
      { kind: "remove", path: ["d"] },
    ],
    when: [{ kind: "equals", path: ["d"], value: dueAtMs }],
  };
}
