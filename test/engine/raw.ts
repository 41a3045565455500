import type { Definition, Expr, NodeDef } from "../../lib/core/definition.ts";
import { Fault } from "../../lib/core/faults.ts";
import type { Json } from "../../lib/core/json.ts";
import type { Handler, RegisteredWorkflow, Registry, StepContext } from "../../lib/core/registry.ts";
import { type Run, statusOf } from "../../lib/core/run.ts";
import { digest } from "../../lib/digest.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import type { World } from "../../lib/testing/world.ts";

export type RawHandler = (input: Json, context: StepContext) => Json | Promise<Json>;

export const definitionOf = (workflow: string, nodes: readonly NodeDef[], output?: Expr): Definition => ({
  format: 1,
  workflow,
  nodes,
  ...(output !== undefined && { output }),
});

export const hashOf = (definition: Definition): string => digest(definition as unknown as Json);

/**
 * A registry of hand-made definitions: without the authoring layer's limits and checks. Inputs and signals are taken as they are;
 * a handler that is not listed is not there.
 */
export function rawRegistry(
  definitions: readonly Definition[],
  handlers: { readonly [ref: string]: RawHandler } = {},
): Registry {
  const all = definitions.map(
    (definition): RegisteredWorkflow => ({
      name: definition.workflow,
      definition,
      hash: hashOf(definition),
      parseInput: async (raw) => raw as Json,
      parseSignal: async (signal, raw) => {
        if (!definition.nodes.some((def) => def.kind === "signal" && def.signal === signal))
          throw new Fault("bad-input", `no signal "${signal}"`);
        return raw as Json;
      },
    }),
  );
  return {
    workflow: (name) => all.find((each) => each.name === name),
    byHash: (hash) => all.find((each) => each.hash === hash),
    handler: (ref) => rawHandler(ref, handlers[ref]),
  };
}

/** A handler without checks, if there is one. */
export function rawHandler(ref: string, handler: RawHandler | undefined): Handler | undefined {
  return (
    handler && {
      ref,
      prepare: async (input) => async (context) => await handler(input, context),
      parseOutput: async (output) => output as Json,
    }
  );
}

export const refOf = (runId: string) => ({ tenant: "default", runId });

/** Goes on until the run has ended, and gives what it came to. */
export async function ended(world: World, runId: string, maxMs = 90 * 86_400_000) {
  let run: Run | undefined;
  await world.until(async () => {
    run = await findRun(world.engine, refOf(runId));
    return run?.endedAtMs !== undefined;
  }, maxMs);
  const result = await readResult(world.engine, refOf(runId));
  return { status: statusOf(result.run), run: result.run, output: result.output?.ok ? result.output.value : undefined };
}

export async function runOf(world: World, runId: string): Promise<Run> {
  const run = await findRun(world.engine, refOf(runId));
  if (!run) throw new Error(`no run ${runId}`);
  return run;
}

/** What must hold of every test that does not break the platform on purpose. */
export function faultsOf(world: World): readonly unknown[] {
  return [...world.thrown, ...world.log.entries.filter((entry) => entry.level === "error")];
}
