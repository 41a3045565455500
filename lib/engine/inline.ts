import type { Held, HeldResult, Inputs } from "../core/inputs.ts";
import type { Json } from "../core/json.ts";
import { isInline, nodeAt, type Program, stepBodyOf } from "../core/program.ts";
import type { Active, Run } from "../core/run.ts";
import { tick } from "../core/tick.ts";
import { type Advanced, advance } from "./advance.ts";
import { attempt, type Ran } from "./attempt.ts";
import type { Engine } from "./engine.ts";
import { inputsOf, type Loaded } from "./load.ts";
import type { Processing } from "./processing.ts";
import { logFailedAttempt } from "./run-log.ts";

/** Repeatable steps that may share one commit. */
const sharedMax = 25;

export interface Chain {
  readonly group: string;
  /** The row as just read, and the dispatched inline attempt to take; or only a token, after a recorded attempt. */
  readonly loaded?: Loaded;
  readonly claim?: Active;
  readonly token?: string;
}

/**
 * Ticks with the right to hold inline steps, and runs them one after the other: each commit says "k is done, k+1 is running", so
 * a step costs one write and no hop. The holder knows itself by its token on the row. Near the function's end it takes no more:
 * that commit dispatches the next step as a task.
 */
export async function runInline(engine: Engine, processing: Processing, chain: Chain): Promise<Advanced> {
  const token = chain.token ?? engine.random.token();
  const known = new Map<number, Json>();
  const held = (results: readonly HeldResult[]): Held => ({
    token,
    group: chain.group,
    untilMs: engine.clock.nowMs() + processing.remaining() - engine.limits.reserveMs,
    results,
    ...(chain.claim && { claim: chain.claim }),
  });
  let parks: Inputs["parks"] = [];
  let results: readonly HeldResult[] = [];
  let base = chain.loaded;
  for (;;) {
    const advanced = await advance(engine, processing, { held: held(results), parks }, base);
    if (advanced.kind !== "done") return advanced;
    base = advanced.loaded;
    [results, parks] = [[], []];
    const mine = heldBy(base.run, token);
    if (!mine) return advanced;
    const shared = await runShared(engine, processing, base, mine, { token, known, held });
    results = shared.results;
    parks = shared.parks;
    // a step that takes longer than its function has left: nothing came of it that could be committed
    if (results.length === 0 && parks.length === 0) return advanced;
  }
}

const heldBy = (run: Run, token: string) => run.active.find((entry) => entry.state === "held" && entry.token === token);

interface Holder {
  readonly token: string;
  readonly known: Map<number, Json>;
  readonly held: (results: readonly HeldResult[]) => Held;
}

/** Runs the held step, and after a repeatable one its repeatable successors, before they are committed together. */
async function runShared(
  engine: Engine,
  processing: Processing,
  base: Loaded,
  first: Active,
  holder: Holder,
): Promise<{ readonly results: readonly HeldResult[]; readonly parks: Inputs["parks"] }> {
  const results: HeldResult[] = [];
  let run = base.run;
  let entry: Active | undefined = first;
  while (entry) {
    const ran = await runHeld(engine, processing, { run, program: base.program }, entry, holder);
    if (ran.kind === "park")
      return {
        results,
        parks:
          results.length === 0
            ? [{ node: entry.node, index: entry.index, attempt: entry.attempt, fault: ran.fault }]
            : [],
      };
    results.push(ran.result);
    if (!isRepeatable(base.program, entry) || results.length >= sharedMax || ran.result.outcome.kind !== "ok") break;
    const ahead = tick(
      base.run,
      base.program,
      await inputsOf(engine, base, { parks: [], isUnpark: false, held: holder.held(results) }),
      engine.clock.nowMs(),
      engine.limits,
    );
    if (ahead.kind !== "next") break;
    run = ahead.run;
    entry = heldBy(run, holder.token);
    // only as far as the lease on the row reaches: until then nobody closes what runs
    if (
      entry &&
      (!isRepeatable(base.program, entry) || engine.clock.nowMs() + timeoutOf(base.program, entry) > first.untilMs)
    )
      break;
  }
  return { results, parks: [] };
}

const isRepeatable = (program: Program, entry: Active) =>
  stepBodyOf(nodeAt(program, entry.node).def)?.isRepeatable === true;

const timeoutOf = (program: Program, entry: Active) => stepBodyOf(nodeAt(program, entry.node).def)?.timeoutMs ?? 0;

async function runHeld(
  engine: Engine,
  processing: Processing,
  loaded: Pick<Loaded, "run" | "program">,
  entry: Active,
  holder: Holder,
) {
  const node = nodeAt(loaded.program, entry.node);
  if (!isInline(node.def)) throw new RangeError(`${node.def.name} is not inline`);
  const prepared = await attempt(engine, loaded, node, entry, holder.known);
  if (prepared.kind === "park") return prepared;
  const startedAtMs = engine.clock.nowMs();
  const ran = await prepared.run({
    token: attemptToken(engine),
    leaseUntilMs: entry.untilMs,
    remaining: processing.remaining,
    isInline: true,
  });
  if (ran.value !== undefined) holder.known.set(entry.node, ran.value);
  engine.metrics.count("attempts-ended", 1, { group: node.def.group, outcome: ran.outcome?.kind ?? "begun" });
  const endedAtMs = engine.clock.nowMs();
  engine.metrics.count("attempt-ms", endedAtMs - startedAtMs, { group: node.def.group });
  if (ran.outcome?.kind === "failed")
    logFailedAttempt(engine, loaded.run, { ...entry, node: node.def.name }, ran.outcome.fault);
  return { kind: "ran" as const, result: resultOf(entry, ran, startedAtMs, endedAtMs) };
}

/** Names an output beside the row: one of its own for every attempt, as a token may hold many. */
const attemptToken = (engine: Engine) => engine.random.token();

function resultOf(entry: Active, ran: Ran, startedAtMs: number, endedAtMs: number): HeldResult {
  const common = { node: entry.node, index: entry.index, attempt: entry.attempt, startedAtMs, endedAtMs };
  const { outcome, output } = ran;
  if (!outcome) throw new RangeError("an inline step ends where it runs");
  if (outcome.kind !== "ok") return { ...common, outcome };
  const kept =
    output?.kind === "payload"
      ? { kind: "payload" as const, text: output.token }
      : { kind: "value" as const, text: output?.text ?? "null" };
  return { ...common, outcome: { kind: "ok", facts: outcome.facts, output: kept } };
}
