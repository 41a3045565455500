import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../lib/core/json.ts";
import { fixed } from "../../lib/core/limits.ts";
import { validate } from "../../lib/core/validate.ts";

type Node = Record<string, unknown>;
const retry = { attempts: 3, firstDelayMs: 1000, longestDelayMs: 60_000, factor: 2, jitter: 1 };
const step = (name: string, more: Node = {}): Node => ({
  kind: "step",
  name,
  handler: "charge@1",
  group: "default",
  input: {},
  retry,
  timeoutMs: 30_000,
  ...more,
});
const sleep = (name: string, more: Node = {}): Node => ({ kind: "sleep", name, forMs: 1000, ...more });
const gate = (name: string, more: Node = {}): Node => ({ kind: "gate", name, ...more });
const body = (more: Node = {}): Node => {
  const { name: _, ...rest } = step("");
  return { ...rest, ...more };
};
const map = (name: string, more: Node = {}): Node => ({
  kind: "map",
  name,
  items: [],
  body: body(),
  concurrency: 8,
  ...more,
});
const child = (name: string, more: Node = {}): Node => ({
  kind: "child",
  name,
  workflow: "other",
  definition: "0123456789abcdef0123456789abcdef",
  input: {},
  ...more,
});
const undo = (target: string, more: Node = {}): Node => step(`${target}.undo`, { compensates: target, ...more });
const ref = (source: string, ...path: string[]): Json => ({ $: ["ref", source, ...path] });
const definition = (nodes: readonly Node[], more: Node = {}) => ({ format: 1, workflow: "order", nodes, ...more });
const faultsOf = (...nodes: readonly Node[]) =>
  validate(definition(nodes)).map(({ path, message }) => `${path}: ${message}`);

describe("a sound definition", () => {
  test("has no faults, whatever kinds it is made of", () => {
    const nodes = [
      step("charge", { input: { id: ref("$input", "id") }, isInline: true, isRepeatable: true, heartbeatMs: 5000 }),
      gate("approve", { about: ref("charge"), timeoutMs: 1000, onTimeout: "reject", onReject: "continue" }),
      sleep("pause", { after: ["approve"] }),
      { kind: "signal", name: "paid", signal: "paid", after: ["pause"], timeoutMs: 5, onTimeout: "continue" },
      map("pick", {
        items: ref("charge", "lines"),
        body: body({ input: { sku: ref("$item", "sku"), at: ref("$index"), id: ref("$input", "id") } }),
        tolerate: { share: 0.1 },
        onFailure: "continue",
      }),
      child("ship", { when: { $: ["and", ref("approve", "approved"), { $: ["exists", ref("paid")] }] } }),
      undo("pick", { input: ref("pick") }),
      undo("charge", { input: [ref("charge"), ref("$input")] }),
    ];
    expect(validate(definition(nodes, { output: { ok: ref("ship") } }))).toEqual([]);
  });

  test("may have no nodes at all", () => expect(validate(definition([], { output: ref("$input") }))).toEqual([]));

  test("may hold constants with a key $, quoted", () =>
    expect(faultsOf(step("a", { input: { $: ["quote", { $: 1 }] } }))).toEqual([]));
});

const rows: readonly [string, readonly Node[], readonly (string | RegExp)[]][] = [
  ["a missing field", [step("a", { group: undefined })], ["nodes[0].group: is missing"]],
  ["a field that nobody knows", [step("a", { wehn: true })], [/^nodes\[0\]\.wehn: nobody knows it: use .*when/]],
  ["a bad name", [step("a b")], [/^nodes\[0\]\.name: must be a name of 1 to 64/]],
  ["a name with a leading $", [step("$input")], [/^nodes\[0\]\.name: must be a name/]],
  ["two nodes of one name", [step("a"), step("a")], ['nodes[1].name: "a" is the name of node 0 already: rename one']],
  ["an unknown kind", [{ kind: "loop", name: "a" }], [/^nodes\[0\]\.kind: must be one of step, child, map/]],
  ["a kind named like a property of every object", [{ kind: "constructor", name: "a" }], [/must be one of/]],
  [
    "a reference to nobody",
    [step("a", { input: { x: [ref("b")] } })],
    [/^nodes\[0\]\.input\.x\[0\]: there is no node "b"/],
  ],
  [
    "a reference to a later node",
    [step("a", { input: ref("b") }), step("b")],
    [/^nodes\[0\]\.input: "b" comes later.*move it up/],
  ],
  ["a node that reads itself", [step("a", { when: ref("a") })], ['nodes[0].when: "a" cannot wait for itself']],
  [
    "after nobody, a later node and the input",
    [step("a", { after: ["x", "b", "$input"] }), step("b")],
    [/after\[0\]: there is no/, /after\[1\]: "b" comes later/, /after\[2\]: there is no node "\$input"/],
  ],
  [
    "$item outside of a map",
    [step("a", { input: ref("$item") })],
    ['nodes[0].input: "$item" is known only in the body of a map'],
  ],
  [
    "$index as the items of a map",
    [map("a", { items: ref("$index") })],
    [/^nodes\[0\]\.items: "\$index" is known only/],
  ],
  [
    "an unknown operator",
    [step("a", { when: { $: ["plus", 1, 2] } })],
    [/^nodes\[0\]\.when: unknown operator "plus": use one of ref, quote, eq/],
  ],
  [
    "an operator named like a property of every object",
    [step("a", { when: { $: ["toString", 1] } })],
    [/unknown operator "toString"/],
  ],
  ["fact, which only the engine writes", [step("a", { when: { $: ["fact", 0] } })], [/unknown operator "fact"/]],
  [
    "wrong arities",
    [step("a", { when: { $: ["and", { $: ["not"] }, { $: ["eq", 1] }, { $: ["if", true] }] } })],
    [/"not" takes 1 operand, and got 0/, /"eq" takes 2 operands, and got 1/, /"if" takes 2 or 3 operands/],
  ],
  ["no operands where some are needed", [step("a", { when: { $: ["and"] } })], [/"and" takes at least 1 operands/]],
  [
    "a malformed case",
    [
      step("a", {
        input: {
          $: [
            "case",
            1,
            [
              ["x", 1],
              ["x", ref("b")],
              [[], 1],
            ],
          ],
        },
      }),
    ],
    [/\[1\]\[1\]: "x" has a branch already/, /\[1\]\[1\]\[1\]: there is no node "b"/, /a branch is/],
  ],
  ["a constant that looks like a reference", [step("a", { input: { $: 1 } })], [/wrap a constant in/]],
  ["a reference with company", [step("a", { input: { $: ["ref", "$input"], b: 1 } })], [/wrap a constant in/]],
  [
    "a path with something else than names",
    [step("a", { input: { $: ["ref", "$input", -1] } })],
    [/holds names and indexes from 0 only/],
  ],
  [
    "what is not JSON",
    [step("a", { input: { x: Number.NaN, f: () => 1 } })],
    [/input\.x: a number is not JSON/, /input\.f: a function is not JSON/],
  ],
  [
    "retry arithmetic out of range",
    [step("a", { retry: { attempts: 0, firstDelayMs: 10, longestDelayMs: 5, factor: 0.5, jitter: 2 } })],
    [
      /attempts: must be a whole number from 1 to 100/,
      /factor: must be a number from 1 to 100/,
      /jitter: must be a share/,
      /longestDelayMs: is shorter than firstDelayMs/,
    ],
  ],
  [
    "a time-out that no function can hold",
    [step("a", { timeoutMs: 900_000, isInline: true })],
    [/timeoutMs: no function can hold an attempt longer than 898000 ms/],
  ],
  [
    "a heartbeat longer than the time-out",
    [step("a", { heartbeatMs: 31_000 })],
    [/heartbeatMs: is longer than timeoutMs/],
  ],
  ["repeatable, not inline", [step("a", { isRepeatable: true })], [/isRepeatable: only inline steps share commits/]],
  [
    "an inline item",
    [map("a", { body: body({ isInline: true }) })],
    [/body\.isInline: items of a map go through the queue/],
  ],
  ["a handler without its version", [step("a", { handler: "charge" })], [/handler: must be `name@version`/]],
  [
    "concurrency out of range",
    [map("a", { concurrency: 4097 }), map("b", { concurrency: 0 })],
    [/\[0\]\.concurrency: must be a whole number from 1 to 4096/, /\[1\]\.concurrency/],
  ],
  [
    "items of two sources",
    [step("a"), map("b", { items: { $: ["coalesce", ref("a"), ref("$input")] } })],
    [/items: reads "a" and "\$input": a map reads one source, so join them in a step/],
  ],
  ["items that are no list", [map("a", { items: { x: 1 } })], [/items: must be a list/]],
  ["a map of something else", [map("a", { body: sleep("x") })], [/body\.kind: the body of a map is/]],
  ["two tolerances", [map("a", { tolerate: { count: 1, share: 0.5 } })], [/tolerate: must be either/]],
  [
    "a sleep of no time",
    [sleep("a", { forMs: 0 }), step("b", { after: ["a"] })],
    [/forMs: must be a whole number of milliseconds/],
  ],
  [
    "onTimeout without a time-out",
    [gate("a", { onTimeout: "reject" }), step("b", { after: ["a"] })],
    [/onTimeout: without a timeoutMs it never happens/],
  ],
  ["a child without its hash", [child("a", { definition: "abc" })], [/definition: must be the hash/]],
  [
    "a gate beside what it should guard",
    [gate("ok"), step("b")],
    [/^nodes\[0\]: nothing waits for the gate "ok".*add `after: \["ok"\]`/],
  ],
  ["a sleep at the end", [step("b"), sleep("s", { after: ["b"] })], [/^nodes\[1\]: nothing waits for the sleep "s"/]],
  [
    "a gate that only a compensation reads",
    [gate("ok"), step("b", { after: ["x"] }), undo("b", { input: ref("ok") })],
    [/there is no node "x"/, /nothing waits for the gate/, /reads "ok", which "b" does not wait for/],
  ],
  [
    "a compensation before other nodes",
    [step("a"), undo("a"), step("b")],
    [/^nodes\[2\]: stands behind a compensation/],
  ],
  [
    "a compensation with conditions",
    [step("a"), undo("a", { when: true, after: ["a"], onFailure: "continue" })],
    [/when: a compensation runs whenever/, /after: a comp/, /onFailure: a comp/],
  ],
  ["a compensation of nobody", [step("a"), undo("b")], [/compensates: there is no step, map, child or external "b"/]],
  [
    "a compensation of a sleep",
    [sleep("a"), step("b", { after: ["a"] }), undo("a")],
    [/compensates: there is no step, map, child or external "a"/],
  ],
  [
    "a compensation of a compensation",
    [step("a"), undo("a"), undo("a.undo")],
    [/compensates: there is no step, map, child or external "a.undo"/],
  ],
  [
    "two compensations of one node",
    [step("a"), undo("a"), undo("a", { name: "a.undo2" })],
    [/"a" has a compensation already/],
  ],
  [
    "a compensation that is no step",
    [step("a"), child("a.undo", { compensates: "a" })],
    [/kind: a compensation is a "step"/],
  ],
  [
    "a compensation that reads what may not be there",
    [step("a"), step("b"), undo("a", { input: ref("b") })],
    [/input: reads "b", which "a" does not wait for/],
  ],
  [
    "a node that reads a compensation",
    [step("a"), undo("a"), undo("b", { input: ref("a.undo") })],
    [/"a.undo" is a compensation/, /there is no step, map, child or external "b"/],
  ],
];

describe("a fault names its place and the mend", () => {
  test.each(rows)("%s", (_, nodes, expected) => {
    const found = faultsOf(...nodes);
    expect(found).toHaveLength(expected.length);
    for (const one of expected) {
      expect(found).toContainEqual(typeof one === "string" ? one : expect.stringMatching(one));
    }
  });

  test.each([undefined, null, 1, "x", [], { nodes: 3 }, { format: 2, workflow: "$", nodes: [null, 1, []] }])(
    "%j is no definition",
    (value) => expect(validate(value).length).toBeGreaterThan(0),
  );

  test("more than a thousand nodes are too many, compensations included", () => {
    const nodes = Array.from({ length: fixed.nodesMax }, (_, at) => step(`s${at}`));
    expect(faultsOf(...nodes)).toEqual([]);
    expect(faultsOf(...nodes, undo("s0"))).toEqual([
      expect.stringMatching(/^nodes: 1001 nodes, compensations included/),
    ]);
  });

  test("an expression nested without end is a fault", () => {
    const nested: Record<string, unknown> = {};
    nested["a"] = nested;
    expect(faultsOf(step("a", { input: nested }))).toEqual([expect.stringMatching(/nested deeper than 64 levels/)]);
  });
});

test("validate answers for anything, and never throws", () => {
  const wild = fc.anything({ maxDepth: 3, withNullPrototype: true, withBigInt: true });
  const node = fc.oneof(
    wild,
    fc
      .tuple(
        fc.constantFrom(step, map, gate, sleep, undo, child),
        fc.dictionary(
          fc.constantFrom("items", "body", "when", "input", "after", "retry", "compensates", "tolerate"),
          wild,
        ),
      )
      .map(([make, more]) => make("a", more)),
  );
  fc.assert(
    fc.property(fc.array(node, { maxLength: 4 }), wild, (nodes, output) => {
      expect(Array.isArray(validate(definition(nodes as Node[], { output })))).toBe(true);
    }),
  );
});
