import { describe, expect, test } from "vitest";
import { evaluate, evaluateRest, mapParts, splitFacts } from "../../lib/core/expression.ts";
import { factBytesMax } from "../../lib/core/fact-bytes.ts";
import { instantOf } from "../../lib/core/instant.ts";
import type { Json } from "../../lib/core/json.ts";
import { programOf } from "../../lib/core/program.ts";
import { validate } from "../../lib/core/validate.ts";

type Node = Record<string, unknown>;
const retry = { attempts: 3, firstDelayMs: 1000, longestDelayMs: 60_000, factor: 2, jitter: 1 };
const work = { handler: "h@1", group: "default", input: {}, retry, timeoutMs: 30_000 };
const step = (name: string, more: Node = {}): Node => ({ kind: "step", name, ...work, ...more });
const ref = (source: string, ...path: string[]): Json => ({ $: ["ref", source, ...path] });
const repeat = (more: Node = {}): Node => ({
  kind: "repeat",
  name: "r",
  ...work,
  input: { last: ref("$last", "x") },
  until: { $: ["eq", ref("r", "state"), "done"] },
  limit: 10,
  everyMs: 0,
  factor: 1,
  longestMs: 0,
  ...more,
});
const external = (more: Node = {}): Node => ({ kind: "external", name: "e", ...work, completeWithinMs: 1000, ...more });
const sleep = (name: string, more: Node = {}): Node => ({ kind: "sleep", name, ...more });
const self = (more: Node = {}): Node => ({
  kind: "child",
  name: "c",
  workflow: "w",
  definition: "self",
  input: {},
  ...more,
});
const of = (
  nodes: readonly Node[],
  output: Json = nodes.filter(({ compensates }) => compensates === undefined).map(({ name }) => ref(String(name))),
) => ({
  format: 1,
  workflow: "w",
  nodes,
  output,
});
const faultsOf = (...nodes: readonly Node[]) => validate(of(nodes)).map(({ path, message }) => `${path}: ${message}`);

describe("repeats, externals, sleeps until, races and recursion", () => {
  test("have no faults when they are sound", () => {
    const nodes = [
      step("a", { oneOf: "g" }),
      sleep("s", { until: ref("$input", "at"), oneOf: "g" }),
      repeat(),
      external({ beatMs: 1000 }),
      self({ when: ref("$input", "deep") }),
      step("e.undo", { compensates: "e", input: ref("e") }),
    ];
    expect(
      validate(of(nodes, { first: { $: ["first", ["a", ref("a")], ["s", ref("s")]] }, all: [ref("s"), ref("c")] })),
    ).toEqual([]);
  });

  test.each<[string, readonly Node[], readonly RegExp[]]>([
    ["a repeat that runs inline", [repeat({ isInline: true })], [/isInline: nobody knows it/]],
    [
      "a repeat without fields",
      [{ kind: "repeat", name: "r" }],
      [
        /handler: is missing/,
        /group/,
        /input/,
        /retry/,
        /timeoutMs/,
        /until: is missing/,
        /limit/,
        /everyMs/,
        /factor/,
        /longestMs/,
      ],
    ],
    [
      "a repeat of other numbers",
      [repeat({ limit: 0, factor: 0.5, everyMs: -1 })],
      [/limit: must be a whole number from 1 to 10000/, /everyMs: must be/, /factor: must be a number from 1/],
    ],
    [
      "a condition over another node",
      [step("a"), repeat({ until: { $: ["eq", ref("r"), ref("a")] } })],
      [/until\.\$?.*the condition of a repeat reads its own output and nothing else: pass "a"|until/],
    ],
    [
      "a condition that never changes",
      [repeat({ until: true })],
      [/until: never changes: read the node's own output, "r"/],
    ],
    ["$last elsewhere", [step("a", { input: ref("$last") })], [/"\$last" is known only in the input of a repeat/]],
    [
      "an external that is never completed",
      [external({ completeWithinMs: undefined })],
      [/completeWithinMs: is missing/],
    ],
    ["a beat longer than all", [external({ beatMs: 5000 })], [/beatMs: is longer than completeWithinMs/]],
    ["a sleep without an end", [sleep("s")], [/nodes\[0\]: a sleep has one end/]],
    ["a sleep with two ends", [sleep("s", { forMs: 1, until: 5 })], [/nodes\[0\]: a sleep has one end/]],
    ["a race of one", [step("a", { oneOf: "g" })], [/nodes\[0\]\.oneOf: "g" has no other member/]],
    [
      "a rival that waits for another",
      [step("a", { oneOf: "g" }), step("b", { oneOf: "g", input: ref("a") })],
      [/nodes\[1\]: waits for "a" of its own group/],
    ],
    [
      "a rival that waits for another through a third",
      [step("a", { oneOf: "g" }), step("m", { after: ["a"] }), step("b", { oneOf: "g", after: ["m"] })],
      [/nodes\[2\]: waits for "a" of its own group/],
    ],
    [
      "a rival that times out as data",
      [
        { kind: "signal", name: "a", signal: "s", timeoutMs: 5, onTimeout: "continue", oneOf: "g" },
        step("b", { oneOf: "g" }),
      ],
      [/nodes\[0\]\.onTimeout: "continue" is neither/],
    ],
    [
      "a compensation in a race",
      [step("a"), step("a.undo", { compensates: "a", oneOf: "g" })],
      [/oneOf: a compensation runs whenever/],
    ],
    [
      "the compensation of a repeat",
      [repeat(), step("r.undo", { compensates: "r" })],
      [/there is no step, map, child or external "r" to undo/],
    ],
    [
      "itself under another name",
      [self({ workflow: "v", when: ref("$input", "x") })],
      [/workflow: "self" is this workflow: name it, "w"/],
    ],
    ["itself for ever", [self()], [/nodes\[0\]: a workflow that always starts itself never ends/]],
    [
      "a race in an expression that is none",
      [step("a", { input: { $: ["first", "x", ["l"], ["m", 1], ["m", 2]] } })],
      [/a rival is `\[label, expression\]`/, /a rival is/, /"m" is the label of another/],
    ],
    [
      "a race of nothing in an expression",
      [step("a", { input: { $: ["first"] } })],
      [/"first" takes at least 1 operand/],
    ],
  ])("%s is a fault with a mend", (_, nodes, expected) => {
    const found = faultsOf(...nodes);
    expect(found, found.join("\n")).toHaveLength(expected.length);
    expected.forEach((pattern, at) => {
      expect(found[at]).toMatch(pattern);
    });
  });

  test("all of them come at once", () =>
    expect(
      faultsOf(
        repeat({ until: true, limit: 0 }),
        external({ beatMs: 5000 }),
        sleep("s"),
        self(),
        step("z", { oneOf: "g" }),
      ),
    ).toHaveLength(6));
});

describe("the operator first", () => {
  const race: Json = { $: ["first", ["a", ref("a")], ["b", ref("b")]] };
  const sources = (values: { readonly [name: string]: Json }) => (source: string) => values[source];

  test("is the first that has a value, null included", () => {
    expect(evaluate(race, sources({ b: 1 }))).toEqual({ ok: true, value: { winner: "b", value: 1 } });
    expect(evaluate(race, sources({ a: null, b: 1 }))).toEqual({ ok: true, value: { winner: "a", value: null } });
    expect(evaluate(race, sources({}))).toEqual({ ok: true, value: undefined });
  });

  test("keeps its labels when its parts are exchanged, and splits into facts of one source each", () => {
    expect(mapParts(race, () => 5)).toEqual({ $: ["first", ["a", 5], ["b", 5]] });
    const { facts, rest } = splitFacts({ $: ["at", race, "winner"] });
    expect(facts.map(({ source }) => source)).toEqual(["a", "b"]);
    expect(evaluateRest(rest, (index) => (index === 1 ? "x" : undefined))).toEqual({ ok: true, value: "b" });
  });
});

describe("facts", () => {
  test("of cases and conditions that come to true or false take a byte, those of a repeat none", () => {
    const cases: Json = {
      $: [
        "case",
        ref("a", "kind"),
        [
          ["x", true],
          ["y", false],
        ],
      ],
    };
    const asked: Json = { $: ["if", { $: ["exists", ref("a")] }, true] };
    const bytes = (when: Json) => factBytesMax(programOf(of([step("a"), step("b", { when })]) as never, ""));
    expect(bytes(cases)).toBe(17);
    expect(bytes(asked)).toBe(17);
    expect(factBytesMax(programOf(of([repeat()]) as never, ""))).toBe(0);
  });
});

test.each([
  ["1970-01-01T00:00:00Z", 0],
  ["2024-02-29", Date.parse("2024-02-29")],
  ["2027-03-01T09:30:00.123456789+05:30", Date.parse("2027-03-01T04:00:00.123Z")],
  ["2027-03-01T09:30-01:00", Date.parse("2027-03-01T10:30:00Z")],
  ["1900-02-28T23:59:59Z", Date.parse("1900-02-28T23:59:59Z")],
  ["2027-02-29", undefined],
  ["1900-02-29", undefined],
  ["2027-13-01", undefined],
  ["2027-01-00", undefined],
  ["2027-01-01T24:00:00Z", undefined],
  ["2027-01-01T09:60:00Z", undefined],
  ["2027-01-01T09:00:61Z", undefined],
  ["2027-01-01T09:00:00", undefined],
  ["Fri Jan 01 2027", undefined],
])("the instant %s is %s", (text, ms) => expect(instantOf(text)).toBe(ms));
