import { isLive, type Run, statusOf } from "../core/run.ts";
import type { Engine, RunRef } from "../engine/engine.ts";
import { readResult } from "../engine/inspect.ts";
import type { Driver } from "../testing/run-handle.ts";
import { type Waiting, waitingOf } from "../testing/waiting.ts";

/** What was said to a run is looked at within this, or it changed nothing. */
const heardWithinMs = 5_000;

const forSomebody: ReadonlySet<Waiting["kind"]> = new Set(["gate", "signal", "external", "deploy"]);

/** Looks at a run again and again while others move it. */
export function createPollingDriver(
  engine: Engine,
  ref: RunRef,
  options: { readonly endWithinMs: number; readonly pollMs: number },
): Driver {
  const { clock } = engine;
  let version = 0;
  let said: { readonly atMs: number; readonly version: number } | undefined;

  async function look() {
    const { run, program } = await readResult(engine, ref);
    return { run, waiting: waitingOf(run, program, clock.nowMs()) };
  }

  /** A row that has not moved since something was said may not have heard of it yet. */
  const hasHeard = (run: Run) =>
    !said || run.recordVersion > said.version || clock.nowMs() >= said.atMs + heardWithinMs;

  return {
    async during(call) {
      return await call;
    },
    async settle() {
      said = { atMs: clock.nowMs(), version };
    },
    async toEnd() {
      const limitMs = clock.nowMs() + options.endWithinMs;
      for (;;) {
        const { run, waiting } = await look();
        if (!isLive(run)) return;
        const isForSomebody =
          run.isPaused || (waiting.length > 0 && waiting.every(({ kind }) => forSomebody.has(kind)));
        if (isForSomebody && hasHeard(run)) return;
        if (clock.nowMs() >= limitMs) throw new Error(stillSo(ref, statusOf(run), waiting, options.endWithinMs));
        await clock.sleep(options.pollMs);
      }
    },
    nowMs: () => clock.nowMs(),
    saw(run) {
      version = run.recordVersion;
    },
    tokenOf: (token) => token,
  };
}

function stillSo(ref: RunRef, status: string, waiting: readonly Waiting[], ms: number): string {
  const what = waiting.map(({ kind, name }) => `${kind} ${name}`).join(", ");
  return `run "${ref.runId}" is still ${status} after ${ms} ms${what ? `: it waits for ${what}` : ""}`;
}
