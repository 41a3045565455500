import type { Definition } from "../core/definition.ts";
import type { Input, NotAsync, Resolved } from "./arg.ts";
import { buildTwice } from "./build-twice.ts";
import type { Callable } from "./callable.ts";
import type { Work } from "./callee.ts";
import type { Flow, SelfFlow } from "./flow.ts";
import { inside } from "./inside.ts";
import type { Ref } from "./ref.ts";
import type { Kept, MustBeJson, Schema, Sent } from "./schema.ts";
import type { Signal } from "./signal.ts";

/** A workflow as a registry sees it. */
export interface WorkflowInside {
  readonly input: Schema;
  readonly steps: readonly Work[];
  readonly children: readonly Workflow<never, unknown>[];
  readonly signals: readonly Signal<never, unknown>[];
}

/** A typed graph of nodes, and its name. Start runs of it, or use it as a child of other workflows. */
export interface Workflow<in In, out Out> extends Callable<In, Out, "workflow"> {
  /** What the function came to: plain JSON. */
  readonly definition: Definition;
  /** Address of the definition; runs are pinned to it. */
  readonly hash: string;
  readonly [inside]: WorkflowInside;
}

interface WorkflowConfig<I extends Schema> {
  /** Checks what a start sends; the kept side is stored, and is what the function's `input` refers to. */
  readonly input: I & MustBeJson<Kept<I>, "input">;
}

/**
 * Builds a workflow: `body` is called here and now, with references instead of values, and what it adds to `flow` and returns
 * is data. It is called twice, and must come to the same graph both times. Throws a `Fault` `bad-definition` that lists
 * everything that is wrong, each with the reference, its place in the source and what to write instead.
 */
export function workflow<I extends Schema, O extends Schema>(
  name: string,
  config: WorkflowConfig<I> & {
    /**
     * What the runs yield. It types the result, what the function must return, and `flow.self`; nothing is checked in the run.
     */
    readonly output: O & MustBeJson<Kept<O>, "output">;
  },
  body: (flow: SelfFlow<Sent<I>, Kept<O>>, input: Ref<Kept<I>>) => Input<Kept<O>>,
): Workflow<Sent<I>, Kept<O>>;
export function workflow<I extends Schema, const R>(
  name: string,
  config: WorkflowConfig<I> & { readonly output?: never },
  body: (flow: Flow, input: Ref<Kept<I>>) => R & NotAsync<R>,
): Workflow<Sent<I>, Resolved<R>>;
export function workflow(
  name: string,
  config: WorkflowConfig<Schema> & { readonly output?: unknown },
  body: (flow: never, input: never) => unknown,
): Workflow<never, unknown> {
  const { definition, hash, ...used } = buildTwice(name, body as (flow: unknown, input: unknown) => unknown, {
    hasOutput: config.output !== undefined,
  });
  return { kind: "workflow", name, definition, hash, [inside]: { input: config.input, ...used } };
}
