import type { Arg } from "./arg.ts";
import type { Call } from "./call.ts";
import type { Duration } from "./duration.ts";
import type { Ref, RefTo } from "./ref.ts";

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

/** Options of a step, a child or an external. */
export interface RunOptions<Out, W, F> extends WorkOptions<W, F> {
  /** If the run fails or is cancelled after this node succeeded: the call of a step that undoes it. */
  readonly compensate?: (output: Ref<Out>) => Call<unknown, "step">;
}

/** Options of a map: how many items at once, and how many of them may fail. */
export interface MapOptions<Out, W, F, T> extends WorkOptions<W, F> {
  /** Items in flight at once, 1 to 4,096; 8 unless given. */
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

export type When = Condition | undefined;
export type OnFailure = "fail" | "continue" | undefined;
export type Tolerate = number | `${number}%` | undefined;

/** Options of a repeat: how often, how fast, and until when. */
export interface RepeatOptions<Out, W, F> extends WorkOptions<W, F> {
  /** Ends the repetition: a condition over the output of one iteration, and nothing else. */
  readonly until: (output: Ref<Out>) => Condition;
  /** Pause before the second iteration. */
  readonly every: Duration;
  /** Each later pause is the last one times this; 1 unless given. */
  readonly factor?: number;
  /** The longest pause; an hour unless given, or `every` if that is longer. */
  readonly longest?: Duration;
  /** Iterations at most, 1 to 10,000; then the node fails with `repeat-limit`. */
  readonly limit: number;
}

/** When a sleep ends, if data says so: ISO 8601 with a zone, or epoch milliseconds. An instant that has passed ends it at once. */
export interface Until {
  readonly until: RefTo<string | number>;
}

/** What a node yields, given its condition and its policy. (Spelled out so that editors show the result, not this name.) */
export type Yield<T, W, F> = [W] extends [undefined]
  ? [F] extends ["continue"]
    ? Outcome<T>
    : "continue" extends F
      ? T | Outcome<T>
      : T
  : ([F] extends ["continue"] ? Outcome<T> : "continue" extends F ? T | Outcome<T> : T) | undefined;

export type MapYield<Out, T> = [T] extends [undefined] ? readonly Out[] : readonly Outcome<Out>[];
