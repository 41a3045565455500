import type { Expr, NodeDef, StepNode } from "../core/definition.ts";
import { sourcesOf } from "../core/expression.ts";
import { callerPlace } from "./place.ts";
import type { Ref } from "./ref.ts";
import { createRef, type Reference } from "./reference.ts";
import type { Signal } from "./signal.ts";
import type { Step } from "./step.ts";
import type { Workflow } from "./workflow.ts";

/** A part of the workflow in which some references are known: the whole, or the function of one map or compensation. */
export interface Scope {
  readonly label: string;
  readonly parent: Scope | undefined;
}

/** Something wrong with a workflow, and where it is written if that is known. */
export interface BuildFault {
  readonly message: string;
  readonly place: string | undefined;
}

/** One call of a workflow function: what it added so far, and what is wrong with that. */
export interface Build {
  readonly workflow: string;
  readonly nodes: readonly NodeDef[];
  /** Compensations; they go behind all other nodes. */
  readonly hidden: readonly StepNode[];
  readonly faults: readonly BuildFault[];
  readonly steps: ReadonlySet<Step<never, unknown>>;
  readonly children: ReadonlySet<Workflow<never, unknown>>;
  readonly signals: ReadonlySet<Signal<never, unknown>>;
  readonly scope: Scope;
  /** Notes a fault and goes on, so that all of them can be listed. */
  fault(message: string, place?: string): void;
  /** A new reference. One that is a mere read must end up somewhere; nodes and inputs need not. */
  refer<T>(expr: Expr, label: string, scope?: Scope, isUsed?: boolean): Ref<T>;
  add(node: NodeDef): void;
  addHidden(node: StepNode): void;
  use(used: Step<never, unknown> | Workflow<never, unknown> | Signal<never, unknown>): void;
  /** Calls `body` with references of its own, which nobody else may use. */
  inScope<R>(label: string, body: (scope: Scope) => R): R;
  inSeries<R>(body: () => R): R;
  /** Where the node at this position of the definition was written. */
  placeOf(position: number): string | undefined;
  unusedReads(): readonly Reference[];
}

/** Starts a build. With `isDiagnosing` it notes where everything is written, which costs a stack trace for each reference. */
export function createBuild(workflow: string, isDiagnosing: boolean): Build {
  const root: Scope = { label: `workflow "${workflow}"`, parent: undefined };
  const place = () => (isDiagnosing ? callerPlace() : undefined);
  const faults = new Map<string, BuildFault>();
  const reads: Reference[] = [];
  const nodes: NodeDef[] = [];
  const hidden: StepNode[] = [];
  const places = new Map<NodeDef, string | undefined>();
  const steps = new Set<Step<never, unknown>>();
  const children = new Set<Workflow<never, unknown>>();
  const signals = new Set<Signal<never, unknown>>();
  let scope = root;
  let series: { previous: string | undefined } | undefined;

  const build: Build = {
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
    fault(message, at = place()) {
      if (!faults.has(message)) faults.set(message, { message, place: at });
    },
    refer(expr, label, where = scope, isUsed = false) {
      const reference: Reference = { build, scope: where, expr, label, place: place(), isUsed };
      if (!isUsed) reads.push(reference);
      return createRef(reference);
    },
    add(node) {
      if (scope !== root) {
        build.fault(
          `"${node.name}" is added inside ${scope.label}, which describes one call: return call(step, input) there, ` +
            "or call a workflow that has these nodes",
        );
      }
      const added = series?.previous === undefined ? node : following(node, series.previous);
      if (series) series.previous = node.name;
      nodes.push(added);
      places.set(added, place());
    },
    addHidden(node) {
      hidden.push(node);
      places.set(node, place());
    },
    use(used) {
      if (used.kind === "step") steps.add(used);
      else if (used.kind === "workflow") children.add(used);
      else signals.add(used);
    },
    inScope(label, body) {
      const outer = scope;
      scope = { label, parent: outer };
      try {
        return body(scope);
      } finally {
        scope = outer;
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

const stackKey = Symbol.for("tickwright.builds");
const shared = globalThis as { [stackKey]?: Build[] };
/** The builds that are going on: one, or more where a workflow is defined inside another's function. */
const builds: Build[] = shared[stackKey] ?? [];
shared[stackKey] = builds;

/** The build whose workflow function is being called, if any. */
export function currentBuild(): Build | undefined {
  return builds.at(-1);
}

/** Calls `body` while `build` is the current one. */
export function building<R>(build: Build, body: () => R): R {
  builds.push(build);
  try {
    return body();
  } finally {
    builds.pop();
  }
}
