import type { ChildBody, Definition, Expr, MapNode, NodeDef, StepBody } from "./definition.ts";
import { holeOf, mapParts } from "./expression.ts";
import type { FaultData } from "./faults.ts";
import type { Facts, Outcome } from "./inputs.ts";
import { canonicalText, type Json } from "./json.ts";
import { fixed } from "./limits.ts";
import type { Program } from "./program.ts";
import type { FactValue } from "./run.ts";

/**
 * A map that wants more in flight than a row holds is cut into slices: runs of the engine's own, each of which maps a stretch of
 * the items. An item keeps its number in its slice, so where it stands is arithmetic: nothing of it is stored.
 */
export function isWide(def: NodeDef): def is MapNode {
  return def.kind === "map" && def.concurrency > fixed.activeMax;
}

/**
 * How a wide map is cut, by its concurrency and the count of its items. Part of format 1: runs in flight, and outputs that are read
 * later, rest on the same arithmetic.
 */
export interface Cut {
  /** Items of a slice; the last one may have fewer. */
  readonly size: number;
  /** Slices at once. */
  readonly atOnce: number;
  /** Items in flight in each. */
  readonly concurrency: number;
}

/** Never more in flight than was asked for; sizes with many divisors, as a page of items must not lie in two slices. */
export function cutOf(concurrency: number, total: number): Cut {
  const atOnce = Math.ceil(concurrency / fixed.activeMax);
  const even = Math.ceil(total / atOnce / sizeStep) * sizeStep;
  return {
    size: Math.min(fixed.sliceItemsMax, Math.max(fixed.activeMax, even)),
    atOnce,
    concurrency: Math.floor(concurrency / atOnce),
  };
}

const sizeStep = 16;

/** The items of one slice: from the first up to, and without, the last. */
export function rangeOf(cut: Cut, total: number, slice: number): { readonly from: number; readonly to: number } {
  return { from: slice * cut.size, to: Math.min(total, (slice + 1) * cut.size) };
}

/** Position of the one node that a slice has. */
export const slicePosition = 0;

/** What a slice is started with; its items stand beside it, in pages. */
export interface SliceInput {
  /** The run that people know: handlers see it as theirs. */
  readonly runId: string;
  /** Of the whole map. */
  readonly total: number;
  readonly from: number;
  readonly count: number;
  /** What the body reads beside its item, by the names of {@link Sliced}. */
  readonly reads: Json;
}

/** A slice of a wide map as a definition of its own, and what has to be read for it where the map stands. */
export interface Sliced {
  readonly definition: Definition;
  readonly reads: { readonly [name: string]: Expr };
}

/** The slices of a wide map share one definition: the same for the same map, whoever derives it. */
export function slicedFrom(program: Program, def: MapNode, position: number): Sliced {
  const { definition, hash } = program;
  const names = new Map<string, string>();
  const reads: Record<string, Expr> = {};
  const rewrite = (expr: Expr): Expr => {
    const hole = holeOf(expr);
    if (hole?.form !== "ref") return mapParts(expr, rewrite);
    if (hole.operands[0] === "$item" || hole.operands[0] === "$index") return expr;
    const text = canonicalText(expr);
    const name = names.get(text) ?? `r${names.size}`;
    names.set(text, name);
    reads[name] = expr;
    return { $: ["ref", "$input", "reads", name] };
  };
  const body = { ...selfless(def.body, hash), input: rewrite(def.body.input) };
  const isUndone = definition.nodes.some(({ compensates }) => compensates === def.name);
  const node: MapNode = {
    kind: "map",
    name: def.name,
    items: { $: ["ref", "$input", "items"] },
    body,
    concurrency: cutOf(def.concurrency, 0).concurrency,
    ...(def.tolerate && { tolerate: def.tolerate }),
  };
  return {
    definition: {
      format: 1,
      workflow: `${definition.workflow}${mark}${position}`,
      nodes: [node],
      sliceOf: { concurrency: def.concurrency, ...(isUndone && { isUndone }) },
    },
    reads,
  };
}

/** In no name of a workflow: nobody's own can be taken for a slice's. */
const mark = "/";

/** The workflow that people wrote, of a definition of theirs or of a slice's. */
export function workflowOf({ workflow }: Definition): string {
  return workflow.split(mark)[0] ?? workflow;
}

/** Who starts itself means the workflow that the map stands in, not the slice. */
function selfless(body: StepBody | ChildBody, hash: string): StepBody | ChildBody {
  return body.kind === "child" && body.definition === "self" ? { ...body, definition: hash } : body;
}

/** What a slice came to, as its notice says it. */
export interface SliceReport {
  readonly done: number;
  readonly count: number;
  /** Why not all are done, if so. */
  readonly message?: string;
}

const reported = { done: 0, count: 1, message: 2 } as const;

/** A slice's report among facts: they stand in its notice alone, and never on a row. */
export function factsOfReport({ done, count, message }: SliceReport): Facts {
  const facts = new Map<number, FactValue>([
    [reported.done, { kind: "value", value: done }],
    [reported.count, { kind: "value", value: count }],
  ]);
  if (message !== undefined)
    facts.set(reported.message, { kind: "value", value: message.slice(0, fixed.reasonBytesMax) });
  return facts;
}

/** The report in a notice; of a slice that never came to be, that of its items nothing is done. */
export function reportOf(outcome: Outcome, countIfUnknown = 0): SliceReport {
  if (outcome.kind !== "ok") {
    const message = outcome.kind === "failed" ? outcome.fault.message : `the slice was ${outcome.kind}`;
    return { done: 0, count: countIfUnknown, message };
  }
  const factOf = (number: number) => {
    const fact = outcome.facts.get(number);
    return fact?.kind === "value" ? fact.value : undefined;
  };
  const message = factOf(reported.message);
  return {
    done: Number(factOf(reported.done) ?? 0),
    count: Number(factOf(reported.count) ?? countIfUnknown),
    ...(typeof message === "string" && { message }),
  };
}

/** What is said of an item that its slice left behind, and of a slice that has such items. */
export function leftFault(report: SliceReport): FaultData {
  return { code: "child-failed", message: report.message ?? "the item's slice ended without it" };
}
