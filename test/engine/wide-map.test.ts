import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { Definition, NodeDef } from "../../lib/core/definition.ts";
import type { Json } from "../../lib/core/json.ts";
import { fixed } from "../../lib/core/limits.ts";
import { decodeRun } from "../../lib/core/row-format.ts";
import { isSettled } from "../../lib/core/run.ts";
import { timelineText } from "../../lib/core/timeline-text.ts";
import { validate } from "../../lib/core/validate.ts";
import { cancel, pause, resume, terminate } from "../../lib/engine/commands.ts";
import { timeline } from "../../lib/engine/inspect.ts";
import { purge } from "../../lib/engine/purge.ts";
import { start } from "../../lib/engine/start.ts";
import { call, step, workflow } from "../../lib/index.ts";
import { itemBytes } from "../../lib/ports/item-size.ts";
import { testWorkflow } from "../../lib/testing/index.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { createWorld, type World, type WorldOptions } from "../../lib/testing/world.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, hashOf, type RawHandler, rawRegistry, refOf } from "./raw.ts";

const once = { attempts: 1, firstDelayMs: 0, longestDelayMs: 0, factor: 1, jitter: 0 };
const body = stepBody({ input: ref("$item"), retry: once });
const wide = (name: string, items: Json, more: object = {}): NodeDef =>
  ({ kind: "map", name, items, body, concurrency: 500, ...more }) as NodeDef;
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

function worldOf(
  nodes: readonly NodeDef[],
  handler: RawHandler,
  more: Partial<WorldOptions> & { readonly others?: readonly Definition[] } = {},
): World {
  const { others = [], ...options } = more;
  const definition = definitionOf("w", nodes, ref("z"));
  expect(validate(definition)).toEqual([]);
  return createWorld({ registry: rawRegistry([definition, ...others], { "work@1": handler }), ...options });
}

async function run(nodes: readonly NodeDef[], handler: RawHandler, input: Json, more = {}) {
  const world = worldOf(nodes, handler, more);
  await start(world.engine, { workflow: "w", runId: "r", input });
  const result = await ended(world, "r");
  expect(faultsOf(world)).toEqual([]);
  return { ...result, world };
}

const rows = (world: World) =>
  world.store
    .snapshot()
    .filter((each) => each.sk === "STATE")
    .map((row) => decodeRun({ pk: row.pk }, row));

/** Hands back, at any instant, how many handlers run at once. */
function counting(handler: RawHandler, world: () => World, forMs = 1000) {
  const seen = { now: 0, most: 0, calls: 0 };
  const counted: RawHandler = async (input, context) => {
    seen.now += 1;
    seen.calls += 1;
    seen.most = Math.max(seen.most, seen.now);
    try {
      await world().clock.sleep(forMs);
      return await handler(input, context);
    } finally {
      seen.now -= 1;
    }
  };
  return { seen, counted };
}

describe("a map wider than a row", () => {
  test("has as many in flight as it may, never more, and yields its items in their order", async () => {
    let world: World | undefined;
    const { seen, counted } = counting(
      (item) => (item as number) * 2,
      () => world as World,
    );
    world = worldOf([wide("z", ref("$input"))], counted);
    await start(world.engine, { workflow: "w", runId: "r", input: numbers(1000) });
    const { output, run: row } = await ended(world, "r");
    expect(output).toEqual(numbers(1000).map((at) => at * 2));
    expect(seen.calls).toBe(1000);
    expect(seen.most).toBeGreaterThan(400);
    expect(seen.most).toBeLessThanOrEqual(500);
    expect(row.children).toBe(8);
    expect(faultsOf(world)).toEqual([]);
  });

  test.each([
    [0, 65],
    [1, 4096],
    [64, 100],
    [65, 65],
    [200, 500],
    [1025, 500],
    [3000, 130],
  ])("takes %i items at %i at once", async (count, concurrency) => {
    const { output } = await run([wide("z", ref("$input"), { concurrency })], (item) => item, numbers(count));
    expect(output).toEqual(numbers(count));
  });

  test("shows its handlers the run that people know, and each item's own number", async () => {
    const input = { list: numbers(300), factor: 7 };
    const reads = stepBody({
      input: { item: ref("$item"), index: ref("$index"), factor: ref("$input", "factor"), gone: ref("a", "gone") },
    });
    const nodes = [stepNode("a"), wide("z", ref("$input", "list"), { body: reads })];
    const keys = new Set<string>();
    const { output } = await run(
      nodes,
      (item, { runId, index, node, idempotencyKey }) => {
        keys.add(idempotencyKey);
        return node === "a" ? { other: 1 } : { ...(item as object), runId, at: index };
      },
      input,
    );
    expect(output).toEqual(numbers(300).map((at) => ({ item: at, index: at, factor: 7, runId: "r", at })));
    expect(keys.size).toBe(301);
  });

  test("takes items from pages, outputs of steps, the definition, and other maps, wide or not", async () => {
    const big = numbers(400).map((at) => ({ at, text: "w".repeat(100 + (at % 50)) }));
    expect((await run([wide("z", ref("$input"))], (item) => item, big)).output).toEqual(big);
    expect(
      (await run([stepNode("a"), wide("z", ref("a"))], (item, { node }) => (node === "a" ? big : item), null)).output,
    ).toEqual(big);
    expect((await run([wide("z", numbers(150))], (item) => item, null)).output).toEqual(numbers(150));
    const twice: RawHandler = (item) => (item as number) + 1;
    const narrow = (name: string, items: Json) => wide(name, items, { concurrency: 16 });
    const plusTwo = numbers(300).map((at) => at + 2);
    expect((await run([wide("a", ref("$input")), wide("z", ref("a"))], twice, numbers(300))).output).toEqual(plusTwo);
    expect((await run([narrow("a", ref("$input")), wide("z", ref("a"))], twice, numbers(300))).output).toEqual(plusTwo);
    expect((await run([wide("a", ref("$input")), narrow("z", ref("a"))], twice, numbers(300))).output).toEqual(plusTwo);
  });

  test("is read by steps and conditions like any other", async () => {
    const nodes = [
      wide("a", ref("$input")),
      stepNode("b", [], {
        input: { list: ref("a"), third: { $: ["at", ref("a"), 2] } },
        when: { $: ["gt", { $: ["size", ref("a")] }, 99] },
      }),
      stepNode("z", ["b"], { input: { $: ["exists", ref("b")] } }),
    ];
    const { output } = await run(nodes, (input) => input, numbers(100));
    expect(output).toBe(true);
  });

  test("tolerates failures over the whole of it, as outcomes in their places, also where an item is tried again", async () => {
    const retry = { ...once, attempts: 2 };
    const nodes = [wide("z", ref("$input"), { tolerate: { share: 0.1 }, body: { ...body, retry } })];
    const { output, status } = await run(
      nodes,
      (item, { attempt }) => {
        if ((item as number) % 10 === 3 && (attempt === 1 || (item as number) % 20 === 3))
          throw new Error(`no ${item}`);
        return item;
      },
      numbers(1000),
    );
    expect(status).toBe("succeeded");
    expect(output).toEqual(
      numbers(1000).map((at) =>
        at % 20 === 3 ? { ok: false, error: { code: "handler-failed", message: `no ${at}` } } : { ok: true, value: at },
      ),
    );
  });

  test("fails when more fail than it tolerates in all, though no slice has too many, and says what failed last", async () => {
    const nodes = [wide("z", ref("$input"), { tolerate: { count: 15 } })];
    const bad: RawHandler = (item) => {
      if ((item as number) % 64 === 5) throw new Error("bad one");
      return item;
    };
    const { run: row, status } = await run(nodes, bad, numbers(1000));
    expect(status).toBe("failed");
    expect(row.reason).toMatchObject({
      code: "item-failures",
      message: "z: 16 of 1000 items failed; the last: bad one",
    });
  });

  test("fails early: a slice stops at its first failure, and the others are cancelled", async () => {
    let world: World | undefined;
    const { seen, counted } = counting(
      (item) => {
        if (item === 3) throw new Error("three");
        return item;
      },
      () => world as World,
      10_000,
    );
    world = worldOf([wide("z", ref("$input"), { concurrency: 130 })], counted);
    await start(world.engine, { workflow: "w", runId: "r", input: numbers(2000) });
    const { run: row } = await ended(world, "r");
    expect(row.reason).toMatchObject({ code: "item-failures" });
    expect(row.reason?.message).toContain("three");
    expect(seen.calls).toBeLessThan(400);
    await world.advance(3_600_000);
    for (const each of rows(world)) expect(isSettled(each)).toBe(true);
    expect(faultsOf(world)).toEqual([]);
  });

  test("whose failure is data goes on with it", async () => {
    const nodes = [wide("a", ref("$input"), { onFailure: "continue" }), stepNode("z", [], { input: ref("a", "ok") })];
    const failing: RawHandler = (item, { node, index }) => {
      if (node === "a" && index === 99) throw new Error("x");
      return item;
    };
    expect((await run(nodes, failing, numbers(100))).output).toBe(false);
    expect((await run(nodes, (item) => item, numbers(100))).output).toBe(true);
  });

  test("maps over child workflows too, also over its own", async () => {
    const kid = definitionOf("kid", [stepNode("k", [], { input: ref("$input") })], ref("k"));
    const childBody = { kind: "child", workflow: "kid", definition: hashOf(kid), input: { n: ref("$index") } };
    const { output, world } = await run(
      [wide("z", ref("$input"), { body: childBody, concurrency: 100 })],
      (i) => i,
      numbers(200),
      {
        others: [kid],
      },
    );
    expect(output).toEqual(numbers(200).map((n) => ({ n })));
    expect(new Set(rows(world).map((each) => `${each.workflow} ${each.depth}`))).toEqual(
      new Set(["w 0", "w/0 0", "kid 1"]),
    );
    const self = { kind: "child", workflow: "w", definition: "self", input: { left: 0 } };
    const nodes = [
      wide("z", numbers(70), {
        body: self,
        when: { $: ["gt", ref("$input", "left"), 0] },
      }),
    ];
    expect((await run(nodes, (i) => i, { left: 1 })).output).toEqual(numbers(70).map(() => null));
  });
});

describe("undoing a wide map", () => {
  const undo = (more = {}): NodeDef =>
    ({ ...stepNode("undo-a", [], { input: { list: ref("a") } }), compensates: "a", ...more }) as NodeDef;

  test("sees the outputs of the items that succeeded: of all if it was done", async () => {
    const undone: Json[] = [];
    const nodes = [wide("a", ref("$input")), stepNode("z", ["a"], { retry: once }), undo()];
    const { run: row } = await run(
      nodes,
      (input, { node }) => {
        if (node === "z") throw new Error("no");
        if (node === "undo-a") undone.push(input);
        return input;
      },
      numbers(300),
    );
    expect(row).toMatchObject({ phase: "failed", isUncompensated: false });
    expect(undone).toEqual([{ list: numbers(300) }]);
  });

  test.each(["fails", "is cancelled"])(
    "sees them also if it %s in the middle: what ran is awaited, and none is missed",
    async (how) => {
      let world: World | undefined;
      const did = new Set<number>();
      const undone: Json[] = [];
      const handler: RawHandler = async (input, { node, index }) => {
        if (node === "undo-a") return void undone.push(input) as unknown as Json;
        await (world as World).clock.sleep(1000 + index * 10);
        if (how === "fails" && index === 90) throw new Error("ninety");
        did.add(index);
        return index;
      };
      world = worldOf([wide("a", ref("$input"), { concurrency: 200 }), stepNode("z", ["a"]), undo()], handler);
      await start(world.engine, { workflow: "w", runId: "r", input: numbers(1000) });
      if (how === "is cancelled") {
        await world.advance(1500);
        await cancel(world.engine, refOf("r"), "ann");
      }
      const { run: row } = await ended(world, "r");
      expect(row).toMatchObject({ phase: how === "fails" ? "failed" : "cancelled", isUncompensated: false });
      expect(did.size).toBeGreaterThan(50);
      expect(did.size).toBeLessThan(1000);
      expect(undone).toEqual([{ list: [...did].sort((one, other) => one - other) }]);
      await world.advance(3_600_000);
      for (const each of rows(world)) expect(isSettled(each)).toBe(true);
      expect(faultsOf(world)).toEqual([]);
    },
  );
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "a wide map that is cancelled at any time, its messages shuffled, doubled and lost, has all that it did undone: seed %i",
  async (seed) => {
    let world: World | undefined;
    const chance = createSeededRandom(`wide ${seed}`);
    const did = new Set<number>();
    const undone: Json[] = [];
    const handler: RawHandler = async (input, { node, index }) => {
      if (node === "undo-z") return void undone.push(input) as unknown as Json;
      await (world as World).clock.sleep(chance.integer(10_000));
      did.add(index);
      return index;
    };
    const nodes = [
      wide("z", ref("$input"), { concurrency: 130, body: { ...body, retry: { ...once, attempts: 20 } } }),
      { ...stepNode("undo-z", [], { input: ref("z") }), compensates: "z" } as NodeDef,
    ];
    world = worldOf(nodes, handler, {
      seed,
      functionMs: 60_000,
      isShuffled: true,
      lossRate: 0.1,
      duplicateRate: 0.2,
    });
    await start(world.engine, { workflow: "w", runId: "r", input: numbers(500) });
    await world.advance(chance.integer(30_000));
    await cancel(world.engine, refOf("r"), "ann");
    const { run: row } = await ended(world, "r");
    expect({ seed, phase: row.phase, isUncompensated: row.isUncompensated }).toEqual({
      seed,
      phase: "cancelled",
      isUncompensated: false,
    });
    const all = [...did].sort((one, other) => one - other);
    expect({ seed, undone: undone[0] ?? [] }).toEqual({ seed, undone: all });
    await world.advance(3 * 3_600_000);
    for (const each of rows(world)) expect(isSettled(each)).toBe(true);
    expect(faultsOf(world)).toEqual([]);
  },
);

describe("the end of a wide map", () => {
  test.each(["cancel", "terminate"] as const)(
    "by %s leaves no slice live, and nothing begins afterwards",
    async (how) => {
      let world: World | undefined;
      const { seen, counted } = counting(
        (item) => item,
        () => world as World,
        5000,
      );
      world = worldOf([wide("z", ref("$input"))], counted);
      await start(world.engine, { workflow: "w", runId: "r", input: numbers(1000) });
      await world.advance(2000);
      await (how === "cancel" ? cancel : terminate)(world.engine, refOf("r"), "ann");
      expect((await ended(world, "r")).status).toBe(how === "cancel" ? "cancelled" : "terminated");
      const { calls } = seen;
      await world.advance(3_600_000);
      expect(seen.calls).toBeLessThanOrEqual(calls + 64);
      expect(rows(world).length).toBe(9);
      for (const each of rows(world)) expect(isSettled(each)).toBe(true);
      expect(faultsOf(world)).toEqual([]);
    },
  );

  test("may wait: a pause holds its slices too, and what is resumed comes to its end", async () => {
    let world: World | undefined;
    const { seen, counted } = counting(
      (item) => item,
      () => world as World,
      5000,
    );
    world = worldOf([wide("z", ref("$input"))], counted);
    await start(world.engine, { workflow: "w", runId: "r", input: numbers(1000) });
    await world.advance(7000);
    await pause(world.engine, refOf("r"), "ann");
    await world.advance(60_000);
    const { calls } = seen;
    expect(calls).toBeLessThan(1000);
    await world.advance(3_600_000);
    expect(seen.calls).toBe(calls);
    await resume(world.engine, refOf("r"), "ann");
    const { output } = await ended(world, "r", 60_000);
    expect(output).toEqual(numbers(1000));
    expect(seen.calls).toBe(1000);
    // so soon that a slice has not heard of the one when it should hear of the other
    await start(world.engine, { workflow: "w", runId: "s", input: numbers(1000) });
    await world.advance(7000);
    await pause(world.engine, refOf("s"), "ann");
    await resume(world.engine, refOf("s"), "ann");
    expect((await ended(world, "s", 1_800_000)).output).toEqual(numbers(1000));
    expect(faultsOf(world)).toEqual([]);
  });

  test("by its deadline undoes what was done", async () => {
    const undone: Json[] = [];
    let world: World | undefined;
    const handler: RawHandler = async (input, { node, index }) => {
      if (node === "undo") return void undone.push(input) as unknown as Json;
      if (index >= 10) await (world as World).clock.sleep(20_000);
      return index;
    };
    const nodes = [
      wide("z", ref("$input"), { concurrency: 100 }),
      { ...stepNode("undo", [], { input: ref("z") }), compensates: "z" } as NodeDef,
    ];
    world = worldOf(nodes, handler);
    await start(world.engine, { workflow: "w", runId: "r", input: numbers(400), deadlineMs: 15_000 });
    const { run: row } = await ended(world, "r");
    expect(row).toMatchObject({ phase: "failed", reason: { code: "deadline" }, isUncompensated: false });
    expect(undone.length).toBe(1);
    expect((undone[0] as number[]).slice(0, 10)).toEqual(numbers(10));
    expect(faultsOf(world)).toEqual([]);
  });

  test("by a slice that somebody else ended counts what that left behind as failed", async () => {
    let world: World | undefined;
    const { counted } = counting(
      (item) => item,
      () => world as World,
      5000,
    );
    world = worldOf([wide("z", ref("$input"), { tolerate: { share: 0.5 } })], counted);
    await start(world.engine, { workflow: "w", runId: "r", input: numbers(1000) });
    await world.advance(2000);
    const slice = rows(world).find((each) => each.hasParent && each.active[0]?.index === 0);
    await terminate(world.engine, refOf(slice!.runId), "ann");
    const { output, status } = await ended(world, "r");
    expect(status).toBe("succeeded");
    const list = output as { ok: boolean; error?: { message: string } }[];
    expect(list.length).toBe(1000);
    expect(list.slice(128).every(({ ok }) => ok)).toBe(true);
    // what it had begun comes to its end; what it had not is not begun by anybody
    expect(list.slice(62, 128).map(({ ok, error }) => [ok, error?.message])).toEqual(
      Array.from({ length: 66 }, () => [false, `run ${slice!.runId} terminated: terminate by ann`]),
    );
  });

  test("by a purge takes its slices along", async () => {
    const { world } = await run([wide("z", ref("$input"))], (item) => ({ item, text: "t".repeat(200) }), numbers(300));
    await world.advance(3_600_000);
    await purge(world.engine, refOf("r"));
    expect(world.store.snapshot().filter((each) => !each.pk.startsWith("#"))).toEqual([]);
  });
});

describe("what a wide map costs", () => {
  test("stays within the limits of a row, with 4,096 at once, under the longest names", async () => {
    const long = (text: string) => text.padStart(64, "x");
    const node = wide(long("z"), ref("$input", "list"), { concurrency: fixed.mapConcurrencyMax });
    const definition = definitionOf(long("workflow"), [node]);
    const world = createWorld({ registry: rawRegistry([definition], { "work@1": () => ({ n: 1 }) }) });
    const sizes = { parent: 0, slice: 0, active: 0 };
    world.store.watch((write, _, now) => {
      if (write.key.sk !== "STATE" || !now) return;
      const bytes = itemBytes({ ...now, ...write.key });
      const { active, hasParent } = decodeRun(write.key, now);
      sizes.active = Math.max(sizes.active, active.length);
      if (hasParent) sizes.slice = Math.max(sizes.slice, bytes);
      else sizes.parent = Math.max(sizes.parent, bytes);
    });
    const list = numbers(5000).map(() => ({ text: "z".repeat(100) }));
    const at = { tenant: long("tenant"), runId: long("run") };
    await start(world.engine, { workflow: long("workflow"), ...at, input: { list } });
    await world.until(() => world.store.peek({ pk: `${at.tenant}#${at.runId}`, sk: "STATE" })?.["l"] === undefined);
    expect(sizes.active).toBe(64);
    expect(sizes.parent).toBeLessThan(fixed.rowBytesMax);
    expect(sizes.slice).toBeLessThan(fixed.rowBytesMax);
    expect(faultsOf(world)).toEqual([]);
    console.info(sizes);
  });

  test("an item of 1,000 at 500 at once costs little more than one at 64", async () => {
    const perItem = async (concurrency: number) => {
      const { world } = await run([wide("z", ref("$input"), { concurrency })], () => 1, numbers(1000));
      const { write, byRecord } = world.units.units();
      return (write - byRecord["DEF"]!.write) / 1000;
    };
    const [narrow, cut] = [await perItem(64), await perItem(500)];
    console.info(`write units an item: ${narrow} at 64, ${cut} at 500`);
    expect(cut).toBeLessThan(narrow + 0.3);
  });
});

describe("a wide map's timeline", () => {
  test("shows its items, and slices that have something to say", async () => {
    const { world } = await run(
      [wide("z", ref("$input"), { tolerate: { count: 5 }, concurrency: 130 })],
      (item) => {
        if (item === 200) throw new Error("two hundred");
        return item;
      },
      numbers(300),
    );
    const told = await timeline(world.engine, refOf("r"));
    expect(told.nodes[0]?.items).toEqual({ total: 300, done: 299, failed: 1, inFlight: 0, retries: 0 });
    expect(timelineText(told)).toContain("299 of 300 done, 1 failed; [112..223] failed");
    expect(timelineText(told)).toContain("(child-failed: two hundred)");
    const { childRunId } = told.nodes[0]!.attempts[0]!;
    const slice = await timeline(world.engine, refOf(childRunId!));
    expect(slice.nodes[0]).toMatchObject({ name: "z", items: { total: 112, done: 111, failed: 1 } });
    expect(slice.nodes[0]?.attempts.map(({ index }) => index)).toEqual([200]);
  });

  test("tells while it is in progress how many are with a slice", async () => {
    let world: World | undefined;
    const { counted } = counting(
      (item) => item,
      () => world as World,
      60_000,
    );
    world = worldOf([wide("z", ref("$input"), { concurrency: 130 })], counted);
    await start(world.engine, { workflow: "w", runId: "r", input: numbers(300) });
    await world.advance(1000);
    const told = await timeline(world.engine, refOf("r"));
    expect(told.nodes[0]).toMatchObject({ state: "open", items: { total: 300, done: 0, failed: 0, inFlight: 300 } });
    expect(told.nodes[0]?.attempts.map(({ slice }) => slice)).toEqual([
      { from: 0, count: 112 },
      { from: 112, count: 112 },
      { from: 224, count: 76 },
    ]);
  });
});

test("a wide map through the authoring layer, and its test", async () => {
  const double = step(
    "double",
    { input: v.object({ n: v.number(), by: v.number() }), output: v.number() },
    (given) => given.n * given.by,
  );
  const input = v.object({ list: v.array(v.number()), by: v.number() });
  const scale = workflow("scale", { input }, (flow, given) => ({
    all: flow.map(given.list, (n) => call(double, { n, by: given.by }), { concurrency: 300 }),
  }));
  const it = await testWorkflow(scale, { input: { list: numbers(200), by: 3 } });
  expect(await it.end()).toBe("succeeded");
  expect(it.output).toEqual({ all: numbers(200).map((n) => n * 3) });
  expect(it.calls("double").length).toBe(200);
});
