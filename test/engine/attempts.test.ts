import { describe, expect, test } from "vitest";
import type { StepNode } from "../../lib/core/definition.ts";
import { cancel } from "../../lib/engine/commands.ts";
import { start } from "../../lib/engine/start.ts";
import { Fault } from "../../lib/index.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import type { StoreCall } from "../../lib/testing/memory-store.ts";
import { createWorld } from "../../lib/testing/world.ts";
import { ref, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, type RawHandler, rawRegistry, refOf, runOf } from "./raw.ts";

const begin = async (more: Partial<StepNode>, handler: RawHandler, options = {}) => {
  const world = createWorld({
    registry: rawRegistry([definitionOf("w", [stepNode("z", [], more)], ref("z"))], { "work@1": handler }),
    ...options,
  });
  await start(world.engine, { workflow: "w", runId: "r", input: null });
  return world;
};
const onRecord = (inject: (call: number) => Injection | undefined) => {
  let calls = 0;
  return {
    before: (call: StoreCall) =>
      call.op === "write" && call.write.kind === "edit" && call.write.key.sk.startsWith("ATT#")
        ? inject(calls++)
        : undefined,
  };
};

describe("an attempt's result", () => {
  test.each<[string, Injection]>([
    ["throttled", { kind: "fail", fault: new Fault("throttled", "slow down") }],
    ["denied", { kind: "fail", fault: new Fault("denied", "no permission") }],
    ["lost on its way", { kind: "lose-request" }],
    ["recorded, and the reply lost", { kind: "lose-reply" }],
  ])("that is %s twice is recorded in the end, and the handler ran once (W11)", async (_, injection) => {
    let ran = 0;
    const world = await begin({}, () => ++ran, { storeHooks: onRecord((call) => (call < 2 ? injection : undefined)) });
    expect(await ended(world, "r", 60_000)).toMatchObject({ status: "succeeded", output: 1 });
    expect(ran).toBe(1);
    expect(faultsOf(world)).toEqual([]);
  });

  test("that nobody could record is made again after the lease, and never counted twice", async () => {
    let ran = 0;
    const world = await begin({}, () => ++ran, {
      functionMs: 60_000,
      storeHooks: onRecord((call) => (call < 7 ? { kind: "lose-request" } : undefined)),
    });
    expect(await ended(world, "r", 3_600_000)).toMatchObject({ status: "succeeded", output: 2 });
    expect(faultsOf(world)).toEqual([]);
  });

  test("of a worker whose lease was closed meanwhile is late, and changes nothing", async () => {
    const releases: (() => void)[] = [];
    let ran = 0;
    const world = await begin({ timeoutMs: 600_000, heartbeatMs: 5000 }, async () => {
      const mine = ++ran;
      // the first one hangs, without a beat
      if (mine === 1) await new Promise<void>((resolve) => releases.push(resolve));
      return mine;
    });
    await ended(world, "r", 3_600_000);
    releases[0]?.();
    await world.advance(60_000);
    expect(await ended(world, "r")).toMatchObject({ output: 2 });
    expect(world.metrics.total("attempts-late")).toBe(1);
  });
});

describe("a heartbeat", () => {
  test("keeps a long step's short lease, so that nobody else begins it", async () => {
    let ran = 0;
    let world: Awaited<ReturnType<typeof begin>>;
    world = await begin({ timeoutMs: 600_000, heartbeatMs: 10_000 }, async (_, { heartbeat }) => {
      ran += 1;
      for (let beat = 0; beat < 50; beat++) {
        await world.clock.sleep(9000);
        await heartbeat();
      }
      return "done";
    });
    expect(await ended(world, "r", 3_600_000)).toMatchObject({ status: "succeeded", output: "done" });
    expect(ran).toBe(1);
    expect((await runOf(world, "r")).attempts).toBe(1);
    expect(faultsOf(world)).toEqual([]);
  });

  test("tells a step that nobody wants any more, unless it can be undone", async () => {
    for (const isUndone of [false, true]) {
      const reasons: unknown[] = [];
      const nodes = [stepNode("z", [], { timeoutMs: 600_000, heartbeatMs: 10_000 })];
      if (isUndone) nodes.push(stepNode("z.undo", ["z"], { compensates: "z", handler: "undo@1" }));
      const world = createWorld({
        registry: rawRegistry([definitionOf("w", nodes)], {
          "work@1": async (_, { heartbeat, signal }) => {
            for (let beat = 0; beat < 10; beat++) {
              await world.clock.sleep(5000);
              await heartbeat();
              if (!signal.aborted) continue;
              reasons.push(Fault.is(signal.reason) && signal.reason.code);
              break;
            }
            return 1;
          },
          "undo@1": () => null,
        }),
      });
      await start(world.engine, { workflow: "w", runId: "r", input: null });
      await world.advance(12_000);
      await cancel(world.engine, refOf("r"), "ann");
      expect((await ended(world, "r", 3_600_000)).status).toBe("cancelled");
      await world.advance(60_000);
      expect(reasons).toEqual(isUndone ? [] : ["cancelled"]);
      expect(world.metrics.total("attempts-claimed")).toBe(isUndone ? 2 : 1);
    }
  });

  test("that comes after the lease was closed tells its step that the lease is lost", async () => {
    const reasons: unknown[] = [];
    let ran = 0;
    const world = await begin({ timeoutMs: 600_000, heartbeatMs: 5000 }, async (_, { heartbeat, signal }) => {
      if (++ran > 1) return "second";
      await world.clock.sleep(300_000);
      await heartbeat();
      reasons.push(Fault.is(signal.reason) && signal.reason.code);
      return "first";
    });
    expect(await ended(world, "r", 3_600_000)).toMatchObject({ output: "second" });
    await world.advance(400_000);
    expect(reasons).toEqual(["lost"]);
  });

  test.each<[string, Injection]>([
    ["is throttled", { kind: "fail", fault: new Fault("throttled", "slow down") }],
    ["is denied", { kind: "fail", fault: new Fault("denied", "no permission") }],
    ["gets no answer", { kind: "lose-request" }],
  ])("that %s is a beat missed, and not its step's failure", async (_, injection) => {
    let ran = 0;
    const storeHooks = onRecord((call) => (call === 0 ? injection : undefined));
    const handler: RawHandler = async (_input, { heartbeat }) => {
      ran += 1;
      await heartbeat();
      return "done";
    };
    const world = await begin({ timeoutMs: 600_000, heartbeatMs: 60_000 }, handler, { storeHooks });
    expect(await ended(world, "r", 60_000)).toMatchObject({ status: "succeeded", output: "done" });
    expect(ran).toBe(1);
    expect(faultsOf(world)).toEqual([]);
  });

  test("of a worker that stopped beating is missed soon: the next attempt begins", async () => {
    let ran = 0;
    const world = await begin({ timeoutMs: 600_000, heartbeatMs: 5000 }, async (_, { signal }) => {
      if (++ran > 1) return ran;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return 0;
    });
    const began = world.clock.nowMs();
    const { run, output } = await ended(world, "r", 3_600_000);
    expect(output).toBe(2);
    expect(run.endedAtMs! - began).toBeLessThan(5 * 60_000);
  });
});

describe("the time-out of an attempt", () => {
  test("aborts the handler's signal, counts as a try, and the last one fails the node", async () => {
    let aborted = 0;
    const world = await begin({ timeoutMs: 1000 }, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      aborted += 1;
      return 0;
    });
    const { run } = await ended(world, "r", 3_600_000);
    expect(run.reason).toEqual({ code: "timed-out", message: "z: attempt 3 took longer than 1000 ms" });
    expect(aborted).toBe(3);
    expect(faultsOf(world)).toEqual([]);
  });
});
