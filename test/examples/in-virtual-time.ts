import { join } from "node:path";
import { act, isTimeFor } from "../../examples/demo/act.ts";
import { type PlannedRun, readRunFile } from "../../examples/demo/run-file.ts";
import { registry } from "../../examples/registry.ts";
import { sandbox } from "../../examples/sandbox.ts";
import { isSettled } from "../../lib/core/run.ts";
import { findRun } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import { createWorld, type World } from "../../lib/testing/world.ts";

export const runsOf = (example: string): Promise<readonly PlannedRun[]> =>
  readRunFile(join(import.meta.dirname, "..", "..", "examples", example, "runs.json"));

/** The examples with their real periods, weeks of them in a moment. A worker that crashes never answers again. */
export function createExampleWorld(seed: string): World {
  const world = createWorld({ registry, seed, functionMs: 60_000, watchEveryMs: 900_000 });
  sandbox.crash = () => new Promise(() => {});
  sandbox.pause = (ms) => world.clock.sleep(ms);
  return world;
}

/** Runs what a file plans, and does to it what the file says, until it owes nothing more. Gives what went wrong on the way. */
export async function play(world: World, planned: PlannedRun): Promise<readonly string[]> {
  const ref = { tenant: "default", runId: planned.runId };
  await start(world.engine, planned);
  const troubles: string[] = [];
  const waiting = [...planned.do];
  for (;;) {
    const run = await findRun(world.engine, ref);
    if (!run) throw new Error(`${planned.runId} is gone`);
    const [action] = waiting;
    if (action && (await isTimeFor(world.engine, action, run))) {
      await world.advance(action.afterMs);
      troubles.push(...[await act(world.engine, ref, action)].filter((trouble) => trouble !== undefined));
      waiting.shift();
    } else if (isSettled(run)) break;
    else await oneStep(world);
  }
  return [...troubles, ...waiting.map(() => "an action that never found its moment")];
}

async function oneStep(world: World): Promise<void> {
  let calls = 0;
  await world.until(() => calls++ > 0);
}
