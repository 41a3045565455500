import { ByteWriter, hexToBytes } from "../core/bytes.ts";
import { reasonOf } from "../core/draft.ts";
import { nextToUndo } from "../core/ending.ts";
import { Fault, type FaultCode } from "../core/faults.ts";
import { duePartition } from "../core/keys.ts";
import { owed } from "../core/owed.ts";
import { writeBody } from "../core/row-body.ts";
import { rowAttributes as a, checksumOf, decodeRun, dueFields } from "../core/row-format.ts";
import type { Run } from "../core/run.ts";
import { withToken } from "../guard/mine.ts";
import type { Edit, Fields, Write } from "../ports.ts";
import { endedAbruptly, storedCommitIds } from "./commit.ts";
import { programFor } from "./definitions.ts";
import type { Engine } from "./engine.ts";
import type { Snapshot } from "./load.ts";
import { perform } from "./perform.ts";
import { countForceFail, openForceFails } from "./records/force-fails.ts";
import { commitState, guard, stateKey } from "./records/state.ts";
import { settle } from "./tidy.ts";

/**
 * Ends a run that cannot move, with a reason, on the version that was seen: whoever moved it meanwhile saved it. Works on a row
 * that nobody can decode, but never on one of a newer format. At most `forceFailsMax` a minute over all runs: many at once are a deploy's fault, not theirs.
 */
export async function forceFail(
  engine: Engine,
  seen: Snapshot,
  code: FaultCode,
  why: string,
): Promise<"ended" | "moved" | "held"> {
  const run = tryDecode(seen);
  // a newer build wrote it, and is at work: what this one cannot read for that reason it does not write either
  if (run === "newer") return "moved";
  if (!(await isAllowed(engine))) {
    engine.metrics.count("force-fails-held");
    engine.log.write("error", "force-fail.held", {
      runId: seen.owner.runId,
      reason: why,
      next: "too many in a minute: look at the last deploy",
    });
    return "held";
  }
  const nowMs = engine.clock.nowMs();
  const reason = reasonOf({ code, message: run ? `${why}; ${waitingFor(run)}` : why });
  const commitId = engine.random.token();
  const ended = run && endedAbruptly(engine, run, reason, { isUncompensated: await leavesUndone(engine, run) });
  const write =
    run && ended
      ? endDecoded(engine, run, ended, commitId)
      : endUndecoded(engine, seen, `${reason.code} ${reason.message}`, commitId, nowMs);
  const written = await engine.store.write(write, { returns: "nothing" });
  const isMine = written.kind === "refused" && storedCommitIds(written.now).includes(commitId);
  if (written.kind !== "applied" && !isMine) return "moved";
  engine.metrics.count("force-fails");
  if (code === "livelock") engine.metrics.count("livelocks");
  engine.metrics.count("runs-ended", 1, { status: "failed", ...(run && { workflow: run.workflow }) });
  engine.log.write("error", "run.force-failed", {
    runId: seen.owner.runId,
    tenant: seen.owner.tenant,
    reason: reason.message,
    code,
  });
  if (!ended || (ended.isUncompensated && !run?.isUncompensated)) engine.metrics.count("uncompensated");
  if (run && ended) await afterwards(engine, { ...ended, recordVersion: run.recordVersion + 1 });
  return "ended";
}

async function afterwards(engine: Engine, run: Run): Promise<void> {
  const program = await programFor(engine, run.definitionHash);
  if (await perform(engine, run, program, owed(run, program, engine.clock.nowMs()))) await settle(engine, run);
}

function tryDecode(seen: Snapshot): Run | "newer" | undefined {
  try {
    return decodeRun(stateKey(seen.owner), seen.row);
  } catch (error) {
    return Fault.is(error, "newer-format") ? "newer" : undefined;
  }
}

function waitingFor(run: Run): string {
  const [first] = run.active;
  return first
    ? `it waited for node ${first.node} (${first.state}, attempt ${first.attempt}) since ${new Date(first.sinceMs).toISOString()}`
    : "it waited for nothing";
}

function endDecoded(engine: Engine, run: Run, ended: Run, commitId: string): Write {
  return commitState(run, { ...ended, commitIds: withToken(commitId, run.commitIds) }, engine.limits.retentionMs);
}

/** Whether something is left to undo; said also where nobody can tell, as what cannot be read may be the very reason. */
async function leavesUndone(engine: Engine, run: Run): Promise<boolean> {
  try {
    const program = await programFor(engine, run.definitionHash);
    return nextToUndo({ nodes: run.nodes, program }) !== undefined;
  } catch {
    return true;
  }
}

/** Ends a row that nobody can read: an empty body, so that from now on everybody can. */
function endUndecoded(engine: Engine, seen: Snapshot, reason: string, commitId: string, nowMs: number): Write {
  const { owner, row } = seen;
  const hasParent = row[a.hasParent] !== undefined;
  const fields: Record<string, Fields[string]> = {
    [a.transitionSeq]: owner.seq + 1,
    [a.status]: "failed",
    [a.commitIds]: hexToBytes(commitId),
    [a.body]: emptyBody(),
    [a.reason]: reason,
    [a.endedAtMs]: nowMs,
    ...(hasParent || engine.limits.isPublishing
      ? { [a.duePartition]: duePartition.live(owner.runUid), [a.dueAtMs]: nowMs }
      : dueFields({ ...owner, due: { kind: "ended-badly", atMs: nowMs } })),
    [a.expiresAtS]: Math.ceil((nowMs + engine.limits.retentionMs) / 1000),
  };
  const kept = Object.fromEntries(
    [a.runUid, a.hashes, a.runsPartition, a.createdAtMs].flatMap((name) =>
      row[name] === undefined ? [] : [[name, row[name]]],
    ),
  );
  fields[a.checksum] = checksumOf({ ...kept, ...fields });
  return {
    kind: "edit",
    key: stateKey(owner),
    edits: [
      { kind: "add", path: [a.recordVersion], by: 1 },
      ...Object.entries(fields).map(([name, value]): Edit => ({ kind: "set", path: [name], value })),
      ...[a.live, a.nodes, a.tiny].map((name): Edit => ({ kind: "remove", path: [name] })),
    ],
    when: guard(owner),
  };
}

function emptyBody(): Uint8Array {
  const out = new ByteWriter();
  writeBody(out, {
    phase: "failed",
    isPaused: false,
    isParked: false,
    isUncompensated: true,
    ending: undefined,
    tier: "standard",
    deadlineAtMs: 0,
    createdAtMs: 0,
    mail: { signals: 0, mask: 0, commands: 0 },
    pages: 0,
    attempts: 0,
    children: 0,
    depth: 0,
    active: [],
    maps: [],
    facts: new Map(),
  });
  return out.done();
}

/** Counted by one atomic statement; whoever comes second to open a minute counts in it like everybody else. */
async function isAllowed(engine: Engine): Promise<boolean> {
  const nowMs = engine.clock.nowMs();
  const count = async () => (await engine.store.write(countForceFail(nowMs, engine.limits.forceFailsMax))).kind;
  const counted = await count();
  if (counted === "applied" || counted === "refused") return counted === "applied";
  const opened = await engine.store.write(openForceFails(nowMs));
  return opened.kind === "applied" || (await count()) === "applied";
}
