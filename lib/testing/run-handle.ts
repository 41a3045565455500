import type { Signal } from "../authoring/signal.ts";
import { type Run, statusOf } from "../core/run.ts";
import { timelineText } from "../core/timeline-text.ts";
import { cancel, pause, resume, signal as sendSignal, terminate } from "../engine/commands.ts";
import { decide } from "../engine/decide.ts";
import type { Engine, RunRef } from "../engine/engine.ts";
import { beat, complete, fail } from "../engine/external.ts";
import { readResult, timeline } from "../engine/inspect.ts";
import type { RunHandle } from "./run-surface.ts";
import { waitingOf } from "./waiting.ts";

/** How time passes for a run: virtually, or while one looks again and again. */
export interface Driver {
  /** Awaits a call of the outside on the run. */
  during<T>(call: Promise<T>): Promise<T>;
  /** Lets the run go on as far as it can at once. */
  settle(): Promise<void>;
  /** Lets it go on to its end, or to where it waits for somebody. */
  toEnd(): Promise<void>;
  nowMs(): number;
  /** Told how the row stood whenever it was read. */
  saw?(run: Pick<Run, "recordVersion">): void;
  /** What completes an external, by its node's name or as it is. */
  tokenOf(nameOrToken: string): string;
}

/** What is done to a run from outside, and how it stands, whatever it runs on. */
export async function createRunHandle<Out>(engine: Engine, ref: RunRef, driver: Driver): Promise<RunHandle<Out>> {
  let seen = await driver.during(readResult(engine, ref));
  driver.saw?.(seen.run);
  const refresh = async () => {
    seen = await driver.during(readResult(engine, ref));
    driver.saw?.(seen.run);
  };
  const act = async (call: Promise<unknown>) => {
    await driver.during(call);
    await driver.settle();
    await refresh();
  };
  const by = (options: { readonly by?: string } | undefined) => options?.by ?? "somebody";
  const handle: RunHandle<Out> = {
    tenant: ref.tenant,
    runId: ref.runId,
    get status() {
      return statusOf(seen.run);
    },
    get output() {
      return (seen.output?.ok ? seen.output.value : undefined) as Out | undefined;
    },
    get reason() {
      return seen.run.reason;
    },
    get waitingFor() {
      return waitingOf(seen.run, seen.program, driver.nowMs());
    },
    signal: (signal: string | Signal<never, unknown>, payload: unknown, options: { readonly id?: string } = {}) =>
      act(sendSignal(engine, ref, { ...options, signal: typeof signal === "string" ? signal : signal.name, payload })),
    decide: (gate, decision) => act(decide(engine, ref, { gate, ...decision })),
    cancel: (options) => act(cancel(engine, ref, by(options), options?.reason)),
    terminate: (options) => act(terminate(engine, ref, by(options), options?.reason)),
    pause: (options) => act(pause(engine, ref, by(options), options?.reason)),
    resume: (options) => act(resume(engine, ref, by(options), options?.reason)),
    external: (nameOrToken) => ({
      complete: (output) => act(complete(engine, driver.tokenOf(nameOrToken), output)),
      fail: (message, options) => act(fail(engine, driver.tokenOf(nameOrToken), { message, ...options })),
      beat: () => act(beat(engine, driver.tokenOf(nameOrToken))),
    }),
    async end() {
      await driver.toEnd();
      await refresh();
      return handle.status;
    },
    refresh,
    timeline: async () => timelineText(await driver.during(timeline(engine, ref))),
  };
  return handle;
}
