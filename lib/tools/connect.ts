/**
 * Runs of a stack on this machine or in an account, in the hands of a test: the surface of `testWorkflow` without what only virtual
 * time can do.
 */
import type { AnyWorkflow } from "../authoring/registry.ts";
import type { Workflow } from "../authoring/workflow.ts";
import type { RunRef } from "../engine/engine.ts";
import { type StartRequest, start } from "../engine/start.ts";
import { createRunHandle } from "../testing/run-handle.ts";
import type { RunHandle } from "../testing/run-surface.ts";
import { engineOn, type Installation } from "./installation.ts";
import { createPollingDriver } from "./polling-driver.ts";

export type { By, OutsideWork, RunHandle } from "../testing/run-surface.ts";
export type { Waiting } from "../testing/waiting.ts";
export type { Installation } from "./installation.ts";

/** Where to connect to, and how patient to be. */
export interface ConnectOptions extends Installation {
  /** Those that are started or signalled from here. */
  readonly workflows: readonly AnyWorkflow[];
  /** How long `end()` waits; a minute unless given. Then it throws. */
  readonly endWithinMs?: number;
  /** Pause between two looks; 200 ms unless given. */
  readonly pollMs?: number;
}

/** A start as {@link Connection} takes it. */
export type ConnectedStart<In> = Omit<StartRequest, "workflow" | "input"> & { readonly input: In };

/** An installation that runs can be started on and looked up in. */
export interface Connection {
  start<In, Out>(workflow: Workflow<In, Out>, request: ConnectedStart<In>): Promise<RunHandle<Out>>;
  /** A run that is there. Throws the `Fault` `run-not-found`. */
  run<Out>(workflow: Workflow<never, Out>, runId: string, tenant?: string): Promise<RunHandle<Out>>;
  close(): void;
}

/** Connects a test to a stack. It speaks to the table and the queues as the functions do, so it needs their permissions. */
export function connect(options: ConnectOptions): Connection {
  const { engine, close } = engineOn(options, options.workflows);
  const handleOf = <Out>(ref: RunRef) => {
    const driver = createPollingDriver(engine, ref, {
      endWithinMs: options.endWithinMs ?? 60_000,
      pollMs: options.pollMs ?? 200,
    });
    return createRunHandle<Out>(engine, ref, driver);
  };
  return {
    async start<In, Out>(workflow: Workflow<In, Out>, request: ConnectedStart<In>) {
      const { tenant, runId } = await start(engine, { ...request, workflow: workflow.name });
      return await handleOf<Out>({ tenant, runId });
    },
    run: (_, runId, tenant = "default") => handleOf({ tenant, runId }),
    close,
  };
}
