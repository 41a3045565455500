import { Fault } from "../core/faults.ts";
import { neighbourPrefixes, sk } from "../core/keys.ts";
import { isLive } from "../core/run.ts";
import type { Engine, RunRef } from "./engine.ts";
import { loadRun } from "./load.ts";
import { mailKey } from "./records/mail.ts";
import { deleteNeighbour } from "./records/payload.ts";
import { purgeState } from "./records/state.ts";
import { strikesKey } from "./records/strikes.ts";
import { listAll } from "./resolve.ts";

/**
 * Deletes a terminal run and all that it left, payloads included, the row last: a purge that is interrupted is called again.
 * Throws `run-not-found`, `run-live`.
 */
export async function purge(engine: Engine, ref: RunRef): Promise<{ readonly deleted: number }> {
  const { run } = await loadRun(engine, ref);
  if (isLive(run)) throw new Fault("run-live", `run "${ref.runId}" is ${run.phase}`, { status: run.phase });
  await engine.payloads.remove(`${run.tenant}/${run.runId}/${run.runUid}/`);
  let deleted = 0;
  for (const prefix of neighbourPrefixes(run.runUid)) {
    for (const item of await listAll(engine, run, prefix)) {
      await engine.store.write(deleteNeighbour({ pk: item.pk, sk: item.sk }));
      deleted += 1;
    }
  }
  for (const key of [mailKey(run), strikesKey(run)]) await engine.store.write(deleteNeighbour(key));
  const written = await engine.store.write(purgeState(run));
  if (written.kind === "unclear")
    throw new Fault("unavailable", `${sk.state} may not have been deleted: call purge again`);
  return { deleted: deleted + 1 };
}
