import { describe, expect, test } from "vitest";
import type { NodeDef } from "../../lib/core/definition.ts";
import { wakeUp } from "../../lib/engine/messages.ts";
import { start } from "../../lib/engine/start.ts";
import { createWorld, type WorldOptions } from "../../lib/testing/world.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, type RawHandler, rawRegistry, runOf } from "./raw.ts";

const chain = (count: number, more = {}) =>
  Array.from({ length: count }, (_, at) => stepNode(`s${at}`, at > 0 ? [`s${at - 1}`] : [], more));
const hundredBytes = () => "x".repeat(98);

/** Write units of one run from its start to its end, the definition's own write left out: it is written once per process. */
async function cost(
  nodes: readonly NodeDef[],
  handler: RawHandler,
  input: unknown = null,
  more: Partial<WorldOptions> = {},
) {
  const world = createWorld({ registry: rawRegistry([definitionOf("w", nodes)], { "work@1": handler }), ...more });
  await start(world.engine, { workflow: "w", runId: "r", input });
  const { run } = await ended(world, "r");
  expect(run.phase).toBe("succeeded");
  expect(faultsOf(world)).toEqual([]);
  const { write, byRecord } = world.units.units();
  return { write: write - byRecord["DEF"]!.write, byRecord };
}

describe("write units, everything of the run included", () => {
  test("an inline step costs at most 1.65 in a chain of 10 and 1.3 in one of 100, with outputs of 100 bytes; and no more in one of 1,000", async () => {
    const [ten, hundred, thousand] = await Promise.all(
      [10, 100, 1000].map(async (count) => (await cost(chain(count, { isInline: true }), hundredBytes)).write / count),
    );
    expect(ten).toBeLessThanOrEqual(1.65);
    expect(hundred).toBeLessThanOrEqual(1.3);
    expect(thousand).toBeLessThanOrEqual(hundred! + 0.3);
  });

  test("a queued step costs at most 3.75 in a chain of 10: a claim, a result, a commit", async () => {
    const { write } = await cost(chain(10), hundredBytes);
    expect(write / 10).toBeLessThanOrEqual(3.75);
  });

  test("repeatable steps share a commit", async () => {
    const { write } = await cost(chain(20, { isInline: true, isRepeatable: true }), () => 1);
    expect(write).toBeLessThanOrEqual(20);
  });

  test("a commit costs the same for a run of ten nodes and of a thousand", async () => {
    const perCommit = async (count: number) => {
      const costs: number[] = [];
      const nodes = chain(count, { isInline: true });
      const world = createWorld({ registry: rawRegistry([definitionOf("w", nodes)], { "work@1": () => 1 }) });
      await start(world.engine, { workflow: "w", runId: "r", input: null });
      let before = world.units.units().byRecord["STATE"]!;
      world.store.watch((write) => {
        if (write.key.sk !== "STATE") return;
        const now = world.units.units().byRecord["STATE"]!;
        costs.push(now.write - now.index - (before.write - before.index));
        before = now;
      });
      await ended(world, "r");
      return costs;
    };
    expect((await perCommit(10)).length).toBeGreaterThanOrEqual(10);
    expect(new Set(await perCommit(10))).toEqual(new Set([1]));
    expect(new Set(await perCommit(1000))).toEqual(new Set([1]));
  });

  test("an item of a map costs the same among 10 and among 1,000", async () => {
    const map: NodeDef = { kind: "map", name: "m", items: ref("$input"), body: stepBody(), concurrency: 4 };
    const perItem = async (count: number) => {
      const { write } = await cost(
        [map],
        () => 1,
        Array.from({ length: count }, (_, at) => at),
      );
      return write / count;
    };
    const [ten, thousand] = [await perItem(10), await perItem(1000)];
    expect(thousand).toBeLessThanOrEqual(ten);
    expect(thousand).toBeLessThanOrEqual(3.1);
  });

  test("a tick that changes nothing writes nothing", async () => {
    const nodes: NodeDef[] = [{ kind: "gate", name: "g" }, stepNode("a", ["g"])];
    const world = createWorld({ registry: rawRegistry([definitionOf("w", nodes)]) });
    await start(world.engine, { workflow: "w", runId: "r", input: null });
    const run = await runOf(world, "r");
    world.units.reset();
    const bare = wakeUp(run, {});
    await world.queue.send([
      bare,
      bare,
      wakeUp(run, { hints: ["mail"] }),
      wakeUp(run, { why: "timer", hints: ["0/0/1"] }),
    ]);
    await world.deliver();
    expect(world.units.units().write).toBe(0);
    expect(await runOf(world, "r")).toEqual(run);
    expect(world.queue.messages()).toEqual([]);
  });
});
