import type { Expr } from "./definition.ts";
import { Fault } from "./faults.ts";
import { isJsonObject, type Json, sameJson } from "./json.ts";

/** What an operand comes to. `undefined`: there is no value, and that is not an error by itself. */
export type Value = Json | undefined;

/** How an operator asks for an operand: only when it needs it, so that a branch not taken cannot fault. */
export type Evaluate = (operand: Expr) => Value;

/** An operator of format 1: how many operands it takes, and what it makes of them. It may throw a `Fault`, nothing else. */
export interface Operator {
  readonly least: number;
  readonly most: number;
  apply(operands: readonly Expr[], evaluate: Evaluate): Value;
}

/**
 * One property of a value: own properties of objects, items of lists by their index, and a list's `length`. Whatever else is
 * asked for, there is no value.
 */
export function property(value: Value, name: string | number): Value {
  if (Array.isArray(value)) {
    if (name === "length") return value.length;
    return /^(0|[1-9][0-9]*)$/.test(String(name)) ? value[Number(name)] : undefined;
  }
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const kindOf = (value: Value): string => {
  if (value === undefined) return "no value";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
};

const isPresent = (value: Value): value is Exclude<Json, null> => value !== undefined && value !== null;

function boolean(operator: string, value: Value): boolean {
  if (typeof value === "boolean") return value;
  throw new Fault("not-comparable", `${operator} takes true or false, and got ${kindOf(value)}`);
}

function ordering(name: string, holds: (sign: number) => boolean): Operator {
  return binary((a, b) => {
    const isOrdered =
      (typeof a === "number" && typeof b === "number") || (typeof a === "string" && typeof b === "string");
    if (!isOrdered) {
      throw new Fault(
        "not-comparable",
        `${name} compares two numbers or two strings, and got ${kindOf(a)} and ${kindOf(b)}`,
      );
    }
    return holds(a < b ? -1 : a > b ? 1 : 0);
  });
}

const unary = (apply: (value: Value) => Value): Operator => ({
  least: 1,
  most: 1,
  apply: ([only], evaluate) => apply(evaluate(only as Expr)),
});

const binary = (apply: (a: Value, b: Value) => Value): Operator => ({
  least: 2,
  most: 2,
  apply: ([a, b], evaluate) => apply(evaluate(a as Expr), evaluate(b as Expr)),
});

const firstPresent = (operands: readonly Expr[], evaluate: Evaluate): Value => {
  let value: Value;
  for (const operand of operands) {
    value = evaluate(operand);
    if (isPresent(value)) break;
  }
  return value;
};

function size(value: Value): number {
  if (Array.isArray(value) || typeof value === "string") return value.length;
  if (isJsonObject(value)) return Object.keys(value).length;
  const code = isPresent(value) ? "not-comparable" : "missing-value";
  throw new Fault(code, `size counts a list, a string or an object, and got ${kindOf(value)}`);
}

function piece(value: Value): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  const code = isPresent(value) ? "not-comparable" : "missing-value";
  throw new Fault(code, `text joins strings, numbers and booleans, and got ${kindOf(value)}`);
}

function item(value: Value, key: Value): Value {
  if (typeof key !== "string" && typeof key !== "number") return undefined;
  if (Array.isArray(value) && typeof key === "number" && key < 0) return property(value, value.length + key);
  return property(value, key);
}

const many = Number.POSITIVE_INFINITY;

/** The operators, by name. `ref`, `quote` and `fact` are forms, not operators: `expression.ts` has them, and the semantics. */
export const operators: { readonly [name: string]: Operator } = {
  eq: binary(sameJson),
  ne: binary((a, b) => !sameJson(a, b)),
  gt: ordering("gt", (sign) => sign > 0),
  gte: ordering("gte", (sign) => sign >= 0),
  lt: ordering("lt", (sign) => sign < 0),
  lte: ordering("lte", (sign) => sign <= 0),
  and: { least: 1, most: many, apply: (all, evaluate) => all.every((one) => boolean("and", evaluate(one))) },
  or: { least: 1, most: many, apply: (all, evaluate) => all.some((one) => boolean("or", evaluate(one))) },
  not: unary((value) => !boolean("not", value)),
  exists: unary(isPresent),
  isIn: binary((value, list) => {
    if (Array.isArray(list)) return list.some((one) => sameJson(value, one));
    throw new Fault("not-comparable", `isIn looks into a list, and got ${kindOf(list)}`);
  }),
  coalesce: { least: 1, most: many, apply: firstPresent },
  orElse: { least: 2, most: 2, apply: firstPresent },
  must: unary((value) => {
    if (isPresent(value)) return value;
    throw new Fault("missing-value", `must got ${kindOf(value)}: what it guards was skipped, left out or null`);
  }),
  size: unary(size),
  text: {
    least: 1,
    most: many,
    apply: (parts, evaluate) => parts.map((part) => piece(evaluate(part))).join(""),
  },
  at: binary(item),
  if: {
    least: 2,
    most: 3,
    apply: ([condition, then, otherwise], evaluate) => {
      if (boolean("if", evaluate(condition as Expr))) return evaluate(then as Expr);
      return otherwise === undefined ? undefined : evaluate(otherwise);
    },
  },
  // behind "first": which of several has something, and what
  first: {
    least: 1,
    most: many,
    apply: (rivals, evaluate) => {
      for (const rival of rivals) {
        const [winner, expr] = rival as readonly [string, Expr];
        const value = evaluate(expr);
        if (value !== undefined) return { winner, value };
      }
      return undefined;
    },
  },
  case: {
    least: 2,
    most: 3,
    apply: ([subject, arms, otherwise], evaluate) => {
      const value = evaluate(subject as Expr);
      const arm = (arms as readonly (readonly [Json, Expr])[]).find(([literal]) => sameJson(literal, value));
      if (arm) return evaluate(arm[1]);
      if (otherwise !== undefined) return evaluate(otherwise);
      throw new Fault("no-case", `no case for ${JSON.stringify(value) ?? "a missing value"}`);
    },
  },
};
