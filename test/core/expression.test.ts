import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Expr } from "../../lib/core/definition.ts";
import { type Evaluated, evaluate, evaluateRest, sourcesOf, splitFacts } from "../../lib/core/expression.ts";
import { Fault, type FaultCode } from "../../lib/core/faults.ts";
import type { Json } from "../../lib/core/json.ts";

const hole = (...parts: Json[]): Expr => ({ $: parts });
const ref = (source: string, ...path: (string | number)[]): Expr => hole("ref", source, ...path);
const none = ref("nothing");

const values: Record<string, Json> = {
  $input: { id: "o-1", cents: 1200, vip: false, note: null, lines: [{ sku: "a" }, { sku: "b" }], tags: { x: 1 } },
  charge: { receiptId: "r-9", length: "long", deep: 5 },
  $index: 3,
};
const sources = (source: string) => values[source];
const come = (expr: Expr) => {
  const result = evaluate(expr, sources);
  return result.ok ? { value: result.value } : { fault: result.fault.code };
};

const table: readonly [string, Expr, Json | undefined][] = [
  ["a constant is itself", { a: [1, "x", null] }, { a: [1, "x", null] }],
  ["a reference yields a whole output", ref("$index"), 3],
  ["a path looks into objects", ref("charge", "receiptId"), "r-9"],
  [
    "a path looks into lists, by number and by text",
    [ref("$input", "lines", 1, "sku"), ref("$input", "lines", "0", "sku")],
    ["b", "a"],
  ],
  ["a list has a length", ref("$input", "lines", "length"), 2],
  ["a property called length is a property", ref("charge", "length"), "long"],
  ["a text has no length by path", ref("$input", "id", "length"), undefined],
  ["a path through nothing is nothing", ref("$input", "gone", "deeper"), undefined],
  ["a path through null is nothing", ref("$input", "note", "deeper"), undefined],
  ["inherited properties are not seen", [ref("charge", "constructor"), ref("$input", "lines", "map")], [null, null]],
  ["__proto__ is not seen", ref("charge", "__proto__"), undefined],
  ["a property without a value is left out", { a: none, b: 1 }, { b: 1 }],
  ["an item without a value is null", [none, 1], [null, 1]],
  ["a quoted constant is taken as it is", hole("quote", { $: ["ref", "$input"] }), { $: ["ref", "$input"] }],
  ["eq is deep, whatever the order of keys", hole("eq", { a: 1, b: [2] }, { b: [2], a: 1 }), true],
  ["eq sees a missing key", hole("eq", { a: 1 }, { b: 1 }), false],
  ["no value equals no value", hole("eq", none, none), true],
  ["no value is not null", hole("eq", none, null), false],
  ["null equals null", hole("eq", ref("$input", "note"), null), true],
  ["ne is the opposite of eq", hole("ne", 1, "1"), true],
  [
    "numbers are ordered",
    [hole("gt", 2, 1), hole("gte", 2, 2), hole("lt", 2, 1), hole("lte", 3, 2)],
    [true, true, false, false],
  ],
  ["strings are ordered", hole("lt", "2026-01-02", "2026-01-10"), true],
  ["and stops at the first false", hole("and", false, hole("must", none)), false],
  ["or stops at the first true", hole("or", true, 7), true],
  ["and of all true", hole("and", true, true), true],
  ["not", hole("not", ref("$input", "vip")), true],
  [
    "exists is neither missing nor null",
    [hole("exists", 0), hole("exists", none), hole("exists", null)],
    [true, false, false],
  ],
  ["isIn compares deeply", hole("isIn", { a: 1 }, [{ a: 1 }]), true],
  ["isIn of what is not there", hole("isIn", none, [null]), false],
  ["coalesce skips missing and null", hole("coalesce", none, null, false, 1), false],
  ["coalesce of nothing is its last", hole("coalesce", none, null), null],
  [
    "orElse keeps what exists, false and empty included",
    [hole("orElse", "", "x"), hole("orElse", null, "x")],
    ["", "x"],
  ],
  ["must keeps what exists", hole("must", 0), 0],
  [
    "size counts items, characters and properties",
    [hole("size", [1, 2]), hole("size", "abc"), hole("size", { a: 1 })],
    [2, 3, 1],
  ],
  ["text joins", hole("text", "order ", ref("$input", "id"), " ", 1.5, true), "order o-1 1.5true"],
  [
    "at takes names, indexes and indexes from the end",
    [hole("at", ref("$input", "tags"), "x"), hole("at", [1, 2], 0), hole("at", [1, 2], -1)],
    [1, 1, 2],
  ],
  ["at of a name", hole("at", ref("charge"), "deep"), 5],
  ["at of nothing is nothing", [hole("at", none, 0), hole("at", [1], 4), hole("at", [1], none)], [null, null, null]],
  ["if takes one branch only", hole("if", true, 1, hole("must", none)), 1],
  ["if without else may have no value", hole("if", false, 1), undefined],
  [
    "case takes the branch of its literal",
    hole("case", ref("$input", "id"), [
      ["x", 1],
      ["o-1", ref("$index")],
    ]),
    3,
  ],
  ["case falls to its else", hole("case", none, [["x", 1]], "else"), "else"],
  ["a branch of case may be null", hole("case", "x", [["x", null]], 1), null],
];

const faulty: readonly [string, Expr, FaultCode][] = [
  ["ordering of unlike types", hole("gt", 1, "1"), "not-comparable"],
  ["ordering of what is not there", hole("lt", none, 1), "not-comparable"],
  ["ordering of booleans", hole("gt", true, false), "not-comparable"],
  ["and of a number", hole("and", true, 1), "not-comparable"],
  ["or of null", hole("or", null), "not-comparable"],
  ["not of nothing", hole("not", none), "not-comparable"],
  ["if of a string", hole("if", "yes", 1), "not-comparable"],
  ["isIn something else than a list", hole("isIn", 1, { a: 1 }), "not-comparable"],
  ["must of nothing", hole("must", none), "missing-value"],
  ["must of null", hole("must", null), "missing-value"],
  ["size of nothing", hole("size", none), "missing-value"],
  ["size of a number", hole("size", 1), "not-comparable"],
  ["text of nothing", hole("text", "a", none), "missing-value"],
  ["text of an object", hole("text", { a: 1 }), "not-comparable"],
  ["case of a kind that nobody knows", hole("case", "z", [["x", 1]]), "no-case"],
  ["a fault deep inside", { a: [hole("must", none)] }, "missing-value"],
  ["an operator that nobody knows", hole("constructor", 1), "bad-definition"],
];

describe("evaluate", () => {
  test.each(table)("%s", (_, expr, value) => expect(come(expr)).toEqual({ value }));
  test.each(faulty)("%s is a fault", (_, expr, fault) => expect(come(expr)).toEqual({ fault }));

  test("a property called __proto__ stays a property", () => {
    const made = evaluate(JSON.parse('{"__proto__": 1}'), sources);
    expect(made.ok && JSON.stringify(made.value)).toBe('{"__proto__":1}');
  });
});

const { expr: anyExpr } = fc.letrec<{ expr: Expr }>((tie) => {
  const leaf = fc.oneof(
    fc.constantFrom<Json>(true, false, null, 0, 1, 2, "a", "b"),
    fc
      .tuple(fc.constantFrom("$input", "a", "b"), fc.array(fc.constantFrom("x", "y", "0"), { maxLength: 2 }))
      .map(([source, path]) => ref(source, ...path)),
    fc.json().map((text) => hole("quote", JSON.parse(text))),
  );
  const one = tie("expr");
  const several = fc.array(one, { minLength: 1, maxLength: 3 });
  const arms = fc.array(fc.tuple(fc.constantFrom<Json>("a", 1, true), one), { maxLength: 2 });
  return {
    expr: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      fc
        .tuple(fc.constantFrom("eq", "ne", "gt", "gte", "lt", "lte", "isIn", "orElse", "at"), one, one)
        .map((all) => hole(...all)),
      fc.tuple(fc.constantFrom("not", "exists", "must", "size"), one).map((all) => hole(...all)),
      fc.tuple(fc.constantFrom("and", "or", "coalesce", "text"), several).map(([name, all]) => hole(name, ...all)),
      fc.tuple(one, one, one).map((all) => hole("if", ...all)),
      fc.tuple(one, arms).map(([subject, cases]) => hole("case", subject, cases as unknown as Json)),
      several,
      fc.dictionary(fc.constantFrom("x", "y"), one),
    ),
  };
});
const anySources = fc
  .dictionary(
    fc.constantFrom("$input", "a", "b"),
    fc.json().map((text) => JSON.parse(text) as Json),
  )
  .map((known) => (source: string) => (Object.hasOwn(known, source) ? known[source] : undefined));

const thrown = (result: Evaluated): Json | undefined => {
  if (result.ok) return result.value;
  throw new Fault(result.fault.code, result.fault.message);
};

describe("splitFacts", () => {
  test("the largest sub-expression with one source is a fact", () => {
    const big = hole("and", hole("gt", ref("charge", "cents"), 5), hole("eq", ref("charge", "kind"), "card"));
    const vip = ref("$input", "vip");
    expect(splitFacts(hole("or", vip, big))).toEqual({
      facts: [
        { source: "$input", expr: vip },
        { source: "charge", expr: big },
      ],
      rest: hole("or", hole("fact", 0), hole("fact", 1)),
    });
  });

  test("equal facts are one", () => {
    const same = hole("eq", ref("a"), ref("b"));
    const { facts, rest } = splitFacts(hole("or", same, hole("not", same)));
    expect(facts.map((fact) => fact.source)).toEqual(["a", "b"]);
    const split = hole("eq", hole("fact", 0), hole("fact", 1));
    expect(rest).toEqual(hole("or", split, hole("not", split)));
  });

  test("an expression of one source is one fact, a constant none", () => {
    expect(splitFacts(hole("not", ref("a"))).rest).toEqual(hole("fact", 0));
    expect(splitFacts(hole("not", true))).toEqual({ facts: [], rest: hole("not", true) });
  });

  test("facts and rest together come to what the whole comes to, faults included", () => {
    fc.assert(
      fc.property(anyExpr, anySources, (expr, known) => {
        const { facts, rest } = splitFacts(expr);
        const fact = (index: number) => thrown(evaluate(facts[index]!.expr, known));
        expect(evaluateRest(rest, fact)).toEqual(evaluate(expr, known));
      }),
      { numRuns: 2000 },
    );
  });

  test("a fact has exactly one source, and the rest none", () => {
    fc.assert(
      fc.property(anyExpr, (expr) => {
        const { facts, rest } = splitFacts(expr);
        for (const fact of facts) expect([...sourcesOf(fact.expr)]).toEqual([fact.source]);
        expect(new Set(facts.map((fact) => fact.source))).toEqual(sourcesOf(expr));
        expect(sourcesOf(rest).size).toBe(0);
      }),
    );
  });
});

describe("sourcesOf", () => {
  test("holds every source that evaluation asks for", () => {
    fc.assert(
      fc.property(anyExpr, anySources, (expr, known) => {
        const declared = sourcesOf(expr);
        evaluate(expr, (source) => {
          expect(declared).toContain(source);
          return known(source);
        });
      }),
    );
  });

  test("does not look into quoted constants", () => {
    expect(sourcesOf(hole("quote", ref("a"))).size).toBe(0);
  });
});
