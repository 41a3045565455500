import type { GateNode, MapNode, NodeDef, RepeatNode, SignalNode } from "../../lib/core/definition.ts";
import { evaluate } from "../../lib/core/expression.ts";
import { outputOf } from "../../lib/core/facts.ts";
import { canonicalText, type Json } from "../../lib/core/json.ts";
import type { Program } from "../../lib/core/program.ts";
import type { NodeState, Run } from "../../lib/core/run.ts";
import { childRunId } from "../../lib/engine/child-id.ts";
import type { Scene } from "./checkers/checker.ts";
import { adds, yielded } from "./handlers.ts";
import { mayFailWith, mayItemFail } from "./reference-failures.ts";

/** A run that has ended, its outputs read, and what the outside did to it. */
export interface Known {
  readonly run: Run;
  readonly program: Program;
  /** Outputs as dependents see them, of what was done or failed as data. */
  readonly values: ReadonlyMap<string, Json | undefined>;
  readonly states: ReadonlyMap<string, NodeState>;
  readonly input: Json | undefined;
  readonly scene: Scene;
  childOutput(runId: string): Promise<{ readonly run: Run; readonly value: Json | undefined } | undefined>;
}

/** What is wrong with what a node came to, given what it was made of; nothing if it is one of what it may come to. */
export async function nodeFault(known: Known, def: NodeDef, position: number): Promise<string | undefined> {
  if (def.compensates !== undefined) return undefined;
  const state = known.states.get(def.name);
  const hasBeenReached = depsOf(known, position).every((name) => known.states.get(name) !== "pending");
  if (state === "pending") return known.run.phase === "succeeded" ? "the run succeeded without it" : undefined;
  const isLostRival = state === "skipped" && hasRival(known, def, "done");
  if (isLostRival) return undefined;
  if (!hasBeenReached) return "it went before what it waits for";
  const condition = def.when === undefined ? ({ ok: true, value: true } as const) : read(known, def.when);
  if (state === "skipped")
    return condition.ok && condition.value === false ? undefined : "it was skipped, and its condition holds";
  if (!condition.ok) return state === "failed" ? undefined : "its condition has a fault";
  if (condition.value !== true) return "it was not skipped, and its condition does not hold";
  if (state === "failed") return failedFault(known, def);
  if (hasRival(known, def, "done")) return "two of a group have won";
  const found = known.values.get(def.name);
  const expected = await expectedOf(known, def, position, found);
  if (expected === "any") return undefined;
  return isSame(found, outputOf(def, expected))
    ? undefined
    : `it yields ${textOf(found)}, and should ${textOf(outputOf(def, expected))}`;
}

function failedFault(known: Known, def: NodeDef): string | undefined {
  const value = known.values.get(def.name) as
    | { readonly error?: { readonly code?: string; readonly message?: string } }
    | undefined;
  if (def.onFailure !== "continue")
    return known.run.phase === "succeeded" ? "it failed, and the run succeeded" : undefined;
  // a map whose run ended before it did has no fault of its own
  if (def.kind === "map" && known.run.phase !== "succeeded") return undefined;
  const code = value?.error?.code ?? "";
  const [, failed, total] = /^(\d+) of (\d+) items failed/.exec(value?.error?.message ?? "") ?? [];
  if (def.kind === "map" && failed !== undefined && Number(failed) <= toleratedOf(def, Number(total)))
    return `it failed with ${failed} of ${total} items, and tolerates as many`;
  return mayFailWith(known.scene, def, code)
    ? undefined
    : `it failed as ${code} (${value?.error?.message}), which nothing made it`;
}

/** `any`: already held against what it can be. */
async function expectedOf(
  known: Known,
  def: NodeDef,
  position: number,
  found: Json | undefined,
): Promise<Json | undefined | "any"> {
  switch (def.kind) {
    case "step": {
      const made = yielded(def.handler, worth(known, def.input), 0);
      return made.ok ? made.value : "(a failure)";
    }
    case "external":
      return adds(worth(known, def.input));
    case "sleep":
      return null;
    case "repeat":
      return repeated(known, def, unwrapped(def, found));
    case "signal":
      return signalled(known, def, found);
    case "gate":
      return decided(known, def, found);
    case "child": {
      const child = await known.childOutput(childRunId(known.run, { node: position, index: 0, attempt: 1 }));
      return child?.run.phase === "succeeded" ? child.value : "(a child that succeeded)";
    }
    case "map":
      return await mapped(known, def, position, found);
  }
}

function repeated(known: Known, def: RepeatNode, found: Json | undefined): Json {
  let last: Json | undefined;
  // a run that ended on the way keeps what the last of its iterations came to
  const isCut = known.run.phase !== "succeeded";
  for (let index = 0; index < def.limit; index++) {
    const made = yielded(def.handler, worth(known, def.input, { $last: last }), index);
    last = made.ok ? made.value : null;
    const answer = evaluate(def.until, () => last);
    if ((answer.ok && answer.value === true) || (isCut && isSame(last, found))) return last;
  }
  return "(a repeat that ends)";
}

function signalled(known: Known, def: SignalNode, found: Json | undefined): Json | undefined {
  const plain = unwrapped(def, found);
  if (plain === undefined && def.onTimeout === "continue") return undefined;
  const sent = known.scene.people.record.signals.filter(
    (each) => each.runId === known.run.runId && each.name === def.signal,
  );
  return sent.find((each) => isSame(each.payload, plain))?.payload ?? "(a payload that was sent)";
}

function decided(known: Known, def: GateNode, found: Json | undefined): Json | undefined {
  const plain = unwrapped(def, found) as
    | { readonly approved?: boolean; readonly timedOut?: boolean; readonly by?: string }
    | undefined;
  const decision = known.scene.people.record.decisions.find((each) => each.by === plain?.by);
  if (plain && !plain.timedOut && decision?.approved !== plain.approved) return "(what somebody decided)";
  if (plain?.approved === true && plain.timedOut && def.onTimeout !== "approve") return "(a time-out that approves)";
  if (plain?.timedOut && def.timeoutMs === undefined) return "(a time-out)";
  const isFailure =
    plain?.approved !== true && def.onReject !== "continue" && !(plain?.timedOut && def.onTimeout === "continue");
  return isFailure ? "(a rejection that fails)" : (plain as Json);
}

async function mapped(
  known: Known,
  def: MapNode,
  position: number,
  found: Json | undefined,
): Promise<Json | undefined> {
  const items = worth(known, def.items) as readonly Json[];
  const outcomes = unwrapped(def, found);
  if (!Array.isArray(items) || !Array.isArray(outcomes) || outcomes.length !== items.length)
    return "(an output for each item)";
  const isData = def.tolerate !== undefined;
  let failed = 0;
  const expected: Json[] = [];
  for (const [index, item] of items.entries()) {
    const outcome = (outcomes as readonly Json[])[index] as {
      readonly ok?: boolean;
      readonly error?: { readonly code?: string };
    };
    if (isData && outcome?.ok === false) {
      failed += 1;
      expected.push(
        mayItemHaveFailed(known, def, outcome.error?.code ?? "") ? (outcome as Json) : `(item ${index} done)`,
      );
      continue;
    }
    const value = await itemOf(known, def, position, item, index);
    expected.push(isData ? { ok: true, ...(value !== undefined && { value }) } : (value ?? null));
  }
  return failed > toleratedOf(def, items.length) ? "(a failure)" : expected;
}

function toleratedOf({ tolerate }: MapNode, total: number): number {
  if (!tolerate) return 0;
  return "count" in tolerate ? tolerate.count : Math.floor(tolerate.share * total);
}

async function itemOf(
  known: Known,
  def: MapNode,
  position: number,
  item: Json,
  index: number,
): Promise<Json | undefined> {
  if (def.body.kind === "step") {
    const made = yielded(def.body.handler, worth(known, def.body.input, { $item: item, $index: index }), index);
    return made.ok ? made.value : "(a failure)";
  }
  const child = await known.childOutput(childRunId(known.run, { node: position, index, attempt: 1 }));
  return child?.run.phase === "succeeded" ? child.value : "(a child that succeeded)";
}

function read(known: Known, expr: Json, extra: { readonly [source: string]: Json | undefined } = {}) {
  return evaluate(expr, (source) =>
    source === "$input" ? known.input : source in extra ? extra[source] : known.values.get(source),
  );
}

function worth(known: Known, expr: Json, extra: { readonly [source: string]: Json | undefined } = {}): Json {
  const found = read(known, expr, extra);
  return found.ok ? (found.value ?? null) : null;
}

const depsOf = ({ program }: Known, position: number) =>
  (program.nodes[position]?.deps ?? []).map((dep) => program.nodes[dep]?.def.name ?? "");

const hasRival = ({ program, states }: Known, def: NodeDef, state: NodeState) =>
  def.oneOf !== undefined &&
  program.nodes.some(
    ({ def: other }) => other.name !== def.name && other.oneOf === def.oneOf && states.get(other.name) === state,
  );

/** The value that `onFailure: "continue"` wraps. */
function unwrapped(def: NodeDef, found: Json | undefined): Json | undefined {
  return def.onFailure === "continue" ? (found as { readonly value?: Json } | undefined)?.value : found;
}

const textOf = (value: Json | undefined) => (value === undefined ? "nothing" : canonicalText(value).slice(0, 200));
const isSame = (a: Json | undefined, b: Json | undefined) =>
  a === undefined || b === undefined ? a === b : canonicalText(a) === canonicalText(b);

/** Where a run comes to no good end, one tick may close what another opens again, until its deliveries are used up. */
const mayItemHaveFailed = ({ run, scene }: Known, def: MapNode, code: string) =>
  mayItemFail(scene, def, code) || (code === "cancelled" && run.phase !== "succeeded");
