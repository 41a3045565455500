import type { Given, Input, NotAsync } from "./arg.ts";
import type { Call } from "./call.ts";
import type { Callable } from "./callable.ts";
import type { Duration } from "./duration.ts";
import type { External } from "./external.ts";
import type {
  Condition,
  Decision,
  GateOptions,
  MapOptions,
  MapYield,
  NodeOptions,
  OnFailure,
  RepeatOptions,
  RunOptions,
  SignalOptions,
  Tolerate,
  Until,
  When,
  Yield,
} from "./flow-options.ts";
import type { Cases, Kind, Other, Rivals, Shape, Winner } from "./flow-shapes.ts";
import type { Ref, RefTo } from "./ref.ts";
import type { Signal } from "./signal.ts";
import type { Step } from "./step.ts";
import type { Workflow } from "./workflow.ts";

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

  /** Waits for a time, or until an instant from data. Whatever should wait with it names it in `after`. */
  sleep<W extends When = undefined>(
    name: string,
    end: Duration | Until,
    options?: NodeOptions<W>,
  ): Ref<Yield<null, W, undefined>>;

  /**
   * A step again and again, until a condition over its output holds; yields the last output. Its input may be made from the
   * output before, which is missing at first.
   */
  repeat<In, Out, W extends When = undefined, F extends OnFailure = undefined>(
    step: Step<In, Out>,
    input: Input<Given<In>> | ((last: Ref<Out | undefined>) => Input<Given<In>>),
    options: RepeatOptions<Out, W, F>,
  ): Ref<Yield<Out, W, F>>;

  /** Work that a handler begins and something outside completes; yields what it was completed with. */
  external<In, Out, W extends When = undefined, F extends OnFailure = undefined>(
    external: External<In, Out>,
    input: Input<Given<In>>,
    options?: RunOptions<Out, W, F>,
  ): Ref<Yield<Out, W, F>>;

  /**
   * Which of several nodes is done first, and with what. The others are skipped, and what they began is cancelled or undone; so
   * nothing else may read them. A failure fails the run as ever.
   */
  first<R extends Rivals>(rivals: R): Ref<Winner<R>>;
  /** The same, and a rival that fails drops out while others may win. Yields nothing if all of them failed. */
  first<R extends Rivals>(rivals: R, options: { readonly onFailure: "continue" }): Ref<Winner<R> | undefined>;

  /** Nodes that are added inside run only if the condition holds. Yields what `body` returns, or nothing. */
  when<const R>(condition: Condition, body: (flow: this) => R & NotAsync<R>): Ref<Shape<R> | undefined>;

  /** Nodes that run only if a value is there, neither missing nor `null`: inside, it is. Yields what `body` returns, or nothing. */
  given<T, const R>(
    value: RefTo<T>,
    body: (value: Ref<NonNullable<T>>, flow: this) => R & NotAsync<R>,
  ): Ref<Shape<R> | undefined>;

  /**
   * One case for each kind of a union, told apart by the field `key`; inside its case the value has that kind. Yields what the
   * case that fits returns. A kind without a case fails the run with `no-case`.
   */
  choose<T extends object, K extends keyof T & string, const R extends { readonly [V in Kind<T, K>]: unknown }>(
    value: RefTo<T>,
    key: K,
    cases: Cases<T, K, R, this>,
  ): Ref<Shape<R[keyof R]>>;
  /** The same with a function for all kinds that have no case of their own, unknown ones included. */
  choose<
    T extends object,
    K extends keyof T & string,
    const R extends { readonly [V in Kind<T, K>]?: unknown },
    const E,
  >(
    value: RefTo<T>,
    key: K,
    cases: Cases<T, K, R, this>,
    otherwise: (value: Ref<Other<T, K, keyof R>>, flow: this) => E & NotAsync<E>,
  ): Ref<Shape<R[keyof R] | E>>;

  /** Puts `name` and a dot before the names of the nodes that are added inside: so a helper can be used twice. */
  scope<R>(name: string, body: (flow: this) => R & NotAsync<R>): R;

  /** Nodes that are added inside wait, each, for the one before. */
  series<R>(body: (flow: this) => R & NotAsync<R>): R;
}

/** The `flow` of a workflow with an output schema, which can start itself. */
export interface SelfFlow<In, Out> extends Flow {
  /** A run of this very workflow, on the same definition. It needs a condition, or it would never end. */
  self<W extends When = undefined, F extends OnFailure = undefined>(
    input: Input<Given<In>>,
    options?: RunOptions<Out, W, F>,
  ): Ref<Yield<Out, W, F>>;
}
