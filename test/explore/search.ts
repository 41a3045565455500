import { defaultLimits } from "../../lib/core/limits.ts";
import { start } from "../../lib/engine/start.ts";
import { watch } from "../../lib/engine/watch.ts";
import { rawRegistry } from "../engine/raw.ts";
import { adder } from "../sim/flows.ts";
import { brokenBy } from "./checks.ts";
import { type Made, type Move, movesOf, type Stage } from "./moves.ts";
import { createProcesses, type Invocation } from "./process.ts";
import { runOf } from "./records.ts";
import { wrongAtRest } from "./rest.ts";
import type { Scope } from "./scope.ts";
import { serve } from "./serve.ts";
import { createContents, keyOf, noFaults, type State } from "./state.ts";

/** How a scope is searched. */
export interface SearchOptions {
  /** `depth`: one way to its end, then the next. `breadth`: the shortest way to a violation first. */
  readonly order?: "depth" | "breadth";
  /** Moves on one way at most. */
  readonly depthMax?: number;
  /** States at most: what is beyond is counted, and not explored. */
  readonly statesMax?: number;
  readonly secondsMax?: number;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly states: number;
  readonly moves: number;
  readonly open: number;
}

export interface Explored {
  readonly scope: string;
  /** Distinct states. */
  readonly states: number;
  /** Moves made. */
  readonly moves: number;
  /** Moves that led to a state that was known. */
  readonly pruned: number;
  /** States where nothing can happen any more. */
  readonly ends: number;
  /** Of these, the distinct ones by what they came to: statuses. */
  readonly outcomes: readonly string[];
  /** The longest way, in moves. */
  readonly longest: number;
  /** Distinct points at which processes stood, and how often the real code was run from its beginning. */
  readonly positions: number;
  readonly executions: number;
  /** Ways that were cut, as a bound was reached: not exhaustive if there are any. */
  readonly cut: number;
  readonly seconds: number;
  readonly violation: Violation | undefined;
}

export interface Violation {
  readonly what: readonly string[];
  /** The numbers of the moves that lead there. */
  readonly replay: string;
  readonly trace: readonly string[];
}

/** The way to a state, backwards. */
interface Way {
  readonly choice: number;
  readonly length: number;
  readonly before: Way | undefined;
}
type Open = { readonly state: State; readonly way: Way | undefined };

/** The longest way to rest in any scope takes half of these moves: who takes more goes round in circles. */
const restMovesMax = 250;

const startMs = 1_800_000_000_000;
const spanMs = 5 * 3_600_000;

/** Everything in its place, and the run started: where a scope begins. */
async function opened(scope: Scope): Promise<{ readonly stage: Stage; readonly state: State }> {
  const registry = rawRegistry(scope.definitions);
  const processes = createProcesses({
    workflows: scope.definitions.flatMap(({ workflow }) => registry.workflow(workflow) ?? []),
    handler:
      scope.handler ??
      (async (input, context, effect) => {
        await effect();
        return await adder(input as never, context);
      }),
    limits: { ...defaultLimits, ...scope.limits },
    lacks: scope.lacks,
  });
  const stage: Stage = { scope, contents: createContents(), processes, startMs, endMs: startMs + spanMs };
  const { definitions, outside = [] } = scope;
  let state: State = {
    nowMs: startMs,
    records: [],
    previous: [],
    messages: [],
    running: [],
    left: noFaults,
    answers: outside.map(() => undefined),
    isBegun: outside.map(() => false),
    effects: [],
    taken: new Map(),
    watchedAtMs: startMs,
  };
  const endAtMs = startMs + spanMs;
  const isOld = scope.lacks !== undefined;
  const begin: Invocation["begin"] = (engine) => watch(engine, () => spanMs);
  state = await alone(stage, state, { name: "first-watch", endAtMs, isOld, begin });
  const workflow = definitions[0]?.workflow ?? "";
  const input = scope.input ?? { n: 1 };
  const runIds = scope.isStartedLater ? [] : ["r", ...Object.keys(scope.others ?? {})];
  for (const runId of runIds)
    state = await alone(stage, state, {
      name: `start${runId === "r" ? "" : ` ${runId}`}`,
      endAtMs,
      begin: (engine) => start(engine, { workflow, runId, input }),
    });
  const rows = state.records.map((id) => stage.contents.of(id)).filter(({ key }) => key.sk === "STATE");
  const [runUid, ...others] = runIds.flatMap((id) => rows.map(runOf).find(({ runId }) => runId === id)?.runUid ?? []);
  const messages = runUid === undefined ? [] : (scope.messages?.(runUid, ...others) ?? []);
  state = serve(stage.contents, state, { op: "send", messages }, "well").state;
  return { stage, state: { ...state, left: { ...noFaults, ...scope.faults } } };
}

/** A process that nobody disturbs. */
async function alone(stage: Stage, from: State, invocation: Invocation): Promise<State> {
  let state = from;
  let position = await stage.processes.begin(invocation, state.nowMs);
  while (!position.result) {
    const [waiting] = position.waiting;
    if (!waiting) throw new Error(`${invocation.name} waits for nothing`);
    const served = serve(stage.contents, state, waiting.call, "well");
    state = served.state;
    position = await stage.processes.step(position, waiting.number, served.answer, state.nowMs);
  }
  if (position.result.kind === "threw") throw position.result.error;
  return state;
}

/** Explores a scope until nothing is left of it, a bound is reached, or something is wrong. */
export async function explore(scope: Scope, options: SearchOptions = {}): Promise<Explored> {
  const { depthMax = 400, statesMax = 5_000_000, secondsMax = 3600, order = "depth" } = options;
  const began = performance.now();
  const secondsOf = () => (performance.now() - began) / 1000;
  const { stage, state: first } = await opened(scope);
  const seen = new Set<number>([keyOf(first)]);
  const frontier = createFrontier(order);
  frontier.add({ state: first, way: undefined });
  const counts = { moves: 0, pruned: 0, ends: 0, longest: 0, cut: 0 };
  const outcomes = new Set<string>();
  const told = async (what: readonly string[] = [], way?: Way): Promise<Explored> => ({
    scope: scope.name,
    states: seen.size,
    ...counts,
    outcomes: [...outcomes].sort(),
    positions: stage.processes.positions,
    executions: stage.processes.executions,
    seconds: secondsOf(),
    violation: what.length > 0 ? await violationOf(scope, what, way) : undefined,
  });
  let turn = 0;
  for (let next = frontier.take(); next; next = frontier.take()) {
    const { state, way } = next;
    const length = way?.length ?? 0;
    turn += 1;
    if (turn % 5000 === 0) options.onProgress?.({ states: seen.size, moves: counts.moves, open: frontier.size });
    counts.longest = Math.max(counts.longest, length);
    const moves = movesOf(stage, state);
    if (moves.length === 0) {
      counts.ends += 1;
      outcomes.add(phaseOf(stage, state));
      const wrong = await restingIn(stage, state);
      if (wrong.length > 0) return await told(wrong, way);
      continue;
    }
    if (length >= restMovesMax) return await told([`nothing has come to rest after ${length} moves`], way);
    if (length >= depthMax || seen.size >= statesMax || secondsOf() > secondsMax) {
      counts.cut += 1;
      continue;
    }
    for (const [choice, move] of moves.entries()) {
      const further: Way = { choice, length: length + 1, before: way };
      counts.moves += 1;
      let made: Made;
      try {
        const making = move.make();
        made = making instanceof Promise ? await making : making;
        const wrong = brokenBy(stage, made);
        if (wrong.length > 0) return await told(wrong, further);
      } catch (error) {
        return await told([unreadable(error)], further);
      }
      const key = keyOf(made.state);
      if (seen.has(key)) counts.pruned += 1;
      else {
        seen.add(key);
        frontier.add({ state: made.state, way: further });
      }
    }
  }
  return await told();
}

/** A record that the checks cannot read, or a process that is no function of its answers. */
const unreadable = (error: unknown) => `what it leads to cannot be looked at: ${String(error)}`;

async function restingIn(stage: Stage, state: State): Promise<readonly string[]> {
  try {
    return await wrongAtRest(stage, state);
  } catch (error) {
    return [unreadable(error)];
  }
}

/** What is still to be looked at: the latest first, or the earliest. */
function createFrontier(order: "depth" | "breadth") {
  let open: Open[] = [];
  let taken = 0;
  return {
    get size() {
      return open.length - taken;
    },
    add: (one: Open) => void open.push(one),
    take(): Open | undefined {
      if (order === "depth") return open.pop();
      if (taken >= 10_000) {
        open = open.slice(taken);
        taken = 0;
      }
      const one = open[taken];
      if (one) taken += 1;
      return one;
    },
  };
}

function phaseOf(stage: Stage, state: State): string {
  const row = state.records
    .map((id) => stage.contents.of(id))
    .find(({ key }) => key.pk === refPk && key.sk === "STATE");
  return row ? runOf(row).phase : "missing";
}

const refPk = "default#r";

async function violationOf(scope: Scope, what: readonly string[], way: Way | undefined): Promise<Violation> {
  const choices: number[] = [];
  for (let step = way; step; step = step.before) choices.unshift(step.choice);
  const replay = choices.join(".");
  return { what, replay, trace: (await replayed(scope, replay)).trace };
}

/** The way that these numbers name, told in words, and what is wrong at its end. */
export async function replayed(
  scope: Scope,
  replay: string,
): Promise<{ readonly trace: readonly string[]; readonly wrong: readonly string[]; readonly state: State }> {
  const { stage, state: first } = await opened(scope);
  let state = first;
  const trace: string[] = [];
  let wrong: readonly string[] = [];
  for (const choice of replay === "" ? [] : replay.split(".").map(Number)) {
    const move: Move | undefined = movesOf(stage, state)[choice];
    if (!move) throw new Error(`there is no move ${choice} after ${trace.length} moves of ${scope.name}`);
    try {
      const made: Made = await move.make();
      trace.push(move.label());
      state = made.state;
      wrong = brokenBy(stage, made);
    } catch (error) {
      return { trace, wrong: [unreadable(error)], state };
    }
  }
  if (wrong.length === 0 && movesOf(stage, state).length === 0) wrong = await restingIn(stage, state);
  return { trace, wrong, state };
}
