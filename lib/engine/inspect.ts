import { decodeRun } from "../core/row-format.ts";
import { isLive, isSettled, type Run, statusOf } from "../core/run.ts";
import type { Engine, RunRef } from "./engine.ts";
import { snapshot } from "./load.ts";
import { stateKey } from "./records/state.ts";

/** A run's row as it stands, or nothing. */
export async function findRun(engine: Engine, ref: RunRef): Promise<Run | undefined> {
  const seen = await snapshot(engine, ref);
  return seen && decodeRun(stateKey(ref), seen.row);
}

export { isLive, isSettled, statusOf };
