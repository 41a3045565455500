import type { Definition, Expr, NodeDef, StepNode } from "../../lib/core/definition.ts";
import type { Json } from "../../lib/core/json.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, hashOf, type RawHandler } from "../engine/raw.ts";

/** A workflow to simulate, what is sent to it from outside, and what it must come to whatever happens on the way. */
export interface Flow {
  readonly definitions: readonly Definition[];
  readonly input: Json;
  readonly signals: readonly { readonly name: string; readonly payload: Json }[];
  readonly gates: readonly string[];
  readonly status: string;
  readonly output: Json | undefined;
}

/** Enough tries for whatever a simulation loses. */
const retry = { attempts: 50, firstDelayMs: 100, longestDelayMs: 5000, factor: 2, jitter: 1 };
const step = (name: string, reads: readonly string[] = [], more: Partial<StepNode> = {}): StepNode =>
  stepNode(name, reads, { retry, ...more });
const gate = (name: string, after: readonly string[] = []): NodeDef => ({ kind: "gate", name, after });
const signal = (name: string, on: string, after: readonly string[] = []): NodeDef => ({
  kind: "signal",
  name,
  signal: on,
  after,
});
const flow = (nodes: readonly NodeDef[], output: Expr, more: Partial<Flow> = {}): Flow => ({
  definitions: [definitionOf("w", nodes, output)],
  input: { n: 1 },
  signals: [],
  gates: [],
  status: "succeeded",
  output: undefined,
  ...more,
});

/** Adds one to the sum of all numbers in its input, so that an output says exactly what it was made of. */
export const adder: RawHandler = (input, { node }) => {
  if (node === "boom") throw Object.assign(new Error("always"), { name: "Error" });
  return 1 + sumOf(input);
};

const sumOf = (value: Json): number => {
  if (typeof value === "number") return value;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + sumOf(each as Json), 0);
};

const chain = (more: Partial<StepNode>) => [
  step("a", ["$input"], more),
  step("b", ["a"], more),
  step("c", ["b"], more),
  step("d", ["c"], more),
];

const kid = definitionOf("kid", [step("k", ["$input"]), step("l", ["k"], { isInline: true })], ref("l"));

export const flows: { readonly [name: string]: Flow } = {
  "a chain of queued steps": flow(chain({}), ref("d"), { output: 5 }),
  "a chain of inline steps": flow(chain({ isInline: true }), ref("d"), { output: 5 }),
  "a chain of repeatable steps": flow(chain({ isInline: true, isRepeatable: true }), ref("d"), { output: 5 }),
  "inline and queued by turns": flow(
    chain({}).map((each, at) => (at % 2 === 0 ? { ...each, isInline: true } : each)),
    ref("d"),
    { output: 5 },
  ),
  "a fan out and in": flow(
    [
      step("a", ["$input"]),
      ...["b", "c", "d", "e", "f", "g"].map((name) => step(name, ["a"])),
      step("z", ["b", "c", "d", "e", "f", "g"]),
    ],
    ref("z"),
    { output: 19 },
  ),
  "a map": flow(
    [
      {
        kind: "map",
        name: "m",
        items: ref("$input", "list"),
        body: stepBody({ retry, input: ref("$item") }),
        concurrency: 3,
      },
      step("z", ["m"]),
    ],
    ref("z"),
    { input: { list: [1, 2, 3, 4, 5, 6, 7] }, output: 36 },
  ),
  "a map wider than a row, and one over it": flow(
    [
      {
        kind: "map",
        name: "m",
        items: ref("$input", "list"),
        body: stepBody({ retry, input: [ref("$item"), ref("$input", "n")] }),
        concurrency: 80,
      },
      { kind: "map", name: "o", items: ref("m"), body: stepBody({ retry, input: ref("$item") }), concurrency: 66 },
      step("z", ["o"]),
    ],
    ref("z"),
    { input: { n: 1, list: Array.from({ length: 100 }, (_, at) => at) }, output: 5251 },
  ),
  "a gate and a sleep": flow(
    [
      step("a", ["$input"]),
      gate("g", ["a"]),
      { kind: "sleep", name: "s", forMs: 20_000, after: ["g"] },
      step("z", ["a"], { after: ["s"] }),
    ],
    ref("z"),
    { gates: ["g"], output: 3 },
  ),
  "signals in another order than they are waited for": flow(
    [step("a", ["$input"]), signal("x", "x", ["a"]), signal("y", "y", ["x"]), step("z", ["x", "y"])],
    ref("z"),
    {
      signals: [
        { name: "y", payload: 20 },
        { name: "x", payload: 10 },
      ],
      output: 31,
    },
  ),
  children: flow(
    [
      { kind: "child", name: "c", workflow: "kid", definition: hashOf(kid), input: { n: ref("$input", "n") } },
      {
        kind: "map",
        name: "m",
        items: [1, 2, 3],
        body: { kind: "child", workflow: "kid", definition: hashOf(kid), input: ref("$item") },
        concurrency: 2,
      },
      step("z", ["c", "m"]),
    ],
    ref("z"),
    { output: 16 },
  ),
  "a saga": flow(
    [
      step("a", ["$input"]),
      step("b", ["a"], { isInline: true }),
      step("boom", ["b"], { retry: { ...retry, attempts: 1 } }),
      step("a.undo", ["a"], { compensates: "a" }),
      step("b.undo", ["b"], { compensates: "b" }),
    ],
    0,
    { status: "failed" },
  ),
};

/** All that a flow's registry must hold. */
export const definitionsOf = (flow: Flow): readonly Definition[] => [...flow.definitions, kid];
