import { attemptAttributes as a, attemptNameFromSk } from "../../../lib/core/attempt-format.ts";
import { sk } from "../../../lib/core/keys.ts";
import type { Engine, RunRef } from "../../../lib/engine/engine.ts";
import { findRun } from "../../../lib/engine/inspect.ts";
import { listAll } from "../../../lib/engine/list-all.ts";

/** Claims of one node and item that were valid at the same time, and leases that were closed before they were over. */
export async function overlapsOf(engine: Engine, ref: RunRef): Promise<readonly string[]> {
  const run = await findRun(engine, ref);
  if (!run) return [`${ref.runId}: gone`];
  const found: string[] = [];
  const lastEnds = new Map<string, number>();
  for (const record of await listAll(engine, run, sk.attemptsOf(run.runUid))) {
    const name = attemptNameFromSk(record.sk);
    if (!name || record[a.token] === undefined) continue;
    const at = `${ref.runId}: node ${name.node}, item ${name.index}, attempt ${name.attempt}`;
    const [startedAtMs, endedAtMs, leaseMs] = [a.startedAtMs, a.endedAtMs, a.leaseUntilMs].map((key) =>
      Number(record[key]),
    );
    const place = `${name.node}/${name.index}`;
    if ((startedAtMs ?? 0) < (lastEnds.get(place) ?? 0)) found.push(`${at} was claimed while the one before it held`);
    if (record[a.outcome] === "lost" && (endedAtMs ?? 0) < (leaseMs ?? 0))
      found.push(`${at} was closed within its lease`);
    lastEnds.set(place, Number.isNaN(endedAtMs) ? (leaseMs ?? 0) : (endedAtMs ?? 0));
  }
  return found;
}
