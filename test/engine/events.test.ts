import { describe, expect, test } from "vitest";
import type { Definition, NodeDef } from "../../lib/core/definition.ts";
import { Fault } from "../../lib/core/faults.ts";
import { rowAttributes } from "../../lib/core/row-format.ts";
import { isSettled } from "../../lib/core/run.ts";
import type { RunEvent } from "../../lib/core/run-events.ts";
import { cancel, pause, resume, terminate } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { forceFail } from "../../lib/engine/force-fail.ts";
import { snapshot } from "../../lib/engine/load.ts";
import { wakeUp } from "../../lib/engine/messages.ts";
import { purge } from "../../lib/engine/purge.ts";
import { start } from "../../lib/engine/start.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import { createWorld, type World, type WorldOptions } from "../../lib/testing/world.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, hashOf, rawRegistry, refOf, runOf } from "./raw.ts";

const dayMs = 86_400_000;
const gate = (more = {}): NodeDef => ({ kind: "gate", name: "g", ...more });
const wait: NodeDef = { kind: "signal", name: "s", signal: "s" };

function worldOf(nodes: readonly NodeDef[], more: Partial<WorldOptions> & { others?: readonly Definition[] } = {}) {
  const { others = [], ...options } = more;
  return createWorld({
    registry: rawRegistry([definitionOf("w", nodes), ...others], {
      "work@1": (input) => {
        if (input === "fail") throw new Fault("fatal", "no use");
        return "the secret output";
      },
    }),
    isPublishing: true,
    ...options,
  });
}

const begin = (world: World, input: unknown = "the secret input") =>
  start(world.engine, { workflow: "w", runId: "r", input });
const kinds = (world: World) => world.events.published.map(({ kind }) => kind);
const settled = (world: World, runId = "r") => world.until(async () => isSettled(await runOf(world, runId)), dayMs);
/** The bus as the script says, call by call; then as it should be. */
const scripted = (...script: readonly (Injection | undefined)[]) => {
  let call = 0;
  return { before: () => script[call++] };
};
const away: Injection = { kind: "fail", fault: new Fault("unavailable", "away") };

describe("the end of a run", () => {
  test("is told once, with names and instants and without input or output, and then the run is settled", async () => {
    const world = worldOf([stepNode("a")]);
    await begin(world);
    const { run } = await ended(world, "r");
    await settled(world);
    expect(world.events.published).toEqual<RunEvent[]>([
      {
        id: `${run.runUid}/end`,
        kind: "run-finished",
        tenant: "default",
        runId: "r",
        runUid: run.runUid,
        workflow: "w",
        definitionHash: run.definitionHash,
        status: "succeeded",
        atMs: run.endedAtMs!,
        isChild: false,
      },
    ]);
    expect(JSON.stringify(world.events.published)).not.toContain("secret");
    await world.advance(30 * dayMs);
    expect(kinds(world)).toEqual(["run-finished"]);
    expect(faultsOf(world)).toEqual([]);
  });

  test("has the kind of its end: whoever waits for a success hears of no cancel", async () => {
    const told = async (act: (world: World) => Promise<unknown>, nodes: readonly NodeDef[] = [wait], input = "x") => {
      const world = worldOf(nodes);
      await begin(world, input);
      await world.deliver();
      await act(world);
      await world.until(async () => !!(await runOf(world, "r")).endedAtMs, dayMs);
      await settled(world);
      return world.events.published.map(({ kind, status, reason }) => [kind, status, reason?.code]);
    };
    const nothing = async () => undefined;
    const failing = stepNode("a", [], { input: ref("$input") });
    expect(await told(nothing, [failing], "fail")).toEqual([["run-failed", "failed", "fatal"]]);
    expect(await told((world) => cancel(world.engine, refOf("r"), "ann"))).toEqual([
      ["run-cancelled", "cancelled", "cancelled"],
    ]);
    expect(await told((world) => terminate(world.engine, refOf("r"), "ann"))).toEqual([
      ["run-cancelled", "terminated", "cancelled"],
    ]);
    const force = async (world: World) => {
      const seen = await snapshot(world.engine, refOf("r"));
      expect(await forceFail(world.engine, seen!, "stuck", "it will not move")).toBe("ended");
    };
    expect(await told(force)).toEqual([["run-force-failed", "failed", "stuck"]]);
  });

  test("is told of a row that nobody can read, too", async () => {
    const world = worldOf([wait]);
    await begin(world);
    await world.deliver();
    const seen = await snapshot(world.engine, refOf("r"));
    const broken = { ...seen!, row: { ...seen!.row, [rowAttributes.body]: new Uint8Array([255]) } };
    expect(await forceFail(world.engine, broken, "stuck", "it cannot be read")).toBe("ended");
    expect(kinds(world)).toEqual([]);
    await settled(world);
    expect(kinds(world)).toEqual(["run-force-failed"]);
  });

  test("is told of children, which say so, and not of a wide map's slices", async () => {
    const child = definitionOf("c", [stepNode("a")]);
    const body = { workflow: "c", definition: hashOf(child), input: 1 };
    const nodes = [
      { kind: "child", name: "k", ...body },
      { kind: "map", name: "m", items: Array.from({ length: 200 }, () => 1), body: stepBody(), concurrency: 100 },
    ] as unknown as NodeDef[];
    const world = worldOf(nodes, { others: [child] });
    await begin(world);
    await ended(world, "r");
    await settled(world);
    const rows = world.store.snapshot().filter(({ sk }) => sk === "STATE");
    expect(rows.length).toBeGreaterThan(3);
    expect(world.events.published.map(({ workflow, isChild }) => [workflow, isChild])).toEqual([
      ["c", true],
      ["w", false],
    ]);
  });

  test("costs one commit more, and nothing at all where nothing is published", async () => {
    const units = async (isPublishing: boolean) => {
      const world = worldOf([stepNode("a"), stepNode("b", ["a"])], { isPublishing });
      await begin(world);
      await ended(world, "r");
      await settled(world);
      expect(kinds(world)).toEqual(isPublishing ? ["run-finished"] : []);
      const { recordVersion } = await runOf(world, "r");
      const { write, index } = world.units.units().byRecord["STATE"]!;
      return { recordVersion, write: write - index, index };
    };
    const [off, on] = [await units(false), await units(true)];
    expect(on.recordVersion).toBe(off.recordVersion + 1);
    expect(on.write).toBe(off.write + 1);
    console.info(`units of a run of two steps: ${JSON.stringify({ off, on })}`);
    expect(on.index - off.index).toBeLessThanOrEqual(2);
  });
});

describe("an event that was not told", () => {
  test.each(["crash-before", "crash-after"] as const)(
    "as the process died at it (%s) is told by whoever finds the run next",
    async (kind) => {
      const world = worldOf([stepNode("a")], { eventHooks: scripted({ kind }), functionMs: 60_000 });
      await begin(world);
      const { run } = await ended(world, "r");
      expect(isSettled(run)).toBe(false);
      await settled(world);
      const ids = world.events.published.map(({ id }) => id);
      expect(ids.length).toBe(kind === "crash-after" ? 2 : 1);
      expect(new Set(ids).size).toBe(1);
    },
  );

  test("as the bus was away is told when it is back: no message is spent, and the run is settled only then", async () => {
    const world = worldOf([stepNode("a")], { eventHooks: scripted(...Array.from({ length: 200 }, () => away)) });
    await begin(world);
    await ended(world, "r");
    await world.advance(60 * 60_000);
    expect(kinds(world)).toEqual([]);
    expect(isSettled(await runOf(world, "r"))).toBe(false);
    await settled(world);
    expect(kinds(world)).toEqual(["run-finished"]);
    expect(world.queue.messages("dead")).toEqual([]);
    expect(world.handedBack).toBe(0);
    expect(world.metrics.total("events-failed")).toBe(200);
    expect(world.metrics.total("events-published")).toBe(1);
  });

  test("keeps nobody waiting: a parent goes on while its child's event cannot be told", async () => {
    const child = definitionOf("c", [stepNode("a")]);
    const nodes = [{ kind: "child", name: "k", workflow: "c", definition: hashOf(child), input: 1 }] as NodeDef[];
    const world = worldOf(nodes, { others: [child], eventHooks: { before: () => away } });
    const { run } = await begin(world);
    const result = await ended(world, "r");
    expect(result.run.endedAtMs! - run.createdAtMs).toBeLessThan(1000);
  });

  test("and never will be, as the bus refuses it for good, is given up: metered, and the run is settled", async () => {
    const refused: Injection = { kind: "fail", fault: new Fault("refused", "malformed") };
    const world = worldOf([stepNode("a")], { eventHooks: { before: () => refused } });
    await begin(world);
    await ended(world, "r");
    await world.advance(600_000);
    expect(isSettled(await runOf(world, "r"))).toBe(true);
    expect(world.metrics.total("events-refused")).toBe(1);
    expect(world.events.published).toEqual([]);
  });

  test("is no longer owed when the installation stops publishing, and the run is settled", async () => {
    const world = worldOf([stepNode("a")], { eventHooks: { before: () => away } });
    await begin(world);
    await ended(world, "r");
    world.withEngine({ events: undefined });
    await settled(world);
    expect(world.events.published).toEqual([]);
  });

  test("is told before a purge takes the row that shows it, or the purge does not go on", async () => {
    let isAway = true;
    const world = worldOf([stepNode("a")], { eventHooks: { before: () => (isAway ? away : undefined) } });
    await begin(world);
    await ended(world, "r");
    await expect(purge(world.engine, refOf("r"))).rejects.toMatchObject({ code: "unavailable" });
    isAway = false;
    await purge(world.engine, refOf("r"));
    expect(kinds(world)).toEqual(["run-finished"]);
  });
});

describe("an opened gate", () => {
  test("is told at once, with its name and its time-out, and not again when it is decided", async () => {
    const world = worldOf([stepNode("a"), gate({ after: ["a"], timeoutMs: dayMs })]);
    await begin(world);
    await world.until(async () => (await runOf(world, "r")).active.some(({ state }) => state === "gate"), dayMs);
    await world.deliver();
    const { runUid, active } = await runOf(world, "r");
    const [open] = active;
    expect(world.events.published).toEqual([
      expect.objectContaining({
        id: `${runUid}/gate/g`,
        kind: "gate-opened",
        status: "running",
        node: "g",
        atMs: open!.sinceMs,
        untilMs: open!.untilMs,
      }),
    ]);
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    await ended(world, "r");
    await settled(world);
    expect(kinds(world)).toEqual(["gate-opened", "run-finished"]);
  });

  test("by the start itself is told by the start", async () => {
    const world = worldOf([gate()]);
    await begin(world);
    expect(kinds(world)).toEqual(["gate-opened"]);
  });

  test("is told again, under the same id, by whoever cannot know whether it was", async () => {
    const world = worldOf([gate()]);
    const { run } = await begin(world);
    await world.engine.queue.send([wakeUp(run, { isAll: true })]);
    await world.deliver();
    expect(new Set(world.events.published.map(({ id }) => id)).size).toBe(1);
    expect(kinds(world)).toEqual(["gate-opened", "gate-opened"]);
  });

  test("that could not be told is told when the bus is back, though the run has no due for days", async () => {
    const world = worldOf([gate()], { eventHooks: scripted(...Array.from({ length: 30 }, () => away)) });
    await begin(world);
    await world.advance(60 * 60_000);
    expect(kinds(world)).toEqual(["gate-opened"]);
    expect(world.queue.messages()).toEqual([]);
  });

  test("that waits for months is not told every week", async () => {
    const world = worldOf([gate()], { isWatchdogLazy: true });
    await start(world.engine, { workflow: "w", runId: "r", input: 1, deadlineMs: 200 * dayMs });
    await world.advance(100 * dayMs);
    expect((await runOf(world, "r")).active.map(({ state }) => state)).toEqual(["gate"]);
    expect(kinds(world)).toEqual(["gate-opened"]);
  });

  test("is not told while the run is paused, and is when it goes on", async () => {
    const world = worldOf([gate()]);
    await begin(world);
    await pause(world.engine, refOf("r"), "ann");
    await world.deliver();
    await world.engine.queue.send([wakeUp(await runOf(world, "r"), { isAll: true })]);
    await world.deliver();
    expect(kinds(world)).toEqual(["gate-opened"]);
    await resume(world.engine, refOf("r"), "ann");
    await world.deliver();
    expect(kinds(world)).toEqual(["gate-opened", "gate-opened"]);
  });
});
