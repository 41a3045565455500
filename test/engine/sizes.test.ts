import { describe, expect, test } from "vitest";
import type { Definition, Expr, NodeDef } from "../../lib/core/definition.ts";
import { fixed } from "../../lib/core/limits.ts";
import { decodeRun } from "../../lib/core/row-format.ts";
import { isLive } from "../../lib/core/run.ts";
import { validate } from "../../lib/core/validate.ts";
import { start } from "../../lib/engine/start.ts";
import { itemBytes } from "../../lib/ports/item-size.ts";
import { createWorld } from "../../lib/testing/world.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, rawRegistry } from "./raw.ts";

const long = (text: string) => text.padStart(64, "x");
const [tenant, runId, workflow] = [long("tenant"), long("run"), long("workflow")];

/** Runs it to its end under the longest names, and gives the largest row by how many nodes were in flight. */
async function largest(definition: Definition, input: unknown, output: (n: number) => unknown = () => ({ n: 1 })) {
  expect(validate(definition)).toEqual([]);
  let calls = 0;
  const world = createWorld({ registry: rawRegistry([definition], { "work@1": () => output(calls++) as never }) });
  const sizes = { few: 0, many: 0, active: 0 };
  world.store.watch((write, _, now) => {
    if (write.key.sk !== "STATE" || !now) return;
    const bytes = itemBytes({ ...now, ...write.key });
    const { active, ...run } = decodeRun(write.key, now);
    if (!isLive(run)) return;
    sizes.active = Math.max(sizes.active, active.length);
    if (active.length <= fixed.activeInOneUnit) sizes.few = Math.max(sizes.few, bytes);
    else sizes.many = Math.max(sizes.many, bytes);
  });
  await start(world.engine, { workflow, runId, tenant, input });
  const at = { tenant, runId };
  await world.until(async () => {
    const row = world.store.peek({ pk: `${at.tenant}#${at.runId}`, sk: "STATE" });
    return row !== undefined && row["l"] === undefined;
  });
  const run = decodeRun({ pk: `${tenant}#${runId}` }, world.store.peek({ pk: `${tenant}#${runId}`, sk: "STATE" })!);
  expect(run.reason).toBeUndefined();
  expect(run.phase).toBe("succeeded");
  expect(faultsOf(world)).toEqual([]);
  return sizes;
}

const name = (at: number) => long(`n${at}`);
const chain = (count: number, more = {}) =>
  Array.from({ length: count }, (_, at) => stepNode(name(at), at > 0 ? [name(at - 1)] : [], more));
const wide = (count: number) => Array.from({ length: count }, (_, at) => stepNode(name(at)));
const lanes = (count: number, width: number) =>
  Array.from({ length: count }, (_, at) => stepNode(name(at), at >= width ? [name(at - width)] : []));
const map = (concurrency: number): NodeDef => ({
  kind: "map",
  name: name(0),
  items: ref("$input", "list"),
  body: stepBody(),
  concurrency,
});
const list = (count: number, item: unknown = 1) => ({ list: Array.from({ length: count }, () => item) });

describe("the row of a run under the longest names", () => {
  test.each<[string, readonly NodeDef[], unknown, ((n: number) => unknown)?]>([
    ["a chain of 10", chain(10), null],
    ["a chain of 100", chain(100), null],
    ["a chain of 1000", chain(1000), null],
    ["an inline chain of 1000", chain(1000, { isInline: true }), null],
    ["an inline chain of 200 with outputs of 100 bytes", chain(200, { isInline: true }), null, () => "y".repeat(98)],
    ["an inline chain of 100 with outputs of 250 bytes", chain(100, { isInline: true }), null, () => "y".repeat(248)],
    ["16 lanes of 1000 steps", lanes(1000, 16), null],
    ["64 lanes of 300 steps", lanes(300, 64), null],
    ["1000 steps beside each other", wide(1000), null],
    ["a map of 16 at once", [map(16)], list(100)],
    ["a map of 64 at once", [map(64)], list(300)],
    ["a map of 64 at once over pages", [map(64)], list(300, { text: "z".repeat(100) })],
  ])(
    "stays within its write unit with up to 16 in flight, and within two with 64: %s",
    async (_, nodes, input, output) => {
      const sizes = await largest(definitionOf(workflow, nodes), input, output);
      expect(sizes.few).toBeLessThan(fixed.rowBytesOneUnit);
      expect(sizes.many).toBeLessThan(fixed.rowBytesMax);
    },
  );
});

describe("facts on the row", () => {
  const both = (at: number): Expr => ({ $: ["eq", ref("a", `f${at}`), ref("b", `f${at}`)] });
  const own = (at: number): Expr => ({ $: ["eq", ref("a", `f${at}`), "x"] });
  const asking = (count: number, when: (at: number) => Expr): readonly NodeDef[] => [
    stepNode("a"),
    stepNode("b"),
    stepNode("hold", ["a", "b"]),
    ...Array.from({ length: count }, (_, at) => stepNode(`s${at}`, ["hold"], { when: when(at) })),
  ];
  const faults = (nodes: readonly NodeDef[]) => validate(definitionOf(workflow, nodes)).map((each) => each.message);
  const strings = () => Object.fromEntries(Array.from({ length: 990 }, (_, at) => [`f${at}`, "y".repeat(32)]));

  test("of comparisons within one output are a byte each: as many as a workflow has nodes fit", async () => {
    const sizes = await largest(definitionOf(workflow, asking(990, own)), null, strings);
    expect(sizes.few).toBeLessThan(fixed.rowBytesOneUnit + 1000);
  });

  test("of comparisons between outputs are the values: what fits by the bound runs", async () => {
    expect(faults(asking(40, both))).toEqual([]);
    const sizes = await largest(definitionOf(workflow, asking(40, both)), null, strings);
    expect(sizes.few).toBeLessThan(fixed.rowBytesRefused / 2);
  });

  test("that cannot fit are refused when the workflow is built, and the fault says what to do", () => {
    expect(faults(asking(60, both))).toEqual([
      "what their conditions compare may take 4080 bytes on the run's row at one time, and 3000 is the most: " +
        "let a step compare and yield a boolean, or move some into a child",
    ]);
  });

  test("that never meet count once: a long chain in which each condition reads the step before", () => {
    const nodes = Array.from({ length: 1000 }, (_, at) =>
      stepNode(
        `s${at}`,
        at > 0 ? [`s${at - 1}`] : [],
        at > 1 ? { when: { $: ["eq", ref(`s${at - 1}`, "x"), ref(`s${at - 2}`, "x")] } } : {},
      ),
    );
    expect(faults(nodes)).toEqual([]);
  });

  test("too big to be compared fail the node that compares them, not the row", async () => {
    const nodes = [stepNode("a"), stepNode("b"), stepNode("c", [], { when: both(0) })];
    const world = createWorld({
      registry: rawRegistry([definitionOf("w", nodes)], { "work@1": () => ({ f0: "z".repeat(33) }) }),
    });
    await start(world.engine, { workflow: "w", runId: "r", input: null });
    expect((await ended(world, "r")).run.reason?.code).toBe("fact-too-big");
  });

  test("of a definition from before the bound end their run as a row that fits, with a reason", async () => {
    const world = createWorld({
      registry: rawRegistry([definitionOf("w", asking(300, both))], { "work@1": strings }),
    });
    await start(world.engine, { workflow: "w", runId: "r", input: null });
    const { run } = await ended(world, "r");
    expect(run.reason?.code).toBe("row-too-big");
    expect(run.reason?.message).toMatch(/the row would take \d+ bytes of 8000/);
    expect(world.metrics.total("runs-ended")).toBe(1);
    expect(
      itemBytes({ ...world.store.peek({ pk: "default#r", sk: "STATE" })!, pk: "default#r", sk: "STATE" }),
    ).toBeLessThan(1000);
  });
});

test("sixty-four maps at once, over pages, keep a row below four kilobytes: their frames are what is beyond two write units", async () => {
  const maps = Array.from({ length: 64 }, (_, at): NodeDef => ({ ...(map(1) as object), name: name(at) }) as NodeDef);
  const sizes = await largest(definitionOf(workflow, maps), list(50, { text: "z".repeat(100) }));
  expect(sizes.active).toBe(64);
  expect(sizes.many).toBeLessThan(2 * fixed.rowBytesMax);
});
