import type { Definition } from "./definition.ts";
import { checkExpression, type Reader } from "./definition-expressions.ts";
import { type DefinitionFault, type Place, placeOf } from "./definition-fault.ts";
import { checkFields, must, optional, required } from "./definition-fields.ts";
import { checkName } from "./definition-names.ts";
import { checkRivals } from "./definition-rivals.ts";
import { checkNode } from "./definition-shape.ts";
import { factBytesMax } from "./fact-bytes.ts";
import { isJsonObject, type Json } from "./json.ts";
import { fixed } from "./limits.ts";
import { programOf } from "./program.ts";

export type { DefinitionFault } from "./definition-fault.ts";

/**
 * Everything that is wrong with a definition, at once, each fault saying what to do. Takes anything: definitions also come from
 * generators. Beside shapes, names and ranges it holds nodes against each other:
 *
 * * A node reads, and waits for, earlier nodes only, so there are no cycles.
 * * A sleep or gate that nothing waits for (no visible node reads it or names it in `after`, and the output does not read it)
 *   is a fault, also as the last node: the order of nodes means nothing, so it would run beside the others and guard none of
 *   them. Who wants the run to end with it lets the output read it.
 * * Of the nodes of one group one wins: there are two or more, none waits for another, and none may end without either winning or
 *   failing the run.
 * * Compensations are steps behind all other nodes, one for a node. They read the input, what they undo, and what that waited
 *   for: nothing else is sure to be there when they run.
 */
export function validate(definition: unknown): readonly DefinitionFault[] {
  const faults: DefinitionFault[] = [];
  const place = placeOf(faults);
  const nodes = isJsonObject(definition) && Array.isArray(definition["nodes"]) ? definition["nodes"] : [];
  const graph = createGraph(nodes);
  const fields = {
    format: required(must((format) => format === 1, "must be 1: this engine knows no other format")),
    workflow: required(checkName),
    nodes: required((list, at) => checkNodes(list, at, graph)),
    output: optional((output, at) => checkExpression(output, at, graph.readerOf(nodes.length))),
  };
  checkFields(definition, fields, place, () => undefined);
  checkWaits(graph, place.at("nodes"));
  checkRivals(graph, place.at("nodes"));
  checkSelves(graph, definition, place.at("nodes"));
  checkCompensations(graph, place.at("nodes"));
  if (faults.length === 0) checkFacts(definition as Definition, place.at("nodes"));
  return faults;
}

/** What conditions compare waits on the row, and the row has an end. */
function checkFacts(definition: Definition, place: Place): void {
  if (!definition.nodes.some((def) => def.when !== undefined || def.kind === "map" || def.kind === "sleep")) return;
  const bytes = factBytesMax(programOf(definition, ""));
  if (bytes <= fixed.factBytesMax) return;
  place.fault(
    `what their conditions compare may take ${bytes} bytes on the run's row at one time, and ${fixed.factBytesMax} is the most: ` +
      "let a step compare and yield a boolean, or move some into a child",
  );
}

interface Graph {
  readonly nodes: readonly { readonly [name: string]: Json }[];
  readonly position: ReadonlyMap<string, number>;
  /** Position of the first compensation; the number of nodes if there is none. */
  readonly hiddenFrom: number;
  /** By position, filled while expressions are checked; the output's at the very end. */
  readonly reads: readonly Set<string>[];
  /** What the node at this position may read; notes it down. */
  readerOf(position: number): Reader;
}

const isHidden = (node: { readonly [name: string]: Json } | undefined) => node?.["compensates"] !== undefined;

function createGraph(list: readonly unknown[]): Graph {
  const nodes = list.map((node) => (isJsonObject(node) ? node : {}));
  const position = new Map<string, number>();
  nodes.forEach(({ name }, at) => {
    if (typeof name === "string" && !position.has(name)) position.set(name, at);
  });
  const reads = Array.from({ length: nodes.length + 1 }, () => new Set<string>());
  const firstHidden = nodes.findIndex(isHidden);
  const refusal = (source: string, at: number) => {
    if (source === "$input") return undefined;
    if (source === "$item" || source === "$index") return `"${source}" is known only in the body of a map`;
    if (source === "$last") return '"$last" is known only in the input of a repeat';
    return refusalOf(source, position.get(source), at);
  };
  const refusalOf = (name: string, found: number | undefined, at: number) => {
    if (found === undefined) return `there is no node "${name}": name an earlier node, or "$input"`;
    if (found === at) return `"${name}" cannot wait for itself`;
    if (found > at) return `"${name}" comes later, and a node waits for earlier ones only: move it up`;
    return isHidden(nodes[found]) ? `"${name}" is a compensation, and nothing waits for one` : undefined;
  };
  return {
    nodes,
    position,
    hiddenFrom: firstHidden < 0 ? nodes.length : firstHidden,
    reads,
    readerOf: (at) => (source) => {
      reads[at]?.add(source);
      return refusal(source, at);
    },
  };
}

function checkNodes(list: unknown, place: Place, graph: Graph): void {
  if (!Array.isArray(list)) {
    place.fault("must be a list");
    return;
  }
  if (list.length > fixed.nodesMax) {
    place.fault(
      `${list.length} nodes, compensations included, and ${fixed.nodesMax} is the most: move some into a child`,
    );
  }
  list.forEach((node: unknown, at) => {
    const spot = place.at(at);
    checkNode(node, spot, graph.readerOf(at));
    const { name, after } = graph.nodes[at] ?? {};
    const first = typeof name === "string" ? graph.position.get(name) : at;
    if (first !== at) spot.at("name").fault(`"${name}" is the name of node ${first} already: rename one`);
    if (!Array.isArray(after)) return;
    for (const [index, source] of (after as readonly unknown[]).entries()) {
      if (typeof source !== "string") continue;
      const refusal = source.startsWith("$") ? `there is no node "${source}"` : graph.readerOf(at)(source);
      if (refusal !== undefined) spot.at("after").at(index).fault(refusal);
    }
  });
}

/** Who starts itself names itself: the hash of a definition cannot stand in it. */
function checkSelves({ nodes }: Graph, definition: unknown, place: Place): void {
  const own = isJsonObject(definition) ? definition["workflow"] : undefined;
  nodes.forEach((node, at) => {
    const inMap = node["kind"] === "map" && isJsonObject(node["body"] ?? null);
    const part = (inMap ? node["body"] : node) as { readonly [name: string]: Json };
    if (part["definition"] !== "self") return;
    const spot = inMap ? place.at(at).at("body") : place.at(at);
    if (part["workflow"] !== own) spot.at("workflow").fault(`"self" is this workflow: name it, ${JSON.stringify(own)}`);
    if (!inMap && node["when"] === undefined)
      spot.fault(
        "a workflow that always starts itself never ends: add `when`, or put it into a scope with a condition",
      );
  });
}

/** A sleep or gate that nothing waits for guards nothing. */
function checkWaits({ nodes, hiddenFrom, reads }: Graph, place: Place): void {
  const waited = new Set([...reads.slice(0, hiddenFrom), ...reads.slice(nodes.length)].flatMap((names) => [...names]));
  nodes.slice(0, hiddenFrom).forEach(({ kind, name }, at) => {
    if ((kind !== "sleep" && kind !== "gate") || typeof name !== "string" || waited.has(name)) return;
    place
      .at(at)
      .fault(
        `nothing waits for the ${kind} "${name}", so it would run beside everything else: ` +
          `add \`after: ["${name}"]\` to what it should hold up, or let the output read it, or remove it`,
      );
  });
}

const undoable = ["step", "map", "child", "external"];
const notInCompensations = ["when", "after", "onFailure", "oneOf"];

function checkCompensations(graph: Graph, place: Place): void {
  const { nodes, hiddenFrom, position } = graph;
  const undone = new Set<string>();
  for (const [at, node] of nodes.entries()) {
    const spot = place.at(at);
    if (at < hiddenFrom) continue;
    if (!isHidden(node)) {
      spot.fault("stands behind a compensation: move it up, compensations come last");
      continue;
    }
    for (const field of notInCompensations) {
      if (node[field] === undefined) continue;
      spot.at(field).fault("a compensation runs whenever what it undoes was done: remove it");
    }
    if (node["kind"] !== "step") spot.at("kind").fault('a compensation is a "step"');
    const { compensates: target } = node;
    const targetAt = typeof target === "string" ? position.get(target) : undefined;
    const kind = nodes[targetAt ?? hiddenFrom]?.["kind"];
    if (typeof target !== "string") continue;
    if (targetAt === undefined || targetAt >= hiddenFrom || !undoable.some((one) => one === kind)) {
      spot.at("compensates").fault(`there is no step, map, child or external "${target}" to undo: name one`);
      continue;
    }
    if (undone.has(target)) {
      spot.at("compensates").fault(`"${target}" has a compensation already: join the two in one step`);
    }
    undone.add(target);
    checkCompensationReads(graph, at, targetAt, spot);
  }
}

function checkCompensationReads({ nodes, position, reads }: Graph, at: number, targetAt: number, place: Place): void {
  const sure = new Set<number>();
  const pending = [targetAt];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (sure.has(next)) continue;
    sure.add(next);
    for (const name of reads[next] ?? []) {
      const earlier = position.get(name);
      if (earlier !== undefined && earlier < next) pending.push(earlier);
    }
  }
  const target = nodes[targetAt]?.["name"];
  for (const name of reads[at] ?? []) {
    const read = position.get(name);
    if (read === undefined || read >= at || isHidden(nodes[read]) || sure.has(read)) continue;
    place
      .at("input")
      .fault(
        `reads "${name}", which "${target}" does not wait for, so it may not be there: ` +
          `read the input, "${target}" and what that waits for`,
      );
  }
}
