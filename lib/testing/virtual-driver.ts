import { decodeRun } from "../core/row-format.ts";
import { isLive, isSettled } from "../core/run.ts";
import { childRunId } from "../engine/child-id.ts";
import { programFor } from "../engine/definitions.ts";
import type { RunRef } from "../engine/engine.ts";
import { stateKey } from "../engine/records/state.ts";
import type { FakedRegistry } from "./faked-registry.ts";
import type { Driver } from "./run-handle.ts";
import { isWaitingForSomebody } from "./waiting.ts";
import type { World } from "./world.ts";

/** Longer than any run may take. */
const endMsMax = 500 * 86_400_000;

/** Lets virtual time pass for the runs of a world, and waits for the functions of users, which take real time. */
export function createVirtualDriver(options: {
  readonly world: World;
  readonly registry: FakedRegistry;
  readonly ref: RunRef;
}): Driver & { advance(byMs: number): Promise<void> } {
  const { world, registry, ref } = options;
  const { clock } = world;

  function rethrow(): void {
    if (world.thrown.length > 0)
      throw new AggregateError(world.thrown, "the engine threw: this is a fault of Tickwright");
  }

  async function settle(): Promise<void> {
    do {
      while (await registry.idle()) await clock.settle();
    } while ((await world.deliver()) > 0 || (await registry.idle()));
    rethrow();
  }

  const runs = () =>
    world.store
      .snapshot()
      .filter(({ sk }) => sk === "STATE")
      .map((row) => decodeRun({ pk: row.pk }, row));

  async function isForSomebody(): Promise<boolean> {
    const all = runs();
    const live = new Set(all.filter(isLive).map(({ runId }) => runId));
    for (const run of all) {
      if (!isLive(run)) {
        if (!isSettled(run)) return false;
        continue;
      }
      if (run.isPaused && !registry.isSleeping) continue;
      // a child that has ended, or has yet to begin, is a message that is on its way
      if (run.active.some((entry) => entry.state === "child" && !live.has(childRunId(run, entry)))) return false;
      if (!isWaitingForSomebody(run, await programFor(world.engine, run.definitionHash), clock.nowMs())) return false;
    }
    return true;
  }

  async function toEnd(): Promise<void> {
    const limitMs = clock.nowMs() + endMsMax;
    for (;;) {
      await settle();
      const row = world.store.peek(stateKey(ref));
      if (!row || isSettled(decodeRun(stateKey(ref), row)) || (await isForSomebody())) return;
      if (clock.nowMs() >= limitMs) throw new Error(`run "${ref.runId}" neither ends nor waits for somebody`);
      await world.step(limitMs);
    }
  }

  async function advance(byMs: number): Promise<void> {
    const limitMs = clock.nowMs() + byMs;
    for (;;) {
      await settle();
      if (clock.nowMs() >= limitMs) return;
      await world.step(limitMs);
    }
  }

  return {
    settle,
    toEnd,
    advance,
    during: (call) => clock.drive(call),
    nowMs: () => clock.nowMs(),
    tokenOf(nameOrToken) {
      const call = registry.calls.findLast(
        ({ step, node, token }) => token !== "" && (node === nameOrToken || step === nameOrToken),
      );
      return call?.token ?? nameOrToken;
    },
  };
}
