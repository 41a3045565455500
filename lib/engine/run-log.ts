import type { FaultData } from "../core/faults.ts";
import { type Run, statusOf } from "../core/run.ts";
import type { Engine } from "./engine.ts";

/**
 * Whether the commits of a run are logged: by its uid alone, so a run that is sampled is sampled whole, in every process. `share` is in
 * 0 to 1.
 */
export function isSampled(runUid: string, share: number): boolean {
  return Number.parseInt(runUid.slice(0, 8), 16) / 2 ** 32 < share;
}

/**
 * A commit, at `info` for the runs that are sampled and at `debug` for all others, and every run's end. Never what a run holds: ids,
 * numbers, and the words of its reason.
 */
export function logCommit(engine: Engine, run: Run, isEnd: boolean): void {
  const { runId, runUid, tenant, workflow, recordVersion, transitionSeq, reason } = run;
  const common = { runId, runUid, tenant, workflow, status: statusOf(run) };
  const level = isSampled(runUid, engine.limits.commitLogShare) ? "info" : "debug";
  engine.log.write(level, "run.committed", { ...common, version: recordVersion, transitionSeq });
  if (isEnd) engine.log.write("info", "run.ended", { ...common, ...(reason && wordsOf(reason)) });
}

/** A node that parked: its run may be ending, and its reason then says why, and not this. */
export function logParked(engine: Engine, run: Run, of: Of, fault: FaultData): void {
  engine.log.write("warn", "node.parked", { ...whoOf(run, of), ...wordsOf(fault) });
}

/** An attempt that did not succeed. The message is that of the handler's error, in its author's words, cut as it is stored. */
export function logFailedAttempt(engine: Engine, run: Run, of: Of, fault: FaultData): void {
  engine.log.write("warn", "attempt.failed", { ...whoOf(run, of), ...wordsOf(fault) });
}

interface Of {
  readonly node: string;
  readonly index: number;
  readonly attempt: number;
}

const whoOf = ({ runId, runUid, tenant, workflow }: Run, { node, index, attempt }: Of) => ({
  runId,
  runUid,
  tenant,
  workflow,
  node,
  index,
  attempt,
});

/** A schema library quotes the value that did not fit: then the code has to do, and the record has the rest. */
const wordsOf = ({ code, message }: FaultData) =>
  code === "bad-output" || code === "bad-input" ? { code } : { code, reason: message };
