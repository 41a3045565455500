import type { Expr } from "../core/definition.ts";
import { holeOf, sourcesOf } from "../core/expression.ts";
import { isJsonObject } from "../core/json.ts";

/** An expression that has no value. */
export const nothing: Expr = { $: ["at", null, ""] };

type Rival = readonly [label: string, expr: Expr];

/**
 * The expression for one field of an expression. It is pushed down to where the field comes from: a dependent then waits for, and
 * a condition then asks, no more than it needs.
 */
export function fieldOf(expr: Expr, name: string): Expr {
  const hole = holeOf(expr);
  if (hole) return fieldOfHole(expr, hole.form, hole.operands, name);
  if (Array.isArray(expr))
    return name === "length" ? expr.length : ((expr as readonly Expr[])[Number(name)] ?? nothing);
  return isJsonObject(expr) && Object.hasOwn(expr, name) ? (expr[name] as Expr) : nothing;
}

function fieldOfHole(expr: Expr, form: string, operands: readonly Expr[], name: string): Expr {
  const field = (part: Expr) => fieldOf(part, name);
  const [first, second, ...others] = operands as readonly [Expr, Expr, ...Expr[]];
  if (form === "ref") return { $: ["ref", ...operands, name] };
  if (form === "if") return { $: ["if", first, field(second), ...others.map(field)] };
  if (form === "case") {
    const arms = (second as readonly (readonly [Expr, Expr])[]).map(([literal, then]): Expr => [literal, field(then)]);
    return { $: ["case", first, arms, ...others.map(field)] };
  }
  if (isMixed(expr) && (form === "coalesce" || form === "orElse")) {
    const last = field(operands.at(-1) as Expr);
    return operands
      .slice(0, -1)
      .reduceRight<Expr>((rest, part) => ({ $: ["if", presenceOf(part), field(part), rest] }), last);
  }
  if (isMixed(expr) && form === "must") return { $: ["if", presenceOf(first), field(first), { $: ["must", nothing] }] };
  if (form === "first" && name === "winner") return winnerOf(operands as unknown as readonly Rival[]);
  if (form === "first" && name === "value") {
    const [only, ...rivals] = operands as unknown as readonly [Rival, ...Rival[]];
    return rivals.length === 0 ? only[1] : { $: ["at", expr, "value"] };
  }
  const won = form === "at" && second === "value" ? holeOf(first) : undefined;
  if (won?.form === "first") {
    const rivals = (won.operands as unknown as readonly Rival[]).map(([label, rival]): Expr => [label, field(rival)]);
    return { $: ["at", { $: ["first", ...rivals] }, "value"] };
  }
  return { $: ["at", expr, name] };
}

/** Whether it reads more than one source: a condition would have to hold whole outputs to tell which of them is there. */
const isMixed = (expr: Expr) => sourcesOf(expr).size > 1;

/** Who won, asking of each rival only whether it has an output: a condition needs no more. */
function winnerOf(rivals: readonly Rival[]): Expr {
  const asked = rivals.map(([label, rival]): Expr => [label, { $: ["if", { $: ["ne", rival, nothing] }, true] }]);
  return { $: ["at", { $: ["first", ...asked] }, "winner"] };
}

/**
 * Whether an expression's value exists, neither missing nor `null`. Pushed down as well, as a condition may ask whether a big output
 * is there, but could not hold it.
 */
export function presenceOf(expr: Expr): Expr {
  const hole = holeOf(expr);
  if (!hole) return expr !== null;
  const [first, second, ...others] = hole.operands as readonly [Expr, Expr, ...Expr[]];
  if (hole.form === "if")
    return { $: ["if", first, presenceOf(second), ...(others.length > 0 ? others : [nothing]).map(presenceOf)] };
  if (hole.form === "case") {
    const arms = (second as readonly (readonly [Expr, Expr])[]).map(
      ([literal, then]): Expr => [literal, presenceOf(then)],
    );
    return { $: ["case", first, arms, ...others.map(presenceOf)] };
  }
  if (isMixed(expr) && (hole.form === "coalesce" || hole.form === "orElse"))
    return { $: ["or", ...hole.operands.map(presenceOf)] };
  if (hole.form === "first") return { $: ["exists", winnerOf(hole.operands as unknown as readonly Rival[])] };
  return { $: ["exists", expr] };
}
