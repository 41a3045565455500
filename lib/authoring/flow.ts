import type { Arg, Given, Input } from "./arg.ts";
import type { Call } from "./call.ts";
import type { Callable } from "./callable.ts";
import type { Duration } from "./duration.ts";
import type { Ref, RefTo } from "./ref.ts";
import type { Signal } from "./signal.ts";
import type { Step } from "./step.ts";
import type { Workflow } from "./workflow.ts";

/** What became of a node that may fail (`onFailure: "continue"`). */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

/** What a person said at a gate. */
export interface Decision {
  readonly approved: boolean;
  readonly by?: string;
  readonly comment?: string;
  readonly data?: unknown;
  readonly timedOut?: boolean;
}

/** True or false, known in the run: a boolean reference, or what an operator makes. */
export type Condition = Arg<boolean>;

/** What every node takes. */
export interface NodeOptions<W> {
  /** Unique in the workflow; unless given, the name of the step, child or signal. */
  readonly name?: string;
  /** Waits for these too, beside what the node reads. A skipped node counts as ended. */
  readonly after?: readonly RefTo<unknown>[];
  /** Skips the node unless this holds. What the node yields may then be missing. */
  readonly when?: W;
}

/** What nodes that do work take. */
export interface WorkOptions<W, F> extends NodeOptions<W> {
  /** `"continue"`: a failure does not fail the run, and the node yields an {@link Outcome}. */
  readonly onFailure?: F;
}

/** Options of a step or a child. */
export interface RunOptions<Out, W, F> extends WorkOptions<W, F> {
  /** If the run fails or is cancelled after this node succeeded: the call of a step that undoes it. */
  readonly compensate?: (output: Ref<Out>) => Call<unknown, "step">;
}

/** Options of a map: how many items at once, and how many of them may fail. */
export interface MapOptions<Out, W, F, T> extends WorkOptions<W, F> {
  /** Items in flight at once, 1 to 64; 8 unless given. */
  readonly concurrency?: number;
  /** Failed items that the map survives, as a count or a share of all. The map then yields the items' outcomes. */
  readonly tolerate?: T;
  /** Undoes the items that succeeded: it gets the list of their outputs. */
  readonly compensate?: (outputs: Ref<readonly Out[]>) => Call<unknown, "step">;
}

/** Options of a wait for a signal. */
export interface SignalOptions<W, F, T> extends WorkOptions<W, F> {
  readonly timeout?: Duration;
  /** `"continue"`: no payload after a time-out; otherwise the node fails. */
  readonly onTimeout?: T;
}

/** Options of a gate: a person decides, or the time-out does. */
export interface GateOptions<W, F> extends WorkOptions<W, F> {
  /** What the person is shown. */
  readonly about?: unknown;
  readonly timeout?: Duration;
  /** What a time-out decides; the node fails unless given. `"continue"`: `approved` is false and `timedOut` true. */
  readonly onTimeout?: "approve" | "reject" | "continue";
  /** `"fail"` unless given: a rejection fails the node. `"continue"`: the workflow reads `approved` and decides. */
  readonly onReject?: "fail" | "continue";
}

type When = Condition | undefined;
type OnFailure = "fail" | "continue" | undefined;
type Tolerate = number | `${number}%` | undefined;

/** What a node yields, given its condition and its policy. (Spelled out so that editors show the result, not this name.) */
export type Yield<T, W, F> = [W] extends [undefined]
  ? [F] extends ["continue"]
    ? Outcome<T>
    : "continue" extends F
      ? T | Outcome<T>
      : T
  : ([F] extends ["continue"] ? Outcome<T> : "continue" extends F ? T | Outcome<T> : T) | undefined;

type MapYield<Out, T> = [T] extends [undefined] ? readonly Out[] : readonly Outcome<Out>[];

/**
 * Adds nodes to the graph. Nothing runs here: every method returns a reference to what the node will yield. The order of
 * statements means nothing; a node waits for the nodes that it reads, and for those named in `after`. `series` gives order.
 */
export interface Flow {
  /** A step. */
  run<In, Out, W extends When = undefined, F extends OnFailure = undefined>(
    step: Step<In, Out>,
    input: Input<Given<In>>,
    options?: RunOptions<Out, W, F>,
  ): Ref<Yield<Out, W, F>>;

  /**
   * One call for each item of a list, as wide as `concurrency`; yields the outputs in the order of the items. A step (or
   * workflow) whose input is the item can be given as it is.
   */
  map<Item, Out, W extends When = undefined, F extends OnFailure = undefined, T extends Tolerate = undefined>(
    items: RefTo<readonly Item[]>,
    body: Callable<Given<Item>, Out> | ((item: Ref<Item>, index: Ref<number>) => Call<Out>),
    options?: MapOptions<Out, W, F, T>,
  ): Ref<Yield<MapYield<Out, T>, W, F>>;

  /** A run of another workflow, pinned to the definition it has now. */
  child<In, Out, W extends When = undefined, F extends OnFailure = undefined>(
    workflow: Workflow<In, Out>,
    input: Input<Given<In>>,
    options?: RunOptions<Out, W, F>,
  ): Ref<Yield<Out, W, F>>;

  /** Waits for a signal from outside. */
  signal<
    Payload,
    W extends When = undefined,
    F extends OnFailure = undefined,
    T extends "continue" | undefined = undefined,
  >(
    signal: Signal<never, Payload>,
    options?: SignalOptions<W, F, T>,
  ): Ref<Yield<Payload | ([T] extends [undefined] ? never : undefined), W, F>>;

  /** Waits for a person. What must not happen without approval reads the decision, or names it in `after`. */
  gate<W extends When = undefined, F extends OnFailure = undefined>(
    name: string,
    options?: GateOptions<W, F>,
  ): Ref<Yield<Decision, W, F>>;

  /** Waits. Whatever should wait with it names it in `after`. */
  sleep(name: string, duration: Duration, options?: NodeOptions<When>): Ref<undefined>;

  /** Nodes that are added inside wait, each, for the one before. */
  series<R>(body: (flow: Flow) => R): R;
}
