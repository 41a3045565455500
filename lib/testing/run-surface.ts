import type { Signal } from "../authoring/signal.ts";
import type { Decision } from "../core/inputs.ts";
import type { Reason, RunStatus } from "../core/run.ts";
import type { Waiting } from "./waiting.ts";

/** Who did it, and why. */
export interface By {
  readonly by?: string;
  readonly reason?: string;
}

/** What may be said from outside about work that a handler began. */
export interface OutsideWork {
  complete(output: unknown): Promise<void>;
  /** Tried again as the retry policy says, unless it is fatal. */
  fail(message: string, options?: { readonly isFatal?: boolean }): Promise<void>;
  beat(): Promise<void>;
}

/**
 * A run in the hands of a test: the same in memory, on a developer's machine and on a deployed stack. What it shows is how the run
 * stood when the last of its methods returned. Methods throw the `Fault`s of the calls that they stand for: `run-ended`,
 * `gate-not-open`, `gate-decided`, `bad-input`, `mailbox-full`, `attempt-ended`.
 */
export interface RunHandle<Out = unknown> {
  readonly tenant: string;
  readonly runId: string;
  readonly status: RunStatus;
  /** Once it has succeeded. */
  readonly output: Out | undefined;
  /** Why it failed or is parked, or who ended it. */
  readonly reason: Reason | undefined;
  readonly waitingFor: readonly Waiting[];
  /** With an `id` a repeat is harmless. */
  signal<Sent>(signal: Signal<Sent, unknown>, payload: Sent, options?: { readonly id?: string }): Promise<void>;
  signal(signal: string, payload: unknown, options?: { readonly id?: string }): Promise<void>;
  decide(gate: string, decision: Decision & { readonly id?: string }): Promise<void>;
  /** Stops the run, and undoes what it did. */
  cancel(by?: By): Promise<void>;
  /** Ends the run, and undoes nothing. */
  terminate(by?: By): Promise<void>;
  pause(by?: By): Promise<void>;
  resume(by?: By): Promise<void>;
  /** Work that goes on outside, by its token; in a test in memory also by its node's name. */
  external(nameOrToken: string): OutsideWork;
  /** Lets it go on to its end, or to where everything that it waits for somebody else has to do. Gives the status. */
  end(): Promise<RunStatus>;
  /** Looks again. */
  refresh(): Promise<void>;
  /** What the run did, node by node, in times since its start. */
  timeline(): Promise<string>;
}
