import { partitionOf, sk } from "../../lib/core/keys.ts";
import { decodeRun } from "../../lib/core/row-format.ts";
import { isSettled, type Run, statusOf } from "../../lib/core/run.ts";
import type { Engine, RunRef } from "../../lib/engine/engine.ts";
import { start } from "../../lib/engine/start.ts";
import { act, isTimeFor } from "./act.ts";
import type { PlannedRun } from "./run-file.ts";

/** A planned run on its way. */
export interface Driven {
  readonly planned: PlannedRun;
  readonly ref: RunRef;
  run: Run | undefined;
  /** Actions done so far, and since when the next one's time has come. */
  done: number;
  ripeAtMs: number | undefined;
  isActing: boolean;
  /** What went otherwise than the input file says. */
  readonly troubles: string[];
}

export interface DriveOptions {
  /** Starts runs and acts on them: its requests are metered as a user's would be. */
  readonly engine: Engine;
  /** Only looks. */
  readonly watcher: Engine;
  readonly onLook: (runs: readonly Driven[]) => void;
  readonly pollMs: number;
  /** After so long it gives up waiting. */
  readonly limitMs: number;
}

/** Starts all runs, does to them what their files say, and waits until every one has ended and owes nothing more. */
export async function drive(planned: readonly PlannedRun[], options: DriveOptions): Promise<readonly Driven[]> {
  const { engine, watcher, onLook, pollMs, limitMs } = options;
  const runs = planned.map((each) => drivenOf(each));
  const starting = startAll(engine, runs);
  const endsAtMs = engine.clock.nowMs() + limitMs;
  const pending = new Set<Promise<void>>();
  for (;;) {
    await look(watcher, runs);
    onLook(runs);
    if (runs.every(({ run, troubles }) => (run ? isSettled(run) : troubles.length > 0))) break;
    if (engine.clock.nowMs() > endsAtMs) break;
    for (const each of runs) {
      const acting = maybeAct(engine, watcher, each).finally(() => pending.delete(acting));
      pending.add(acting);
    }
    await engine.clock.sleep(pollMs);
  }
  await Promise.all([starting, ...pending]);
  for (const {
    planned: { do: actions },
    done,
    troubles,
  } of runs)
    if (done < actions.length) troubles.push(`only ${done} of ${actions.length} actions found their moment`);
  return runs;
}

function drivenOf(planned: PlannedRun): Driven {
  const ref = { tenant: "default", runId: planned.runId };
  return { planned, ref, run: undefined, done: 0, ripeAtMs: undefined, isActing: false, troubles: [] };
}

/** A few at a time: as many customers as come at once. */
async function startAll(engine: Engine, runs: readonly Driven[]): Promise<void> {
  const waiting = [...runs];
  const next = async (): Promise<void> => {
    for (let each = waiting.shift(); each; each = waiting.shift()) {
      const { workflow, runId, input } = each.planned;
      await start(engine, { workflow, runId, input }).catch((error: Error) =>
        each?.troubles.push(`not started: ${error.message}`),
      );
    }
  };
  await Promise.all(Array.from({ length: 4 }, next));
}

/** Reads the rows of all that have not ended, with one request. */
async function look(engine: Engine, runs: readonly Driven[]): Promise<void> {
  const open = runs.filter(({ run }) => !run || !isSettled(run));
  const keys = open.map(({ ref }) => ({ pk: partitionOf(ref.tenant, ref.runId), sk: sk.state }));
  const rows = await engine.store.read(keys, { isConsistent: true });
  open.forEach((each, at) => {
    const row = rows[at];
    if (row) each.run = decodeRun(keys[at] as { pk: string }, row);
  });
}

async function maybeAct(engine: Engine, watcher: Engine, each: Driven): Promise<void> {
  const action = each.planned.do[each.done];
  if (!action || !each.run || each.isActing) return;
  each.isActing = true;
  const nowMs = engine.clock.nowMs();
  if (each.ripeAtMs === undefined && (await isTimeFor(watcher, action, each.run)))
    each.ripeAtMs = nowMs + action.afterMs;
  if (each.ripeAtMs !== undefined && nowMs >= each.ripeAtMs) {
    const trouble = await act(engine, each.ref, action);
    if (trouble !== undefined) each.troubles.push(trouble);
    each.done += 1;
    each.ripeAtMs = undefined;
  }
  each.isActing = false;
}

/** How many runs of a workflow have which status. */
export function countsOf(runs: readonly Driven[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { run } of runs) {
    const status = run ? statusOf(run) : "waiting";
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
