import { Fault } from "../core/faults.ts";
import { neighbourPrefixes, sk } from "../core/keys.ts";
import { owed } from "../core/owed.ts";
import type { Program } from "../core/program.ts";
import { isLive, isSettled, type Run } from "../core/run.ts";
import { isWide } from "../core/slices.ts";
import type { Key } from "../ports.ts";
import type { Engine, RunRef } from "./engine.ts";
import { listAll } from "./list-all.ts";
import { loadRun } from "./load.ts";
import { perform } from "./perform.ts";
import { mailKey } from "./records/mail.ts";
import { deleteNeighbour } from "./records/payload.ts";
import { purgeState } from "./records/state.ts";
import { strikesKey } from "./records/strikes.ts";
import { endedSlices, type RunName } from "./slice-records.ts";

/**
 * Deletes a terminal run and all that it left, payloads included, the row last: a purge that is interrupted is called again.
 * Throws `run-not-found`, `run-live`.
 */
export async function purge(engine: Engine, ref: RunRef): Promise<{ readonly deleted: number }> {
  const { run, program } = await loadRun(engine, ref);
  if (isLive(run)) throw new Fault("run-live", `run "${ref.runId}" is ${run.phase}`, { status: run.phase });
  // nothing shows any more what a run owes when its row is gone
  if (!isSettled(run) && !(await perform(engine, run, program, owed(run, program, engine.clock.nowMs()))))
    throw new Fault("unavailable", `run "${ref.runId}" has an event to publish first: call purge again`);
  let deleted = await purgeSlices(engine, run, program);
  deleted += await purgeNeighbours(engine, run);
  for (const key of [mailKey(run), strikesKey(run)]) await remove(engine, key);
  const written = await engine.store.write(purgeState(run));
  if (written.kind === "unclear")
    throw new Fault("unavailable", `${sk.state} may not have been deleted: call purge again`);
  return { deleted: deleted + 1 };
}

async function purgeNeighbours(engine: Engine, run: RunName): Promise<number> {
  await engine.payloads.remove(`${run.tenant}/${run.runId}/${run.runUid}/`);
  let deleted = 0;
  for (const prefix of neighbourPrefixes(run.runUid)) {
    for (const item of await listAll(engine, run, prefix)) {
      await remove(engine, { pk: item.pk, sk: item.sk });
      deleted += 1;
    }
  }
  return deleted;
}

/** While the row is there a purge is called again; without it nobody finds what stayed beside it. So no answer is no deletion. */
async function remove(engine: Engine, key: Key): Promise<void> {
  const written = await engine.store.write(deleteNeighbour(key));
  if (written.kind === "unclear")
    throw new Fault("unavailable", `${key.sk} may not have been deleted: call purge again`);
}

/** The slices of wide maps go with the run that they are cut from: nobody else knows them. */
async function purgeSlices(engine: Engine, run: Run, program: Program): Promise<number> {
  let deleted = 0;
  for (const node of program.nodes) {
    if (!isWide(node.def)) continue;
    for (const { owner } of await endedSlices({ engine, run }, node)) {
      if (!owner) continue;
      try {
        deleted += (await purge(engine, owner.run)).deleted;
      } catch (error) {
        // its row is gone, by an earlier call or as it expired: what stood beside it may still be there
        if (!Fault.is(error, "run-not-found")) throw error;
        deleted += await purgeNeighbours(engine, owner.run);
      }
    }
  }
  return deleted;
}
