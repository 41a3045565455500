import type { Expr } from "./definition.ts";
import { Fault, type FaultData } from "./faults.ts";
import { canonicalText, isJsonObject, type Json } from "./json.ts";
import { operators, property } from "./operators.ts";

/** What an expression came to. `value` is `undefined` where there is none. */
export type Evaluated =
  | { readonly ok: true; readonly value: Json | undefined }
  | { readonly ok: false; readonly fault: FaultData };

/** `"$input"`, `"$item"`, `"$index"` or a node's name -> its value; `undefined` where there is none (skipped, missing). */
export type Sources = (source: string) => Json | undefined;

/** `{ "$": [form, ...operands] }`, taken apart. */
export interface Hole {
  readonly form: string;
  readonly operands: readonly Expr[];
}

/** The hole that an expression is, or `undefined` for a constant, a list or an object of expressions. */
export function holeOf(expr: Expr): Hole | undefined {
  if (!isJsonObject(expr)) return undefined;
  const { $: hole } = expr;
  if (!Array.isArray(hole)) return undefined;
  const [form, ...operands] = hole as readonly Json[];
  return typeof form === "string" ? { form, operands } : undefined;
}

/**
 * Evaluates an expression. Total: every expression that `validate` accepts has a value, no value, or a fault.
 *
 * | operator | value | faults |
 * |---|---|---|
 * | `ref source ...path` | what the path leads to: own properties, list items by index, a list's `length`. Anything missing on the way: no value | |
 * | `quote json` | the constant | |
 * | `eq a b`, `ne a b` | deep equality of JSON; no value equals only no value, `null` only `null` | |
 * | `gt gte lt lte a b` | order of two numbers, or of two strings by code unit | `not-comparable` for anything else, no value included |
 * | `and ...`, `or ...`, `not a` | of booleans, from left to right; what follows a `false` (a `true`) is not looked at | `not-comparable` for anything but a boolean |
 * | `exists a` | whether it is neither missing nor `null` | |
 * | `isIn a list` | whether it equals an item | `not-comparable` if the second is no list |
 * | `coalesce ...` | the first that exists; if none does, the last | |
 * | `orElse a b` | `a` if it exists, else `b` | |
 * | `must a` | `a` | `missing-value` if it does not exist |
 * | `size a` | count of a list's items, a string's UTF-16 units, an object's properties | `missing-value` for what does not exist, `not-comparable` for numbers and booleans |
 * | `text ...` | strings, numbers and booleans, joined | `missing-value` for what does not exist, `not-comparable` for lists and objects |
 * | `at a key` | a property by name, an item by index (below 0: from the end); no value if there is none | |
 * | `if condition then else?` | one of the two; without `else` no value | `not-comparable` for anything but a boolean |
 * | `case subject [[literal, then], ...] else?` | the first branch whose literal equals the subject | `no-case` if none does and there is no `else` |
 *
 * Lists and objects are evaluated item by item: a property without a value is left out, an item without one is `null`.
 * Operands are looked at only when needed, so a branch that is not taken cannot fault.
 */
export function evaluate(expr: Expr, sources: Sources): Evaluated {
  return outcome(() => value(expr, { sources, fact: () => undefined }));
}

/** Every source that the expression reads, in any branch. */
export function sourcesOf(expr: Expr): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (each: Expr) => {
    const hole = holeOf(each);
    if (hole?.form === "ref") found.add(hole.operands[0] as string);
    else for (const part of partsOf(each)) visit(part);
  };
  visit(expr);
  return found;
}

/** A condition in two parts: what whoever holds one output can compute, and what is decided over those values. */
export interface Split {
  readonly facts: readonly { readonly source: string; readonly expr: Expr }[];
  readonly rest: Expr;
}

/**
 * Splits a condition into facts (largest sub-expressions with exactly one source) and what is left, in which
 * `{ "$": ["fact", i] }` stands for fact i of the list. Equal facts are one. So control flow never needs an output, only what
 * it asks of it: `gt(order.totalCents, 100000)` is one boolean.
 */
export function splitFacts(expr: Expr): Split {
  const facts: { source: string; expr: Expr }[] = [];
  const known = new Map<string, number>();
  const split = (each: Expr): Expr => {
    const [source, ...others] = sourcesOf(each);
    if (source === undefined) return each;
    if (others.length > 0) return mapParts(each, split);
    const text = canonicalText(each);
    const index = known.get(text) ?? facts.push({ source, expr: each }) - 1;
    known.set(text, index);
    return { $: ["fact", index] };
  };
  const rest = split(expr);
  return { facts, rest };
}

/**
 * Evaluates what `splitFacts` left over the facts' values: the same as evaluating the whole. `fact` may throw a `Fault` for a
 * fact that had one; it counts only if that fact is needed.
 */
export function evaluateRest(rest: Expr, fact: (index: number) => Json | undefined): Evaluated {
  return outcome(() => value(rest, { sources: () => undefined, fact }));
}

/** The expressions directly inside: operands, branches, items, properties. None in a `ref`, a `quote` or a `fact`. */
export function partsOf(expr: Expr): readonly Expr[] {
  const parts: Expr[] = [];
  mapParts(expr, (part) => {
    parts.push(part);
    return part;
  });
  return parts;
}

/** The same expression with the expressions directly inside replaced. */
function mapParts(expr: Expr, replace: (part: Expr) => Expr): Expr {
  const hole = holeOf(expr);
  if (hole?.form === "ref" || hole?.form === "quote" || hole?.form === "fact") return expr;
  if (hole?.form === "case") {
    const [subject, arms, ...otherwise] = hole.operands as readonly [Expr, readonly (readonly [Json, Expr])[]];
    const replaced = arms.map(([literal, then]) => [literal, replace(then)]);
    return { $: ["case", replace(subject), replaced, ...(otherwise as readonly Expr[]).map(replace)] };
  }
  if (hole) return { $: [hole.form, ...hole.operands.map(replace)] };
  if (Array.isArray(expr)) return (expr as readonly Expr[]).map(replace);
  if (isJsonObject(expr)) return Object.fromEntries(Object.entries(expr).map(([name, part]) => [name, replace(part)]));
  return expr;
}

interface Known {
  readonly sources: Sources;
  readonly fact: (index: number) => Json | undefined;
}

function value(expr: Expr, known: Known): Json | undefined {
  const hole = holeOf(expr);
  if (hole) return holeValue(hole, known);
  if (Array.isArray(expr)) return (expr as readonly Expr[]).map((item) => value(item, known) ?? null);
  if (!isJsonObject(expr)) return expr;
  const fields = Object.entries(expr).map(([name, part]) => [name, value(part, known)] as const);
  return Object.fromEntries(fields.filter((field): field is [string, Json] => field[1] !== undefined));
}

function holeValue({ form, operands }: Hole, known: Known): Json | undefined {
  const [first, ...path] = operands as readonly [string, ...(readonly (string | number)[])];
  if (form === "quote") return first;
  if (form === "fact") return known.fact(Number(first));
  if (form === "ref") return path.reduce<Json | undefined>(property, known.sources(first));
  const operator = Object.hasOwn(operators, form) ? operators[form] : undefined;
  if (!operator) throw new Fault("bad-definition", `unknown operator ${form}`);
  return operator.apply(operands, (operand) => value(operand, known));
}

function outcome(compute: () => Json | undefined): Evaluated {
  try {
    return { ok: true, value: compute() };
  } catch (error) {
    if (Fault.is(error)) return { ok: false, fault: error.data };
    throw error;
  }
}
