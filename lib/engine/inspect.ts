import { attemptNameFromSk } from "../core/attempt-format.ts";
import type { Evaluated } from "../core/expression.ts";
import { sk } from "../core/keys.ts";
import type { Program } from "../core/program.ts";
import { decodeRun } from "../core/row-format.ts";
import type { Run } from "../core/run.ts";
import { type RunTimeline, timelineOf } from "../core/timeline.ts";
import { childRunId } from "./child-id.ts";
import type { Engine, RunRef } from "./engine.ts";
import { listAll } from "./list-all.ts";
import { loadRun, snapshot } from "./load.ts";
import { stateKey } from "./records/state.ts";
import { readerOf, readPages, readRunOutput } from "./resolve.ts";

/** A run's row as it stands, or nothing. */
export async function findRun(engine: Engine, ref: RunRef): Promise<Run | undefined> {
  const seen = await snapshot(engine, ref);
  return seen && decodeRun(stateKey(ref), seen.row);
}

/** A run with what it yields: an output only if it succeeded. Throws `run-not-found`. */
export async function readResult(
  engine: Engine,
  ref: RunRef,
): Promise<{ readonly run: Run; readonly program: Program; readonly output: Evaluated | undefined }> {
  const { run, program } = await loadRun(engine, ref);
  const output = run.phase === "succeeded" ? await readRunOutput(readerOf(engine, run, program)) : undefined;
  return { run, program, output };
}

/**
 * What a run has done and what it waits for, from its row, its attempts' records and the pages spilled from the row. Reads all
 * attempts: a wide map's are many. Nothing of it is kept for the purpose, so it can be asked of any run. Throws `run-not-found`.
 */
export async function timeline(engine: Engine, ref: RunRef): Promise<RunTimeline> {
  const { run, program } = await loadRun(engine, ref);
  const items = await listAll(engine, run, sk.attemptsOf(run.runUid));
  const records = items.flatMap((fields) => {
    const name = attemptNameFromSk(fields.sk);
    return name ? [{ ...name, fields }] : [];
  });
  const tiny = [...(run.pages > 0 ? await readPages(engine, run) : []), ...run.tiny];
  return timelineOf({
    run,
    program,
    records,
    tiny,
    nowMs: engine.clock.nowMs(),
    childRunId: (id) => childRunId(run, id),
  });
}
