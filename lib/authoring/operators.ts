import { Fault } from "../core/faults.ts";
import type { Arg, Given, Resolved } from "./arg.ts";
import { currentBuild } from "./current-build.ts";
import { presenceOf } from "./field.ts";
import type { Condition } from "./flow-options.ts";
import { lower } from "./lower.ts";
import type { Ref, RefTo } from "./ref.ts";
import { referenceOf } from "./reference.ts";

type Maybe = null | undefined;
type Ordered = number | string;
/** `5` is compared with any number, `"a"` with any string. */
type Wide<T> = T extends number ? number : string;

/** Whether two values are equal, deeply. A missing value equals only a missing one; `eq(ref, null)` asks for `null`. */
export function eq<T>(left: RefTo<T>, right: Arg<Given<T>> | null): Ref<boolean> {
  return operation("eq", left, right);
}

/** The opposite of {@link eq}. */
export function ne<T>(left: RefTo<T>, right: Arg<Given<T>> | null): Ref<boolean> {
  return operation("ne", left, right);
}

/** Greater than: two numbers, or two strings by code unit (so ISO instants in UTC compare). Must be there: see `orElse`. */
export function gt<T extends Ordered>(left: RefTo<T>, right: Arg<Wide<T>>): Ref<boolean> {
  return operation("gt", left, right);
}

/** Greater than or equal: as {@link gt}. */
export function gte<T extends Ordered>(left: RefTo<T>, right: Arg<Wide<T>>): Ref<boolean> {
  return operation("gte", left, right);
}

/** Less than: as {@link gt}. */
export function lt<T extends Ordered>(left: RefTo<T>, right: Arg<Wide<T>>): Ref<boolean> {
  return operation("lt", left, right);
}

/** Less than or equal: as {@link gt}. */
export function lte<T extends Ordered>(left: RefTo<T>, right: Arg<Wide<T>>): Ref<boolean> {
  return operation("lte", left, right);
}

/** Whether all hold. What follows the first that does not is not looked at. */
export function and(...conditions: readonly [Condition, ...Condition[]]): Ref<boolean> {
  return operation("and", ...conditions);
}

/** Whether one holds. What follows the first that does is not looked at. */
export function or(...conditions: readonly [Condition, ...Condition[]]): Ref<boolean> {
  return operation("or", ...conditions);
}

/** Whether it does not hold. */
export function not(condition: Condition): Ref<boolean> {
  return operation("not", condition);
}

/** Whether a value is there: neither missing (skipped, left out) nor `null`. */
export function exists(value: RefTo<unknown>): Ref<boolean> {
  return operation("exists", value);
}

/** Whether a value equals an item of the list. */
export function isIn<T>(value: RefTo<T>, list: RefTo<readonly Given<T>[]> | readonly Arg<Given<T>>[]): Ref<boolean> {
  return operation("isIn", value, list);
}

/** The value, or `fallback` where it is missing or `null`: what `??` is for values. */
export function orElse<T, const F>(value: RefTo<T>, fallback: F): Ref<Either<NonNullable<T>, Resolved<F>>> {
  return operation("orElse", value, fallback);
}

/** A fallback that fits adds nothing to the type. */
type Either<T, F> = [F] extends [T] ? T : T | F;

/** The first that is there, neither missing nor `null`; if none is, the last. */
export function coalesce<const A extends readonly [unknown, ...unknown[]]>(...values: A): Ref<First<Resolved<A>>> {
  return operation("coalesce", ...values);
}

type First<A> = A extends readonly [...infer Init, infer Last] ? Exclude<Init[number], Maybe> | Last : never;

/** The value, promised to be there. Where it is not, the node that uses it fails with `missing-value`. */
export function must<T>(value: RefTo<T>): Ref<NonNullable<T>> {
  return operation("must", value);
}

/** How many items a list, characters a string or properties an object has. */
export function size(value: RefTo<string | readonly unknown[] | { readonly [name: string]: unknown }>): Ref<number> {
  return operation("size", value);
}

/** Text with values in it: ``text`Order ${order.id} was paid` ``. */
export function text(strings: TemplateStringsArray, ...values: readonly Arg<string | number | boolean>[]): Ref<string> {
  const parts = strings.flatMap((string, at) => (at < values.length ? [string, values[at]] : [string]));
  const told = parts.filter((part) => part !== "");
  return operation("text", ...(told.length > 0 ? told : [""]));
}

/** An item of a list by its index (below 0: from the end). */
export function at<T>(list: RefTo<readonly T[] | Maybe>, index: Arg<number>): Ref<T | undefined>;
/** A property by name: of a record, or one that a reference cannot have (`then`, `toJSON`). */
export function at<T extends object | Maybe, K extends keyof NonNullable<T> & string>(
  object: RefTo<T>,
  name: K,
): Ref<AtName<T, K>>;
export function at(value: RefTo<unknown>, key: unknown): Ref<never> {
  return operation("at", value, key);
}

type AtName<T, K extends keyof NonNullable<T>> =
  | NonNullable<T>[K]
  | (string extends keyof NonNullable<T> ? undefined : never)
  | (T extends Maybe ? undefined : never);

/** A reference to what an operator makes of its operands. */
function operation<T>(name: string, ...operands: readonly unknown[]): Ref<T> {
  const build = currentBuild();
  if (!build) throw new Fault("bad-definition", `${name} was called outside of a workflow function: call it inside`);
  const label = `${name}(${operands.map(labelOf).join(", ")})`;
  const lowered = operands.map((operand, at) => lower(operand, `operand ${at + 1} of ${label}`, build));
  return build.refer(name === "exists" ? presenceOf(lowered[0] ?? null) : { $: [name, ...lowered] }, label);
}

function labelOf(operand: unknown): string {
  const reference = referenceOf(operand);
  if (reference) return reference.label;
  return typeof operand === "object" && operand !== null
    ? "..."
    : typeof operand === "string"
      ? `"${operand}"`
      : String(operand);
}
