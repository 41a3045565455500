import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Fault } from "../../lib/core/faults.ts";
import { statusOf } from "../../lib/core/run.ts";
import { findRun } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import { unpark } from "../../lib/engine/unpark.ts";
import { createRegistry, type Registry, step, workflow } from "../../lib/index.ts";
import { createWorld, type World, type WorldOptions } from "../../lib/testing/world.ts";

const greet = step("greet", { input: v.object({}) }, () => {});
const registry = createRegistry([
  workflow("hello", { input: v.object({}) }, (flow, input) => void flow.run(greet, input)),
]);
const without: Registry = { ...registry, handler: () => undefined };
const refOf = (runId: string) => ({ tenant: "default", runId });

async function statuses(world: World, count: number): Promise<Set<string>> {
  const runs = await Promise.all(
    Array.from({ length: count }, (_, index) => findRun(world.engine, refOf(`r${index}`))),
  );
  return new Set(runs.map((run) => (run ? statusOf(run) : "missing")));
}

/** A world whose only build lacks the handler, with so many runs that are parked for it. */
async function parked(count: number, options: Partial<WorldOptions> = {}): Promise<World> {
  const world = createWorld({ registry: without, hasWatchdog: false, ...options });
  for (let index = 0; index < count; index++) {
    await start(world.engine, { workflow: "hello", runId: `r${index}`, input: {} });
  }
  await world.until(async () => [...(await statuses(world, count))].join() === "parked", 60_000);
  return world;
}
const wake = (world: World, sendsMax = 100) => unpark(world.engine, () => 60_000, sendsMax);

describe("a deploy", () => {
  it("wakes what is parked, by the watchdog's next look", async () => {
    const world = await parked(3, { hasWatchdog: true });
    world.withEngine({ registry, build: "build-2" });
    await world.until(async () => [...(await statuses(world, 3))].join() === "succeeded", 180_000);
  });

  it("does so once, and so does the one that it is rolled back to", async () => {
    const world = await parked(2);
    expect(await wake(world)).toBe(2);
    expect(await wake(world)).toBe(0);
    world.withEngine({ build: "build-2" });
    expect(await wake(world)).toBe(2);
    world.withEngine({ build: "build-1" });
    expect(await wake(world)).toBe(2);
    expect(await wake(world)).toBe(0);
  });

  it("does so again after a while, ever more rarely: a wake-up may be lost, and an old process may park a run late", async () => {
    const world = await parked(2);
    const woken: number[] = [];
    for (const minutes of [0, 14, 1, 29, 1, 59, 1]) {
      await world.advance(minutes * 60_000);
      woken.push(await wake(world));
      await world.advance(1000);
    }
    expect(woken).toEqual([2, 0, 2, 0, 2, 0, 2]);
  });

  it("wakes no more at once than it may, and goes on from there", async () => {
    const world = await parked(7);
    const woken: number[] = [];
    for (let call = 0; call < 5; call++) woken.push(await wake(world, 3));
    expect(woken).toEqual([3, 3, 1, 0, 0]);
  });

  it("wakes again what a failed sending left asleep", async () => {
    let isDown = false;
    const world = await parked(2, {
      queueHooks: { before: () => (isDown ? { kind: "fail", fault: new Fault("unavailable", "down") } : undefined) },
    });
    isDown = true;
    await expect(wake(world)).rejects.toThrow();
    isDown = false;
    expect(await wake(world)).toBe(2);
  });

  it("may wake a run twice when two watchdogs look at once, and is done then", async () => {
    const world = await parked(2);
    const woken = await Promise.all([wake(world), wake(world)]);
    expect(woken[0]! + woken[1]!).toBeGreaterThanOrEqual(2);
    expect(await wake(world)).toBe(0);
    world.withEngine({ registry });
    await world.until(async () => [...(await statuses(world, 2))].join() === "succeeded", 60_000);
  });

  it("costs one read a look once it is done", async () => {
    const world = await parked(1);
    await wake(world);
    const before = world.units.units();
    await wake(world);
    expect(world.units.units().requests - before.requests).toBe(1);
  });
});
