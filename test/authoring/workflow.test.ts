import * as v from "valibot";
import { describe, expect, test } from "vitest";
import {
  and,
  at,
  call,
  coalesce,
  defaultRetry,
  eq,
  exists,
  type Flow,
  gt,
  isIn,
  must,
  not,
  orElse,
  type Ref,
  signal,
  size,
  step,
  text,
  validate,
  workflow,
} from "../../lib/index.ts";

const any = v.unknown();
const line = v.object({ sku: v.string() });
const reserve = step("reserve", { input: line, output: v.object({ id: v.string() }) }, () => ({ id: "x" }));
const release = step("release", { input: v.object({ ids: v.array(v.object({ id: v.string() })) }) }, () => {});
const note = step("note", { input: any, output: any, inline: true, repeatable: true }, (input) => input);
const ref = (...path: string[]) => ({ $: ["ref", ...path] });

type Order = { id: string; n: number; lines: { sku: string }[] };
const order = v.object({ id: v.string(), n: v.number(), lines: v.array(line) });
const nodesOf = (body: (flow: Flow, input: Ref<Order>) => unknown) =>
  workflow("w", { input: order }, (flow, input) => {
    body(flow, input);
  }).definition.nodes;

describe("a workflow", () => {
  test("comes to a definition without faults, addressed by its hash", () => {
    const made = workflow("order", { input: v.object({ lines: v.array(line) }) }, (flow, input) => {
      const reserved = flow.map(input.lines, reserve);
      return { reserved: reserved.length };
    });
    expect(validate(made.definition)).toEqual([]);
    expect(made.hash).toMatch(/^[0-9a-f]{32}$/);
    expect(made.definition).toMatchObject({
      format: 1,
      workflow: "order",
      output: { reserved: ref("reserve", "length") },
    });
  });

  test("has the same hash wherever it is built, and another one for another graph", () => {
    const build = (quantity: number) => workflow("w", { input: any }, (flow) => flow.run(note, { quantity })).hash;
    expect(build(1)).toBe(build(1));
    expect(build(1)).not.toBe(build(2));
  });

  test("may return nothing, or a reference", () => {
    expect(workflow("w", { input: any }, () => {}).definition).not.toHaveProperty("output");
    expect(workflow("w", { input: any }, (_, input) => input).definition.output).toEqual(ref("$input"));
  });

  test("may be defined inside another's function", () => {
    const outer = workflow("outer", { input: line }, (flow, input) => {
      const inner = workflow("inner", { input: line }, (flow, input) => flow.run(reserve, input));
      return flow.child(inner, { sku: input.sku });
    });
    expect(outer.definition.nodes).toMatchObject([
      { kind: "child", workflow: "inner", input: { sku: ref("$input", "sku") } },
    ]);
  });

  test("of a thousand nodes is built in well under a second", () => {
    const before = performance.now();
    nodesOf((flow, input) => {
      for (let at = 0; at < 1000; at += 1) flow.run(note, { input, at }, { name: `n${at}` });
    });
    expect(performance.now() - before).toBeLessThan(1000);
  });
});

describe("a step", () => {
  test("brings its policy into the definition, defaults spelled out", () => {
    expect(nodesOf((flow) => flow.run(reserve, { sku: "a" }))).toEqual([
      {
        kind: "step",
        name: "reserve",
        handler: "reserve@1",
        group: "default",
        input: { sku: "a" },
        retry: defaultRetry,
        timeoutMs: 30_000,
      },
    ]);
  });

  test("takes durations as text or milliseconds", () => {
    const slow = step(
      "slow",
      {
        input: any,
        version: "2",
        group: "big",
        timeout: "1.5m",
        heartbeat: 5000,
        startWithin: "2h",
        retry: { attempts: 2, longestDelay: "3d" },
      },
      () => {},
    );
    expect(nodesOf((flow) => flow.run(slow, 1))).toMatchObject([
      {
        handler: "slow@2",
        group: "big",
        timeoutMs: 90_000,
        heartbeatMs: 5000,
        startWithinMs: 7_200_000,
        retry: { attempts: 2, firstDelayMs: 1000, longestDelayMs: 259_200_000 },
      },
    ]);
  });

  test("said to run once is tried once", () => {
    const once = step("once", { input: any, once: true }, () => {});
    expect(nodesOf((flow) => flow.run(once, 1))).toMatchObject([{ retry: { attempts: 1 } }]);
  });

  test("is inline as a node and not as the item of a map", () => {
    const [node, map] = nodesOf((flow, input) => {
      flow.run(note, 1);
      flow.map(input.lines, note, { name: "notes" });
    });
    expect(node).toMatchObject({ isInline: true, isRepeatable: true });
    expect(map).not.toHaveProperty("body.isInline");
    expect(map).not.toHaveProperty("body.isRepeatable");
  });

  test("lists all that is wrong with its options", () => {
    const bad = { input: {}, once: true, retry: { attempts: 2 }, repeatable: true, timeout: "5 m" };
    expect(() => step("bad", bad as never, 5 as never)).toThrow(
      /^step "bad": handler: pass a function.*; input: pass a schema.*; once: .*; repeatable: .*; timeout: "5 m" is no duration/,
    );
  });
});

describe("nodes", () => {
  test("carry name, condition, order and policy", () => {
    const nodes = nodesOf((flow, input) => {
      const a = flow.run(note, input, { name: "a", onFailure: "continue" });
      flow.run(note, 1, { name: "b", after: [a, at(a, "ok")], when: eq(input.n, 5) });
    });
    expect(nodes).toMatchObject([
      { name: "a", onFailure: "continue" },
      { name: "b", after: ["a"], when: { $: ["eq", ref("$input", "n"), 5] } },
    ]);
  });

  test("of the default policies leave them out", () => {
    const [node] = nodesOf((flow) => flow.run(note, 1, { onFailure: "fail" }));
    expect(node).not.toHaveProperty("onFailure");
    const [gate] = nodesOf((flow) => flow.run(note, flow.gate("ok", { onReject: "fail" })));
    expect(gate).toEqual({ kind: "gate", name: "ok" });
  });

  test("that wait: gates, signals, sleeps", () => {
    const paid = signal("paid", v.object({ by: v.string() }));
    const nodes = nodesOf((flow, input) => {
      const ok = flow.gate("ok", { about: { input }, timeout: "2h", onTimeout: "reject", onReject: "continue" });
      const who = flow.signal(paid, { timeout: "3d", onTimeout: "continue" });
      const nap = flow.sleep("nap", 1500, { after: [ok] });
      flow.run(note, [who, nap], { name: "end" });
    });
    expect(nodes).toEqual([
      {
        kind: "gate",
        name: "ok",
        about: { input: ref("$input") },
        timeoutMs: 7_200_000,
        onTimeout: "reject",
        onReject: "continue",
      },
      { kind: "signal", name: "paid", signal: "paid", timeoutMs: 259_200_000, onTimeout: "continue" },
      { kind: "sleep", name: "nap", forMs: 1500, after: ["ok"] },
      expect.objectContaining({ name: "end" }),
    ]);
  });

  test("in a series wait for the one before, unless they read it anyway", () => {
    const nodes = nodesOf((flow, input) => {
      flow.series((flow) => {
        const a = flow.run(note, input, { name: "a" });
        flow.run(note, a, { name: "b" });
        flow.series((flow) => flow.sleep("nap", "1s"));
        flow.run(note, input, { name: "c" });
      });
      flow.run(note, input, { name: "d" });
    });
    expect(nodes.map(({ name, after }) => [name, after])).toEqual([
      ["a", undefined],
      ["b", undefined],
      ["nap", ["b"]],
      ["c", ["nap"]],
      ["d", undefined],
    ]);
  });
});

describe("maps, children and compensations", () => {
  test("a map calls a step for each item, with the item, or with what a function makes of it", () => {
    const nodes = nodesOf((flow, input) => {
      flow.map(input.lines, reserve);
      flow.map(input.lines, (item, index) => call(note, { item, index, input, big: gt(index, 3) }), {
        name: "notes",
        concurrency: 2,
        tolerate: "2.5%",
      });
      flow.map(input.lines, note, { tolerate: 3 });
    });
    expect(nodes).toMatchObject([
      {
        kind: "map",
        name: "reserve",
        items: ref("$input", "lines"),
        concurrency: 8,
        body: { kind: "step", input: ref("$item") },
      },
      {
        name: "notes",
        concurrency: 2,
        tolerate: { share: 0.025 },
        body: {
          input: {
            item: ref("$item"),
            index: ref("$index"),
            input: ref("$input"),
            big: { $: ["gt", ref("$index"), 3] },
          },
        },
      },
      { name: "note", tolerate: { count: 3 } },
    ]);
  });

  test("a child is pinned to its definition, alone or as the body of a map", () => {
    const each = workflow("each", { input: line }, (flow, input) => flow.run(reserve, input));
    const nodes = nodesOf((flow, input) => {
      flow.child(each, { sku: "a" });
      flow.map(input.lines, (item) => call(each, { sku: item.sku }), { name: "all" });
      flow.map(input.lines, each, { name: "plain" });
    });
    const pinned = { kind: "child", workflow: "each", definition: each.hash };
    expect(nodes).toMatchObject([
      { ...pinned, name: "each", input: { sku: "a" } },
      { kind: "map", name: "all", body: { ...pinned, input: { sku: ref("$item", "sku") } } },
      { kind: "map", name: "plain", body: { ...pinned, input: ref("$item") } },
    ]);
  });

  test("compensations are hidden nodes behind all others", () => {
    const nodes = nodesOf((flow, input) => {
      const held = flow.map(input.lines, reserve, {
        compensate: (ids) => call(release, { ids }),
      });
      const a = flow.run(note, held, { name: "a", compensate: (done) => call(note, { done, input }) });
      flow.run(note, a, { name: "b" });
    });
    expect(nodes.map(({ name, compensates }) => [name, compensates])).toEqual([
      ["reserve", undefined],
      ["a", undefined],
      ["b", undefined],
      ["reserve.undo", "reserve"],
      ["a.undo", "a"],
    ]);
    expect(nodes[3]).toMatchObject({ kind: "step", handler: "release@1", input: { ids: ref("reserve") } });
    expect(nodes[4]).toMatchObject({ handler: "note@1", input: { done: ref("a"), input: ref("$input") } });
  });
});

describe("constants and operators", () => {
  test("constants are taken as they are, also those that look like references", () => {
    const constant = { list: [1, null, { deep: "x" }], gone: undefined };
    const [node] = nodesOf((flow) => flow.run(note, { constant, odd: { $: ["ref", "$input"] } }));
    expect(node).toMatchObject({
      input: { constant: { list: [1, null, { deep: "x" }] }, odd: { $: ["quote", { $: ["ref", "$input"] }] } },
    });
    expect(node).not.toHaveProperty("input.constant.gone");
  });

  test("operators nest, and what they make has fields", () => {
    const made = workflow(
      "w",
      {
        input: v.object({
          id: v.string(),
          n: v.number(),
          a: v.optional(line),
          b: v.optional(line),
          list: v.array(line),
        }),
      },
      (_, input) => ({
        both: and(not(exists(input.a)), gt(input.n, 5)),
        sku: coalesce(input.a, input.b, { sku: "none" }).sku,
        text: text`order ${input.id}: ${size(input.list)}`,
        plain: text`plain`,
        first: at(input.list, -1).sku,
        must: must(input.a).sku,
        isIn: isIn(input.id, ["a", input.id]),
        other: orElse(input.a, input.b),
      }),
    );
    const field = (...path: string[]) => ref("$input", ...path);
    expect(made.definition.output).toEqual({
      both: { $: ["and", { $: ["not", { $: ["exists", field("a")] }] }, { $: ["gt", field("n"), 5] }] },
      sku: { $: ["at", { $: ["coalesce", field("a"), field("b"), { sku: "none" }] }, "sku"] },
      text: { $: ["text", "order ", field("id"), ": ", { $: ["size", field("list")] }] },
      plain: { $: ["text", "plain"] },
      first: { $: ["at", { $: ["at", field("list"), -1] }, "sku"] },
      must: { $: ["at", { $: ["must", field("a")] }, "sku"] },
      isIn: { $: ["isIn", field("id"), ["a", field("id")]] },
      other: { $: ["orElse", field("a"), field("b")] },
    });
  });
});
