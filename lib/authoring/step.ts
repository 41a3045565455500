import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { StepBody } from "../core/definition.ts";
import { Fault } from "../core/faults.ts";
import type { StepContext } from "../core/registry.ts";
import type { Callable } from "./callable.ts";
import type { Duration } from "./duration.ts";
import { inside } from "./inside.ts";
import { type Again, type Once, policyOf } from "./policy.ts";
import type { Kept, MustBeJson, Schema, Sent } from "./schema.ts";

/** What a step needs beside its handler. */
export type StepConfig<I extends Schema, O extends Schema> = {
  /** Checks what the workflow sends; the handler gets the kept side, which need not be JSON (a `Date`, say). */
  readonly input: I & MustBeJson<Sent<I>, "input">;
  /** Checks what the handler returns; the kept side is stored. Without it the step returns nothing, and its output is `null`. */
  readonly output?: O & MustBeJson<Kept<O>, "output">;
  /** Longest duration of one attempt; 30 seconds unless given. */
  readonly timeout?: Duration;
  /** Fails the node if no worker took the task for so long. Off unless given: a backlog is no reason to fail. */
  readonly startWithin?: Duration;
  /** Set it if the handler calls `ctx.heartbeat()`: the longest pause between two calls. A dead worker is then noticed sooner. */
  readonly heartbeat?: Duration;
  /**
   * Part of the handler's address `name@version`, `"1"` unless given. Runs in flight keep calling the version they began with:
   * raise it, and keep the old step registered, when a new handler cannot serve them.
   */
  readonly version?: string;
  /** The worker group: a function with its own role, memory, time-out and queue. `"default"` unless given. */
  readonly group?: string;
} & (Once | Again) &
  (Inline | Queued);

type Inline = {
  /** Runs in the worker that ended the step before it: no queue hop, one write. For short steps. */
  readonly inline: true;
  /** Running it twice does no harm, so it may share a write with inline neighbours. */
  readonly repeatable?: boolean;
};
type Queued = { readonly inline?: false; readonly repeatable?: never };

/** The output schema of a step that returns nothing. */
export type Nothing = StandardSchemaV1<void, null>;

/**
 * A handler: gets the kept side of the input, returns the sent side of the output. (Conditional on purpose: literals in results
 * keep their types without `as const`.)
 */
export type StepHandler<I extends Schema, O extends Schema> = O extends Schema
  ? (input: Kept<I>, context: StepContext) => Sent<O> | Promise<Sent<O>>
  : never;

/** A step as the rest of the package sees it. */
export interface StepInside {
  readonly input: Schema;
  readonly output: Schema | undefined;
  readonly handler: (input: unknown, context: StepContext) => unknown;
  /** The node's part that does not depend on where the step is used. */
  readonly body: Omit<StepBody, "input">;
}

/** Work that a worker does, under a name and a policy. Use it in any number of workflows. */
export interface Step<in In, out Out> extends Callable<In, Out, "step"> {
  readonly version: string;
  readonly [inside]: StepInside;
}

/** For the compiler alone: what the handler itself takes and gives. */
export declare const handling: unique symbol;

/** A step whose schemas change what goes through them: its handler takes and gives other types than the workflow sees. */
export interface Handling<in Taken, out Given> {
  readonly [handling]?: (taken: Taken) => Given;
}

/** Without transforms both sides are the same, and a step is nothing but a step. */
type Made<I extends Schema, O extends Schema> = [Nothing] extends [O]
  ? Same<Sent<I>, Kept<I>> extends true
    ? Step<Sent<I>, Kept<O>>
    : Step<Sent<I>, Kept<O>> & Handling<Kept<I>, void>
  : Same<[Sent<I>, Kept<O>], [Kept<I>, Sent<O>]> extends true
    ? Step<Sent<I>, Kept<O>>
    : Step<Sent<I>, Kept<O>> & Handling<Kept<I>, Sent<O>>;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/**
 * Defines a step. The handler may run more than once, as anything may that survives crashes: hand `context.idempotencyKey` to
 * services that deduplicate, or say `once`. Throws a `Fault` `bad-definition` that lists all that is wrong with the options.
 */
export function step<I extends Schema, O extends Schema = Nothing>(
  name: string,
  config: StepConfig<I, O>,
  handler: StepHandler<I, O>,
): Made<I, O> {
  const { version = "1", group = "default", input, output } = config;
  const mends: string[] = [];
  if (typeof handler !== "function") mends.push("handler: pass a function as the third argument");
  if (input?.["~standard"] === undefined) mends.push("input: pass a schema of valibot, zod, arktype or the like");
  if (config.once && config.retry) mends.push("once: it is never tried again, so leave retry out");
  if (config.repeatable && !config.inline) mends.push("repeatable: only inline steps share writes, so set inline too");
  const body = {
    kind: "step" as const,
    handler: `${name}@${version}`,
    group,
    ...policyOf(config, mends),
    ...(config.inline && { isInline: true }),
    ...(config.repeatable && { isRepeatable: true }),
  };
  if (mends.length > 0) throw new Fault("bad-definition", `step "${name}": ${mends.join("; ")}`);
  const made: Step<never, unknown> = {
    ...{ kind: "step", name, version },
    [inside]: { input, output, handler: handler as StepInside["handler"], body },
  };
  return made as Made<I, O>;
}
