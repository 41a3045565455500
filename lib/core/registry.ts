import type { Contract } from "./contract.ts";
import type { Definition } from "./definition.ts";
import type { Json } from "./json.ts";

/** What a handler is told beside its input. */
export interface StepContext {
  readonly tenant: string;
  readonly runId: string;
  /** The node's name; a map's items share it. */
  readonly node: string;
  /** Item of a map, from 0; 0 elsewhere. */
  readonly index: number;
  /** From 1. */
  readonly attempt: number;
  /** The same for every attempt of this node and item: hand it to services that deduplicate. */
  readonly idempotencyKey: string;
  /** Aborted at the time-out, and when the run no longer wants the result. */
  readonly signal: AbortSignal;
  /** Names this attempt to whoever completes it from outside: hand it over. Empty where nobody may. */
  readonly token: string;
  /** Says "still alive": extends the lease. Resolves at once where the lease has no heartbeat. */
  heartbeat(): Promise<void>;
}

/**
 * A user's function with its checks around it. `prepare` checks the input (fault `bad-input`: the node parks, nothing was claimed,
 * no attempt is burnt) and gives what calls the function. That throws a `Fault`: `bad-output` with the path of what does not fit,
 * `fatal`, or `handler-failed` (`details.afterMs`: try again after that).
 */
export interface Handler {
  /** `name@version` */
  readonly ref: string;
  /** What it takes and yields, for comparing builds. */
  readonly contract?: Contract;
  prepare(input: Json): Promise<(context: StepContext) => Promise<Json>>;
  /** Checks what an attempt was completed with from outside; throws `bad-output`. */
  parseOutput(raw: unknown): Promise<Json>;
}

/** A workflow as this process knows it. The parsers throw `Fault` `bad-input`, naming the path of what does not fit. */
export interface RegisteredWorkflow {
  readonly name: string;
  readonly definition: Definition;
  readonly hash: string;
  /** The hash that this process built, where it is not the one that runs start by: the graph depends on where it is built. */
  readonly builtHash?: string;
  /** Checks raw input and gives what is stored: the kept side of the schema. */
  parseInput(raw: unknown): Promise<Json>;
  /** The same for a signal's payload; an unknown signal name is `bad-input` that lists the known ones. */
  parseSignal(signal: string, raw: unknown): Promise<Json>;
}

/** All that a process can run. Children of a workflow are in it too. */
export interface Registry {
  workflow(name: string): RegisteredWorkflow | undefined;
  byHash(hash: string): RegisteredWorkflow | undefined;
  handler(ref: string): Handler | undefined;
  /** Checks of signals that are kept for runs in flight, by name: for those that the run's workflow does not wait for here. */
  readonly keptSignals?: ReadonlyMap<string, (raw: unknown) => Promise<Json>>;
  /** Worker groups that its steps name, for comparing builds. */
  readonly groups?: ReadonlySet<string>;
}
