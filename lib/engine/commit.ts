import { bytesToHex } from "../core/bytes.ts";
import { isOwing } from "../core/due.ts";
import { nextToUndo } from "../core/ending.ts";
import { Fault } from "../core/faults.ts";
import { sk } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import { rowAttributes } from "../core/row-format.ts";
import { readTiny, writeTiny } from "../core/row-tiny.ts";
import { isLive, type Run } from "../core/run.ts";
import { whose, withToken } from "../guard/mine.ts";
import { itemBytes } from "../ports/item-size.ts";
import type { Fields } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { expiresAtS } from "./records/attempt.ts";
import { payloadAttributes, payloadKey, putPayload } from "./records/payload.ts";
import { commitState, storedState } from "./records/state.ts";

/**
 * What became of a commit. `unclear`: it, or an earlier try of it, may have been applied: reload, and perform everything.
 * `gone`: the row is not there, or another run has its place.
 */
export type Committed =
  | { readonly kind: "applied"; readonly run: Run; readonly isClear: boolean }
  | { readonly kind: "conflict"; readonly actualVersion: number; readonly isClear: boolean }
  | { readonly kind: "ended" | "gone" | "unclear" };

/**
 * The guarded commit: spills what the row has no room for, writes, and says which of the outcomes it was. `attempt` counts from 1
 * within one processing; conflicts are metered by it.
 */
export async function commit(engine: Engine, previous: Run, next: Run, attempt: number): Promise<Committed> {
  const commitId = engine.random.token();
  const named: Run = { ...(await spilled(engine, previous, next)), commitIds: withToken(commitId, next.commitIds) };
  const fitting = fittingRow(engine, named);
  const written = await engine.store.write(commitState(previous, fitting, engine.limits.retentionMs), {
    returns: "nothing",
  });
  switch (written.kind) {
    case "applied":
      engine.metrics.count("commits");
      engine.metrics.count("conflicts-percent", 0);
      return {
        kind: "applied",
        run: { ...fitting, recordVersion: previous.recordVersion + 1 },
        isClear: written.isClear,
      };
    case "absent":
      return { kind: "gone" };
    case "unclear":
      engine.metrics.count("commits-ambiguous");
      return { kind: "unclear" };
    case "refused":
      return refused(engine, previous, fitting, { commitId, attempt }, written.now, written.isClear);
  }
}

/** Before anything is called a conflict: is the stored commit mine after all? */
function refused(
  engine: Engine,
  previous: Run,
  next: Run,
  { commitId, attempt }: { readonly commitId: string; readonly attempt: number },
  stored: Fields,
  isClear: boolean,
): Committed {
  if (stored[rowAttributes.runUid] !== previous.runUid) return { kind: "gone" };
  const actualVersion = Number(stored[rowAttributes.recordVersion]);
  const author = whose([commitId], storedCommitIds(stored), previous.recordVersion, actualVersion, isClear);
  if (author !== "theirs") {
    engine.metrics.count("commits-ambiguous");
    const isLatest = author === "mine" && actualVersion === previous.recordVersion + 1;
    return isLatest
      ? { kind: "applied", run: { ...next, recordVersion: actualVersion }, isClear: false }
      : { kind: "unclear" };
  }
  if (stored[rowAttributes.live] === undefined) return { kind: "ended" };
  engine.metrics.count("conflicts", 1, { attempt: String(attempt) });
  engine.metrics.count("conflicts-percent", 100);
  engine.log.write("debug", "commit.conflict", {
    runId: next.runId,
    attempt,
    expected: previous.recordVersion,
    actual: actualVersion,
  });
  return { kind: "conflict", actualVersion, isClear };
}

/** Ids of the last commits that a stored row bears. */
export function storedCommitIds(row: Fields): readonly string[] {
  const ids = row[rowAttributes.commitIds];
  return ids instanceof Uint8Array ? (bytesToHex(ids).match(/.{16}/g) ?? []) : [];
}

/** A row that would be refused for its size ends as one that always fits. */
function fittingRow(engine: Engine, run: Run): Run {
  const bytesOf = (each: Run) => itemBytes(storedState(each, engine.limits.retentionMs));
  const bytes = bytesOf(run);
  if (bytes <= fixed.rowBytesRefused) return run;
  engine.log.write("error", "row.too-big", { runId: run.runId, bytes, limit: fixed.rowBytesRefused });
  const reason = {
    code: "row-too-big",
    message: `the row would take ${bytes} bytes of ${fixed.rowBytesRefused}`,
  } as const;
  const program = engine.programs.get(run.definitionHash);
  const isUndone = program !== undefined && nextToUndo({ nodes: run.nodes, program }) === undefined;
  const ended = endedAbruptly(engine, run, reason, { isUncompensated: !isUndone });
  if (ended.isUncompensated && !run.isUncompensated) engine.metrics.count("uncompensated");
  return bytesOf(ended) <= fixed.rowBytesRefused ? ended : { ...ended, tiny: [] };
}

/**
 * A run that ends at once: of what it was about to do nothing is left but children to cancel and somebody to tell; what it did, and
 * what it was started with, can be read. `isUncompensated`: what was done and could be undone is not.
 */
export function endedAbruptly(
  { clock, limits }: Pick<Engine, "clock" | "limits">,
  run: Run,
  reason: NonNullable<Run["reason"]>,
  { isUncompensated }: { readonly isUncompensated: boolean },
): Run {
  const active = run.active
    .filter((entry) => entry.state === "child" || entry.state === "unwanted")
    .map((entry) => ({ ...entry, state: "unwanted" as const }));
  const nowMs = clock.nowMs();
  const ended: Run = {
    ...run,
    phase: "failed",
    ending: undefined,
    isPaused: false,
    isParked: false,
    isUncompensated: run.isUncompensated || isUncompensated,
    reason,
    active,
    maps: [],
    facts: new Map(),
    endedAtMs: nowMs,
    transitionSeq: run.transitionSeq + 1,
  };
  return { ...ended, due: { kind: isOwing(ended, limits) ? "at" : "ended-badly", atMs: nowMs } };
}

/**
 * Moves the outputs that are committed already from the row to a page, when the row would outgrow its write unit. A page holds
 * committed outputs only, so whoever wrote it first is right: a refused page is read, and what it holds leaves the row.
 */
async function spilled(engine: Engine, previous: Run, next: Run): Promise<Run> {
  if (next.tiny.length === 0 || !isLive(next)) return next;
  const { retentionMs } = engine.limits;
  const bytes = itemBytes(storedState(next, retentionMs)) + commitIdBytes(next);
  if (bytes <= fixed.rowBytesOneUnit) return next;
  const bare = itemBytes(storedState({ ...next, tiny: [] }, retentionMs)) + commitIdBytes(next);
  if (bare > fixed.rowBytesOneUnit - roomMin && bytes <= fixed.rowBytesMax) return next;
  const committed = previous.tiny.filter((output) => next.tiny.includes(output));
  if (committed.length === 0) return next;
  const page = writeTiny({ tiny: committed, createdAtMs: next.createdAtMs });
  const key = payloadKey(next, sk.page(next.runUid, next.pages));
  const fields = {
    [payloadAttributes.runUid]: next.runUid,
    [payloadAttributes.bytes]: page,
    [payloadAttributes.expiresAtS]: expiresAtS(next, retentionMs),
  };
  const written = await engine.store.write(putPayload(key, fields));
  if (written.kind === "unclear")
    throw new Fault("unavailable", `a page may not have been stored: ${written.fault.message}`);
  const stored = written.kind === "refused" ? written.now[payloadAttributes.bytes] : page;
  const onPage = new Set(stored instanceof Uint8Array ? readTiny(stored, next.createdAtMs).map(nameOf) : []);
  return { ...next, pages: next.pages + 1, tiny: next.tiny.filter((output) => !onPage.has(nameOf(output))) };
}

/** Ids that this commit adds beyond those of the row it was made from. */
const commitIdBytes = (run: Run) => (run.commitIds.length < fixed.commitIdsKept ? 8 : 0);

/** A row without this much room for outputs may take two units: spilling for each output would cost more. */
const roomMin = 150;

const nameOf = (output: { readonly node: number; readonly attempt: number; readonly kind: string }) =>
  `${output.node}/${output.attempt}/${output.kind}`;
