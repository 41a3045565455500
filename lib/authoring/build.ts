import type { Expr, NodeDef, StepNode } from "../core/definition.ts";
import { sourcesOf } from "../core/expression.ts";
import type { Work } from "./callee.ts";
import { callerPlace } from "./place.ts";
import type { Ref } from "./ref.ts";
import { createRef, type Reference } from "./reference.ts";
import { createRivals, type Rivals } from "./rivals.ts";
import { allOf, type Scope, scopesFrom } from "./scope.ts";
import type { Signal } from "./signal.ts";
import type { Workflow } from "./workflow.ts";

/** Something wrong with a workflow, and where it is written if that is known. */
export interface BuildFault {
  readonly message: string;
  readonly place: string | undefined;
}

/** One call of a workflow function: what it added so far, and what is wrong with that. */
export interface Build extends Rivals {
  readonly workflow: string;
  readonly nodes: readonly NodeDef[];
  /** Compensations; they go behind all other nodes. */
  readonly hidden: readonly StepNode[];
  readonly faults: readonly BuildFault[];
  readonly steps: ReadonlySet<Work>;
  readonly children: ReadonlySet<Workflow<never, unknown>>;
  readonly signals: ReadonlySet<Signal<never, unknown>>;
  readonly scope: Scope;
  /** Goes before the names of nodes that are added now. */
  readonly prefix: string;
  /** Notes a fault and goes on, so that all of them can be listed. */
  fault(message: string, place?: string): void;
  /** A new reference, known in the current scope. One that is a mere read must end up somewhere; nodes and inputs need not. */
  refer<T>(
    expr: Expr,
    label: string,
    options?: Partial<Pick<Reference, "scope" | "isUsed" | "waits" | "mayReadRival">>,
  ): Ref<T>;
  add(node: NodeDef): void;
  addHidden(node: StepNode): void;
  use(used: Work | Workflow<never, unknown> | Signal<never, unknown>): void;
  /** Calls `body` with references of its own, which nobody else may use; with a condition, its nodes run only if that holds. */
  inScope<R>(label: string, body: (scope: Scope) => R, condition?: Expr): R;
  /** Calls `body` with a name and a dot before the names of its nodes. */
  inNames<R>(name: string, body: () => R): R;
  inSeries<R>(body: () => R): R;
  /** Where the node at this position of the definition was written. */
  placeOf(position: number): string | undefined;
  unusedReads(): readonly Reference[];
}

/** Starts a build. With `isDiagnosing` it notes where everything is written, which costs a stack trace for each reference. */
export function createBuild(workflow: string, isDiagnosing: boolean): Build {
  const root: Scope = { label: `workflow "${workflow}"`, parent: undefined, kind: "workflow", nodes: [] };
  const place = () => (isDiagnosing ? callerPlace() : undefined);
  const faults = new Map<string, BuildFault>();
  const reads: Reference[] = [];
  const nodes: NodeDef[] = [];
  const hidden: StepNode[] = [];
  const places = new Map<NodeDef, string | undefined>();
  const steps = new Set<Work>();
  const children = new Set<Workflow<never, unknown>>();
  const signals = new Set<Signal<never, unknown>>();
  let scope = root;
  let prefix = "";
  let series: { previous: string | undefined } | undefined;

  const build: Build = {
    ...createRivals({
      nodes,
      fault: (message, at = place()) => build.fault(message, at),
      replace(node, next) {
        nodes[nodes.indexOf(node)] = next;
        places.set(next, places.get(node));
      },
    }),
    workflow,
    nodes,
    hidden,
    steps,
    children,
    signals,
    get faults() {
      return [...faults.values()];
    },
    get scope() {
      return scope;
    },
    get prefix() {
      return prefix;
    },
    fault(message, at = place()) {
      if (!faults.has(message)) faults.set(message, { message, place: at });
    },
    refer(expr, label, { scope: where = scope, isUsed = false, waits, mayReadRival } = {}) {
      const reference: Reference = { build, scope: where, expr, label, place: place(), isUsed, waits, mayReadRival };
      if (!isUsed) reads.push(reference);
      return createRef(reference);
    },
    add(node) {
      const around = scopesFrom(scope);
      const call = around.find(({ kind }) => kind === "call");
      if (call) {
        build.fault(
          `"${node.name}" is added inside ${call.label}, which describes one call: return call(step, input) there, ` +
            "or call a workflow that has these nodes",
        );
      }
      const conditions = around.flatMap(({ condition }) => (condition === undefined ? [] : [condition])).reverse();
      const when = allOf([...conditions, ...(node.when === undefined ? [] : [node.when])]);
      const scoped = when === undefined ? node : { ...node, when };
      const added = series?.previous === undefined ? scoped : following(scoped, series.previous);
      if (series) series.previous = node.name;
      for (const each of around) each.nodes.push(node.name);
      nodes.push(added);
      places.set(added, place());
    },
    addHidden(node) {
      hidden.push(node);
      places.set(node, place());
    },
    use(used) {
      if (used.kind === "step" || used.kind === "external") steps.add(used);
      else if (used.kind === "workflow") children.add(used);
      else signals.add(used);
    },
    inScope(label, body, condition) {
      const outer = scope;
      scope =
        condition === undefined
          ? { label, parent: outer, kind: "call", nodes: [] }
          : { label, parent: outer, kind: "condition", condition, nodes: [] };
      try {
        return body(scope);
      } finally {
        scope = outer;
      }
    },
    inNames(name, body) {
      const outer = prefix;
      prefix = `${outer}${name}.`;
      try {
        return body();
      } finally {
        prefix = outer;
      }
    },
    inSeries(body) {
      const outer = series;
      series ??= { previous: undefined };
      try {
        return body();
      } finally {
        series = outer;
      }
    },
    placeOf: (position) => places.get([...nodes, ...hidden][position] as NodeDef),
    unusedReads: () => reads.filter((reference) => !reference.isUsed),
  };
  return build;
}

/** The node, waiting for `previous` too, unless it reads that anyway. */
function following(node: NodeDef, previous: string): NodeDef {
  const { after = [] } = node;
  const waits = new Set([...after, ...sourcesOf(node as unknown as Expr)]);
  return waits.has(previous) ? node : { ...node, after: [...after, previous] };
}
