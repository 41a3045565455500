import type { ChildBody, Definition, Expr, MapNode, NodeDef, StepNode, WorkBody } from "./definition.ts";
import { sourcesOf, splitFacts } from "./expression.ts";
import { canonicalText } from "./json.ts";
import { inputPosition } from "./run.ts";

/** A definition made ready for ticking: positions instead of names, who waits for whom, which facts control flow needs. */
export interface Program {
  readonly hash: string;
  readonly definition: Definition;
  readonly nodes: readonly ProgramNode[];
  /** Nodes before the hidden compensations. */
  readonly visibleCount: number;
  readonly facts: readonly Fact[];
  readonly positions: ReadonlyMap<string, number>;
}

export interface ProgramNode {
  readonly position: number;
  readonly def: NodeDef;
  /** Positions that must have ended before this node starts. */
  readonly deps: readonly number[];
  readonly dependents: readonly number[];
  readonly when?: Condition;
  /** When a sleep ends, if data says so; whether a repeat has come to its end. */
  readonly until?: Condition;
  /** The others of its group, of which one wins. */
  readonly rivals: readonly number[];
  /** Position of the hidden node that undoes this one. */
  readonly compensation?: number;
  /** What it did will have to be undone, here or where its slice belongs: what runs of it is awaited. */
  readonly isUndone: boolean;
  /** A map's item count and the pages that its items stand in. */
  readonly items?: ItemSource;
}

/** A condition over facts: `{ "$": ["fact", i] }` in `rest` stands for number `facts[i]` of the program. */
export interface Condition {
  readonly rest: Expr;
  readonly facts: readonly number[];
}

export type ItemSource =
  | { readonly kind: "constant"; readonly count: number }
  /** `source` is a map: item i is what its item i yielded. */
  | { readonly kind: "map"; readonly source: number; readonly size: number }
  | { readonly kind: "paged"; readonly source: number; readonly size: number; readonly pages: number }
  /** A stretch of a wide map's items, whose count is `size`; facts are where it begins, too. */
  | {
      readonly kind: "slice";
      readonly size: number;
      readonly from: number;
      readonly pages: number;
      readonly concurrency: number;
    };

/** A value that control flow needs, computed by whoever holds the output of `source`. */
export interface Fact {
  readonly source: number;
  /** `pages`: not the value of `expr`, but where its items were written. `own`: over the plain output, for a repeat's condition. */
  readonly kind: "value" | "pages" | "own";
  readonly expr: Expr;
  /** Nodes that read it; it is dropped once none of them is still to start. */
  readonly readers: readonly number[];
}

/** Makes a program of a valid definition. Quadratic in nothing: a thousand nodes take milliseconds, once per process and hash. */
export function programOf(definition: Definition, hash: string): Program {
  const positions = new Map(definition.nodes.map((def, position) => [def.name, position]));
  const facts = factTable(positions);
  const conditions = definition.nodes.map((def, reader) =>
    def.when !== undefined ? facts.condition(def.when, reader) : undefined,
  );
  const untils = definition.nodes.map((def, reader) => {
    if (def.kind === "repeat") return facts.condition(def.until, reader, "own");
    return def.kind === "sleep" && def.until !== undefined ? facts.condition(def.until, reader) : undefined;
  });
  const items = definition.nodes.map((def, reader) =>
    def.kind === "map" ? itemSource(def, reader, definition, positions, facts) : undefined,
  );
  const deps = definition.nodes.map((def) => depsOf(def, positions));
  const dependents: number[][] = definition.nodes.map(() => []);
  deps.forEach((list, position) => {
    for (const dep of list) dependents[dep]?.push(position);
  });
  const compensations = new Map<string, number>();
  definition.nodes.forEach((def, position) => {
    if (def.compensates !== undefined) compensations.set(def.compensates, position);
  });
  const nodes = definition.nodes.map((def, position): ProgramNode => {
    const when = conditions[position];
    const until = untils[position];
    const compensation = compensations.get(def.name);
    const source = items[position];
    return {
      position,
      def,
      deps: deps[position] ?? [],
      dependents: (dependents[position] ?? []).filter((each) => definition.nodes[each]?.compensates === undefined),
      rivals: rivalsOf(definition, position),
      ...(when && { when }),
      ...(until && { until }),
      ...(compensation !== undefined && { compensation }),
      isUndone: compensation !== undefined || definition.sliceOf?.isUndone === true,
      ...(source && { items: source }),
    };
  });
  return {
    hash,
    definition,
    nodes,
    visibleCount: definition.nodes.length - compensations.size,
    facts: facts.list,
    positions,
  };
}

/** The part of a node that a worker carries out, if there is one. */
export function stepBodyOf(def: NodeDef): WorkBody | undefined {
  if (def.kind === "step" || def.kind === "repeat" || def.kind === "external") return def;
  return def.kind === "map" && def.body.kind === "step" ? def.body : undefined;
}

/** The part of a node that another run carries out, if there is one. */
export function childBodyOf(def: NodeDef): ChildBody | undefined {
  if (def.kind === "child") return def;
  return def.kind === "map" && def.body.kind === "child" ? def.body : undefined;
}

/** Inline steps run in a chain, commit by commit; inside a map a step is always dispatched, item by item. */
export function isInline(def: NodeDef): def is StepNode {
  return def.kind === "step" && def.isInline === true;
}

/** Whether some node waits for this signal; nothing does in a workflow that is not there. */
export function waitsFor(definition: Definition | undefined, signal: string): boolean {
  return definition?.nodes.some((def) => def.kind === "signal" && def.signal === signal) ?? false;
}

export function nodeAt(program: Program, position: number): ProgramNode {
  const node = program.nodes[position];
  if (!node) throw new RangeError(`${program.definition.workflow} has no node ${position}`);
  return node;
}

function rivalsOf(definition: Definition, position: number): readonly number[] {
  const group = definition.nodes[position]?.oneOf;
  if (group === undefined) return [];
  return definition.nodes.flatMap((def, other) => (def.oneOf === group && other !== position ? [other] : []));
}

type FactTable = ReturnType<typeof factTable>;

function factTable(positions: ReadonlyMap<string, number>) {
  const list: { source: number; kind: Fact["kind"]; expr: Expr; readers: number[] }[] = [];
  const numbers = new Map<string, number>();
  const add = (kind: Fact["kind"], source: string, expr: Expr, reader: number): number => {
    const position = source === "$input" ? inputPosition : positions.get(source);
    if (position === undefined) throw new RangeError(`"${source}" is no node`);
    const id = `${kind} ${position} ${canonicalText(expr)}`;
    const number = numbers.get(id) ?? list.length;
    if (number === list.length) list.push({ source: position, kind, expr, readers: [] });
    numbers.set(id, number);
    list[number]?.readers.push(reader);
    return number;
  };
  return {
    list,
    add,
    condition(expr: Expr, reader: number, kind: "value" | "own" = "value"): Condition {
      const split = splitFacts(expr);
      return { rest: split.rest, facts: split.facts.map((fact) => add(kind, fact.source, fact.expr, reader)) };
    },
  };
}

function itemSource(
  def: MapNode,
  reader: number,
  definition: Definition,
  positions: ReadonlyMap<string, number>,
  facts: FactTable,
): ItemSource {
  if (definition.sliceOf) {
    const fact = (name: string) => facts.add("value", "$input", { $: ["ref", "$input", name] }, reader);
    const pages = facts.add("pages", "$input", def.items, reader);
    return { kind: "slice", size: fact("total"), from: fact("from"), pages, ...definition.sliceOf };
  }
  const [source] = sourcesOf(def.items);
  if (source === undefined || Array.isArray(def.items))
    return { kind: "constant", count: Array.isArray(def.items) ? def.items.length : 0 };
  const size = facts.add("value", source, { $: ["size", def.items] }, reader);
  const position = positions.get(source) ?? inputPosition;
  if (definition.nodes[position]?.kind === "map") return { kind: "map", source: position, size };
  return { kind: "paged", source: position, size, pages: facts.add("pages", source, def.items, reader) };
}

function depsOf(def: NodeDef, positions: ReadonlyMap<string, number>): readonly number[] {
  const names = new Set(def.after ?? []);
  const read = (expr: Expr | undefined) => {
    if (expr !== undefined) for (const source of sourcesOf(expr)) names.add(source);
  };
  read(def.when);
  if (def.kind === "child" || (def.kind !== "map" && stepBodyOf(def))) read((def as { readonly input: Expr }).input);
  if (def.kind === "sleep") read(def.until);
  if (def.kind === "gate") read(def.about);
  if (def.kind === "map") {
    read(def.items);
    read(def.body.input);
  }
  return [...names].flatMap((name) => positions.get(name) ?? []).sort((a, b) => a - b);
}
