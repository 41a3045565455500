import { attemptFrom } from "../core/attempt-format.ts";
import { Fault } from "../core/faults.ts";
import type { Attempt, Ending, Inputs } from "../core/inputs.ts";
import { attemptName } from "../core/keys.ts";
import type { Run } from "../core/run.ts";
import { type Ticked, tick } from "../core/tick.ts";
import type { Engine } from "./engine.ts";
import type { Loaded } from "./load.ts";
import { closeAttempt } from "./records/attempt.ts";

export type Closed = Extract<Ticked, { kind: "next" }> & { readonly inputs: Inputs };

/**
 * Ticks, and while the tick cannot go on without the end of an attempt, ends it: one write-once outcome each, read back who won,
 * tick again. Whoever won, the tick goes by the record. Bounded by what can be in flight.
 */
export async function tickAndClose(
  engine: Engine,
  loaded: Pick<Loaded, "run" | "program">,
  inputs: Inputs,
  nowMs: number,
): Promise<Closed> {
  let known = inputs;
  for (let round = 0; round < 100; round++) {
    const ticked = tick(loaded.run, loaded.program, known, nowMs, engine.limits);
    engine.metrics.count("ticks");
    if (ticked.kind === "next") return { ...ticked, inputs: known };
    const ended = await Promise.all(ticked.endings.map((ending) => end(engine, loaded.run, ending, nowMs)));
    const attempts = new Map(known.attempts);
    for (const attempt of ended) attempts.set(attemptName(attempt.node, attempt.index, attempt.attempt), attempt);
    known = { ...known, attempts };
  }
  throw new Fault("bad-row", "the tick asks for the same ends again and again");
}

/** Ends one attempt, or learns how somebody else did. */
async function end(engine: Engine, run: Run, ending: Ending, nowMs: number): Promise<Attempt> {
  const by = engine.random.token();
  const write = closeAttempt(run, ending, { by, nowMs, retentionMs: engine.limits.retentionMs });
  const written = await engine.store.write(write, { returns: "all" });
  if (written.kind === "unclear")
    throw new Fault("unavailable", `an attempt may not have been closed: ${written.fault.message}`);
  if (written.kind !== "absent" && written.now) return attemptFrom(ending, written.now);
  const [record] = await engine.store.read([write.key], { isConsistent: true });
  if (!record) throw new Fault("unavailable", `attempt ${write.key.sk} is gone`);
  return attemptFrom(ending, record);
}
