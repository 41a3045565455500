/**
 * Runs of an installation, on this machine or in an account, in the hands of your own code or of a test: the surface of
 * `testWorkflow` without what only virtual time can do.
 */
import type { AnyWorkflow } from "../authoring/registry.ts";
import type { Workflow } from "../authoring/workflow.ts";
import type { RunRef } from "../engine/engine.ts";
import { beat, complete, fail } from "../engine/external.ts";
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

/** Work that goes on outside, by the token that its handler handed over. */
export interface OutsideByToken {
  /** The output of its node. The first completion counts; the same again does no harm. */
  complete(output: unknown): Promise<void>;
  /** `isFatal`: not tried again. */
  fail(message: string, options?: { readonly isFatal?: boolean }): Promise<void>;
  /** Still alive. */
  beat(): Promise<void>;
}

/** An installation that runs can be started on and looked up in. Each verb throws the faults of its engine's verb. */
export interface Connection {
  start<In, Out>(workflow: Workflow<In, Out>, request: ConnectedStart<In>): Promise<RunHandle<Out>>;
  /** A run that is there. Throws the `Fault` `run-not-found`. */
  run<Out>(workflow: Workflow<never, Out>, runId: string, tenant?: string): Promise<RunHandle<Out>>;
  external(token: string): OutsideByToken;
  close(): void;
}

/** Connects to an installation. It speaks to the table and the queues as the functions do, so it needs their permissions. */
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
    external: (token) => ({
      complete: async (output) => void (await complete(engine, token, output)),
      fail: async (message, how) => void (await fail(engine, token, { message, ...how })),
      beat: () => beat(engine, token),
    }),
    close,
  };
}
