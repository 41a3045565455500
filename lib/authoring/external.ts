import type { ExternalNode } from "../core/definition.ts";
import { Fault } from "../core/faults.ts";
import type { StepContext } from "../core/registry.ts";
import type { Duration } from "./duration.ts";
import { inside } from "./inside.ts";
import { type Again, type Once, policyOf, spanOf } from "./policy.ts";
import type { Kept, MustBeJson, Schema, Sent } from "./schema.ts";

declare const contract: unique symbol;

/** What an external needs beside the handler that begins it. */
export type ExternalConfig<I extends Schema, O extends Schema> = {
  /** Checks what the workflow sends; the handler gets the kept side. */
  readonly input: I & MustBeJson<Sent<I>, "input">;
  /** Checks what the work is completed with; the kept side is stored. A completion that does not fit is refused, nothing is stored. */
  readonly output: O & MustBeJson<Kept<O>, "output">;
  /** From the handler's return to the completion. Then the attempt has timed out, and the retry policy decides. */
  readonly completeWithin: Duration;
  /** Longest pause between two heartbeats from outside. None are expected unless it is given. */
  readonly beat?: Duration;
  /** Longest duration of the handler that begins it; 30 seconds unless given. */
  readonly timeout?: Duration;
  /** Fails the node if no worker took the task for so long. Off unless given. */
  readonly startWithin?: Duration;
  /** Part of the handler's address `name@version`, `"1"` unless given. */
  readonly version?: string;
  /** The worker group. `"default"` unless given. */
  readonly group?: string;
} & (Once | Again);

/** An external as the rest of the package sees it. */
interface ExternalInside {
  readonly input: Schema;
  readonly output: Schema;
  readonly handler: (input: unknown, context: StepContext) => unknown;
  readonly body: Omit<ExternalNode, "input" | "name">;
}

/** Work that a worker begins and something outside completes. Use it with `flow.external`. */
export interface External<in In, out Out> {
  readonly kind: "external";
  readonly name: string;
  readonly version: string;
  /** For the compiler alone. */
  readonly [contract]?: (input: In) => Out;
  readonly [inside]: ExternalInside;
}

/**
 * Defines work that goes on outside: `begin` starts it and hands over `context.token`; whoever holds that token completes, fails or
 * prolongs the attempt. What `begin` returns is not looked at. Another attempt begins the work anew, under another token and the
 * same `context.idempotencyKey`. Throws a `Fault` `bad-definition` that lists all that is wrong with the options.
 */
export function external<I extends Schema, O extends Schema>(
  name: string,
  config: ExternalConfig<I, O>,
  begin: (input: Kept<I>, context: StepContext) => unknown,
): External<Sent<I>, Kept<O>> {
  const { version = "1", group = "default", input, output } = config;
  const mends: string[] = [];
  if (typeof begin !== "function") mends.push("begin: pass a function as the third argument");
  if (input?.["~standard"] === undefined) mends.push("input: pass a schema of valibot, zod, arktype or the like");
  if (output?.["~standard"] === undefined) mends.push("output: pass a schema of what it is completed with");
  if (config.once && config.retry) mends.push("once: it is never tried again, so leave retry out");
  if (config.completeWithin === undefined) mends.push("completeWithin: say how long the completion may take");
  const beatMs = spanOf("beat", config.beat, undefined, mends);
  const completeWithinMs = spanOf("completeWithin", config.completeWithin, 1, mends);
  if (beatMs !== undefined && beatMs > completeWithinMs)
    mends.push("beat: is longer than completeWithin, so it never counts: shorten it or leave it out");
  const body = {
    kind: "external" as const,
    handler: `${name}@${version}`,
    group,
    ...policyOf(config, mends),
    completeWithinMs,
    ...(beatMs !== undefined && { beatMs }),
  };
  if (mends.length > 0) throw new Fault("bad-definition", `external "${name}": ${mends.join("; ")}`);
  const handler = begin as ExternalInside["handler"];
  return { kind: "external", name, version, [inside]: { input, output, handler, body } };
}
