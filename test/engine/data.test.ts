import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { NodeDef, StepNode } from "../../lib/core/definition.ts";
import type { Json } from "../../lib/core/json.ts";
import { fixed } from "../../lib/core/limits.ts";
import { cancel } from "../../lib/engine/commands.ts";
import { start } from "../../lib/engine/start.ts";
import { call, createRegistry, RetryableError, step, workflow } from "../../lib/index.ts";
import { createWorld } from "../../lib/testing/world.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, hashOf, type RawHandler, rawRegistry } from "./raw.ts";

async function run(nodes: readonly NodeDef[], handler: RawHandler, input: Json = null, output = ref("z"), more = {}) {
  const world = createWorld({
    registry: rawRegistry([definitionOf("w", nodes, output)], { "work@1": handler }),
    ...more,
  });
  await start(world.engine, { workflow: "w", runId: "r", input });
  const result = await ended(world, "r");
  expect(faultsOf(world)).toEqual([]);
  return { ...result, world };
}

const body = (more: Partial<StepNode> = {}) => stepBody({ input: ref("$item"), ...more });
const map = (name: string, items: NodeDef extends { items: infer E } ? E : Json, more = {}): NodeDef => ({
  kind: "map",
  name,
  items,
  body: body(),
  concurrency: 8,
  ...more,
});

describe("an output", () => {
  const sizes = [0, 100, fixed.tinyOutputBytesMax - 2, fixed.tinyOutputBytesMax + 1, fixed.recordOutputBytesMax + 1];
  const cases = [...sizes, fixed.itemPayloadBytesMax + 1].flatMap((bytes) =>
    [true, false].map((isInline) => [bytes, isInline] as const),
  );

  test.each(cases)("of %i bytes, inline %s, reaches who reads it and the result", async (bytes, isInline) => {
    const text = "y".repeat(bytes);
    const nodes = [stepNode("a", [], { isInline }), stepNode("z", ["a"], { isInline, input: ref("a") })];
    const { output } = await run(nodes, (input, { node }) => (node === "a" ? { text } : input));
    expect(output).toEqual({ text });
  });

  test.each([true, false])("of null, inline %s, is there: it equals null and does not exist", async (isInline) => {
    const nodes = [
      stepNode("a", [], { isInline }),
      stepNode("b", [], { when: { $: ["eq", ref("a"), null] }, isInline, input: { a: ref("a") } }),
      stepNode("z", [], { isInline, input: { b: ref("b"), isThere: { $: ["exists", ref("a")] } } }),
    ];
    const { output } = await run(nodes, (input, { node }) => (node === "a" ? null : input));
    expect(output).toEqual({ b: { a: null }, isThere: false });
  });

  test("of an inline step that was spilled to a page is found there, by steps and by the result", async () => {
    const nodes = Array.from({ length: 40 }, (_, at) => stepNode(`s${at}`, at > 0 ? ["s0"] : [], { isInline: true }));
    nodes.push(stepNode("z", ["s0", "s20", "s39"]));
    const chained = nodes.map((each, at) => (at > 0 ? { ...each, after: [nodes[at - 1]!.name] } : each));
    const { output, run: row } = await run(chained, (input, { node }) =>
      node === "z" ? input : `${node} ${"q".repeat(90)}`,
    );
    expect(row.pages).toBeGreaterThan(2);
    const text = (name: string) => `${name} ${"q".repeat(90)}`;
    expect(output).toEqual({ s0: text("s0"), s20: text("s20"), s39: text("s39") });
  });

  test("that is no JSON is bad-output: tried again, and then the node fails and says where", async () => {
    const bad = step(
      "bad",
      { input: v.object({}), output: v.object({ n: v.any() }), retry: { attempts: 2, firstDelay: "1s" } },
      () => ({ n: 10n }),
    );
    const world = createWorld({
      registry: createRegistry([workflow("w", { input: v.object({}) }, (flow) => ({ z: flow.run(bad, {}) }))]),
    });
    await start(world.engine, { workflow: "w", runId: "r", input: {} });
    const { run: row } = await ended(world, "r");
    expect(row).toMatchObject({ phase: "failed", attempts: 2, reason: { code: "bad-output" } });
    expect(row.reason?.message).toContain("output.n");
  });

  test("that fits no item and no payload fails its node with both sizes, and is not tried again", async () => {
    const huge = "x".repeat(fixed.payloadBytesMax);
    const { run: row } = await run([stepNode("z")], () => huge);
    expect(row).toMatchObject({
      attempts: 1,
      reason: {
        code: "payload-too-big",
        message: `z: ${fixed.payloadBytesMax + 2} bytes; a payload may have ${fixed.payloadBytesMax}`,
      },
    });
  });
});

describe("a map's items", () => {
  test("in pages: a page's worth is read for an item, whatever the size of the list", async () => {
    const input = Array.from({ length: 500 }, (_, at) => ({ at, text: "w".repeat(50) }));
    const { output, world } = await run([map("z", ref("$input"))], (item) => (item as { at: number }).at, input);
    expect(output).toEqual(input.map((each) => each.at));
    expect(world.store.snapshot().filter((each) => each.sk.startsWith("ITEM#")).length).toBeGreaterThan(5);
  });

  test("of very different sizes come whole and in their order", async () => {
    const input = Array.from({ length: 60 }, (_, at) => ({ at, text: "w".repeat(at % 7 === 0 ? 3000 : 1) }));
    const { output } = await run([map("z", ref("$input"))], (item) => item, input);
    expect(output).toEqual(input);
  });

  test("of a list inside an output are written down by whoever made the output", async () => {
    const lines = Array.from({ length: 200 }, (_, at) => ({ sku: `sku-${at}`, note: "n".repeat(40) }));
    const nodes = [stepNode("a"), map("z", ref("a", "lines"))];
    const handler: RawHandler = (input, { node }) => (node === "a" ? { lines } : (input as { sku: string }).sku);
    expect((await run(nodes, handler)).output).toEqual(lines.map((each) => each.sku));
  });

  test("that are another map's outputs are read by reference, one record each", async () => {
    const nodes = [map("a", ref("$input")), map("z", ref("a"))];
    const { output, world } = await run(nodes, (item) => (item as number) * 2, [1, 2, 3, 4, 5]);
    expect(output).toEqual([4, 8, 12, 16, 20]);
    expect(world.store.snapshot().filter((each) => each.sk.startsWith("ITEM#"))).toEqual([]);
  });

  test("that are another map's outputs are right also where an item needed a second try", async () => {
    const nodes = [map("a", ref("$input")), map("z", ref("a"))];
    const handler: RawHandler = (item, { node, index, attempt }) => {
      if (node === "a" && index === 1 && attempt === 1) throw new Error("once");
      return (item as number) + 10;
    };
    expect((await run(nodes, handler, [1, 2, 3])).output).toEqual([21, 22, 23]);
  });

  test("written in the definition are taken from there", async () => {
    expect((await run([map("z", [1, 2, 3])], (item) => item)).output).toEqual([1, 2, 3]);
  });

  test("that fail and are tolerated are outcomes in their places", async () => {
    const retry = { attempts: 1, firstDelayMs: 0, longestDelayMs: 0, factor: 1, jitter: 0 };
    const nodes = [map("z", ref("$input"), { tolerate: { count: 1 }, body: body({ retry }) })];
    const { output } = await run(
      nodes,
      (item) => {
        if (item === 2) throw new Error("two is bad");
        return item;
      },
      [1, 2, 3],
    );
    expect(output).toEqual([
      { ok: true, value: 1 },
      { ok: false, error: { code: "handler-failed", message: "two is bad" } },
      { ok: true, value: 3 },
    ]);
  });
});

describe("children", () => {
  const kid = definitionOf("kid", [stepNode("k", [], { input: ref("$input") })], ref("k"));
  const child = (name: string, input: Json, more = {}): NodeDef => ({
    kind: "child",
    name,
    workflow: "kid",
    definition: hashOf(kid),
    input,
    ...more,
  });
  const worldOf = (nodes: readonly NodeDef[], handler: RawHandler, more = {}) =>
    createWorld({
      registry: rawRegistry([definitionOf("w", nodes, ref("z")), kid], { "work@1": handler }),
      ...more,
    });

  test("two hundred of one parent run, and their outputs are the parent's own: copied under it", async () => {
    const childBody = { kind: "child", workflow: "kid", definition: hashOf(kid), input: ref("$item") } as const;
    const world = worldOf([map("z", ref("$input"), { body: childBody, concurrency: 64 })], (input) => ({ got: input }));
    const input = Array.from({ length: 200 }, (_, at) => at);
    await start(world.engine, { workflow: "w", runId: "r", input });
    const { output } = await ended(world, "r", 3_600_000);
    expect(output).toEqual(input.map((got) => ({ got })));
    for (const each of world.store.snapshot())
      if (each.pk.startsWith("default#child-"))
        await world.store.write({
          kind: "delete",
          key: { pk: each.pk, sk: each.sk },
          when: [{ kind: "exists", path: ["pk"] }],
        });
    // nothing of the parent's result is read from its children
    expect((await ended(world, "r")).output).toEqual(output);
    expect(faultsOf(world)).toEqual([]);
  });

  test("yield a big output too, and fail their parent with their own words", async () => {
    const text = "x".repeat(10_000);
    const big = worldOf([child("z", { a: 1 })], () => ({ text }));
    await start(big.engine, { workflow: "w", runId: "r", input: null });
    expect((await ended(big, "r")).output).toEqual({ text });
    const bad = worldOf([child("z", { a: 1 })], () => {
      throw new RetryableError("out of stock", { after: "1s" });
    });
    await start(bad.engine, { workflow: "w", runId: "r", input: null });
    const { run: row } = await ended(bad, "r");
    expect(row.reason?.code).toBe("child-failed");
    expect(row.reason?.message).toContain("out of stock");
  });

  test("of a cancelled parent are cancelled, undo what they did, and no run stays live", async () => {
    const kidWithGate = definitionOf("kid", [stepNode("k"), { kind: "gate", name: "g", after: ["k"] }], ref("g"));
    const undone: string[] = [];
    const nodes: NodeDef[] = [{ ...child("z", null), definition: hashOf(kidWithGate) } as NodeDef];
    const world = createWorld({
      registry: rawRegistry([definitionOf("w", nodes, ref("z")), kidWithGate], {
        "work@1": () => undone.push("ran"),
      }),
    });
    await start(world.engine, { workflow: "w", runId: "r", input: null });
    await world.advance(10_000);
    await cancel(world.engine, { tenant: "default", runId: "r" }, "ann");
    expect((await ended(world, "r")).status).toBe("cancelled");
    await world.advance(600_000);
    const rows = world.store.snapshot().filter((each) => each.sk === "STATE");
    expect(rows.length).toBe(2);
    for (const row of rows) expect(row["s"]).toBe("cancelled");
    expect(faultsOf(world)).toEqual([]);
  });

  test("nested deeper than the budget fail the run, with a fault that says so", async () => {
    const world = worldOf([child("z", null)], () => 1, { limits: { childDepthMax: 0 } });
    await start(world.engine, { workflow: "w", runId: "r", input: null });
    expect((await ended(world, "r")).run.reason?.code).toBe("budget");
  });
});

describe("repeatable steps", () => {
  test("share commits, are each run, and hand their outputs on", async () => {
    const calls: string[] = [];
    const nodes = Array.from({ length: 30 }, (_, at) =>
      stepNode(at === 29 ? "z" : `s${at}`, at > 0 ? [`s${at - 1}`] : [], {
        isInline: true,
        isRepeatable: true,
        input: at > 0 ? ref(`s${at - 1}`) : 0,
      }),
    );
    const { output, world } = await run(nodes, (input, { node }) => {
      calls.push(node);
      return (input as number) + 1;
    });
    expect(output).toBe(30);
    expect(calls.length).toBe(30);
    expect(world.metrics.total("commits")).toBeLessThan(6);
  });

  test("that fail in the middle of a shared commit keep what was done before them", async () => {
    const calls: string[] = [];
    const nodes = Array.from({ length: 6 }, (_, at) =>
      stepNode(at === 5 ? "z" : `s${at}`, at > 0 ? [`s${at - 1}`] : [], { isInline: true, isRepeatable: true }),
    );
    const { status } = await run(nodes, (_, { node, attempt }) => {
      calls.push(`${node}/${attempt}`);
      if (node === "s3" && attempt === 1) throw new Error("once");
      return 1;
    });
    expect(status).toBe("succeeded");
    expect(calls).toEqual(["s0/1", "s1/1", "s2/1", "s3/1", "s3/2", "s4/1", "z/1"]);
  });
});

test("a saga through the authoring layer undoes a map's items from the list of their outputs", async () => {
  const undone: unknown[] = [];
  const book = step("book", { input: v.number(), output: v.object({ id: v.string() }) }, (n) => ({ id: `b${n}` }));
  const unbook = step("unbook", { input: v.object({ ids: v.array(v.object({ id: v.string() })) }) }, (input) => {
    undone.push(input.ids);
  });
  const boom = step("boom", { input: v.object({}), once: true }, () => {
    throw new Error("no");
  });
  const trip = workflow("trip", { input: v.array(v.number()) }, (flow, input) => {
    const booked = flow.map(input, book, { compensate: (ids) => call(unbook, { ids }) });
    const done = flow.run(boom, {}, { after: [booked] });
    return { done };
  });
  const world = createWorld({ registry: createRegistry([trip]) });
  await start(world.engine, { workflow: "trip", runId: "r", input: [1, 2, 3] });
  const { run: row } = await ended(world, "r");
  expect(row).toMatchObject({ phase: "failed", isUncompensated: false, reason: { message: "boom: no" } });
  expect(undone).toEqual([[{ id: "b1" }, { id: "b2" }, { id: "b3" }]]);
});
