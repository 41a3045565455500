import { expect } from "vitest";
import type { Json } from "../../lib/core/json.ts";
import { statusOf } from "../../lib/core/run.ts";
import { command } from "../../lib/engine/commands.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import { type AnyWorkflow, createRegistry } from "../../lib/index.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import type { StoreCall } from "../../lib/testing/memory-store.ts";
import { createWorld, type WorldOptions } from "../../lib/testing/world.ts";

const ref = { tenant: "default", runId: "r1" };

/** One run of one workflow in virtual time, by the production engine on memory adapters. */
export function tell(workflow: AnyWorkflow, options: Partial<WorldOptions> = {}) {
  const rules: { readonly fits: (call: StoreCall) => boolean; readonly act: Injection; left: number }[] = [];
  const before = (call: StoreCall) => {
    const rule = rules.find((each) => each.left > 0 && each.fits(call));
    if (rule) rule.left -= 1;
    return rule?.act;
  };
  const world = createWorld({
    registry: createRegistry([workflow]),
    functionMs: 900_000,
    visibilityMs: 900_000,
    storeHooks: { before },
    ...options,
  });
  const run = async () => {
    const found = await findRun(world.engine, ref);
    if (!found) throw new Error("there is no run");
    return found;
  };
  return {
    world,
    ref,
    run,
    get engine() {
      return world.engine;
    },
    /** Does something to the next calls that fit. */
    inject(fits: (call: StoreCall) => boolean, act: Injection, times = 1) {
      rules.push({ fits, act, left: times });
    },
    begin: (input: Json = {}) => start(world.engine, { workflow: workflow.name, runId: ref.runId, input }),
    cancel: () => command(world.engine, ref, { kind: "cancel", by: "a test", reason: "", id: "cancel-1" }),
    /** Names of the nodes in flight. */
    async inFlight() {
      const { active } = await run();
      return active.map(({ node }) => workflow.definition.nodes[node]?.name);
    },
    /** What the run came to, and after how long. Functions threw nothing meanwhile. */
    async end(maxMs = 90 * 86_400_000) {
      const fromMs = world.clock.nowMs();
      await world.until(async () => (await run()).endedAtMs !== undefined, maxMs);
      expect(world.thrown).toEqual([]);
      const { run: now, output } = await readResult(world.engine, ref);
      return {
        status: statusOf(now),
        reason: now.reason?.code,
        message: now.reason?.message,
        output: output?.ok ? output.value : output?.fault,
        tookMs: (now.endedAtMs ?? 0) - fromMs,
      };
    },
  };
}

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
