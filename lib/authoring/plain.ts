import type { Json } from "../core/json.ts";

/** Deeper than this is a cycle, or nobody's data. */
const depthMax = 200;

/** What is wrong with a value that should be JSON: the path, and what is there. */
export class NotJson extends Error {}

/**
 * The value as JSON: properties that are `undefined` left out, everything else as it is. Throws {@link NotJson} naming the path
 * of the first thing that JSON lacks: `output.lines[2].at is a Date`.
 */
export function plain(value: unknown, path: string, depth = 0): Json {
  if (isPlainScalar(value)) return value;
  const lack = lackOf(value);
  if (lack !== undefined) throw new NotJson(`${path} is ${lack}`);
  if (depth > depthMax) throw new NotJson(`${path} is nested deeper than ${depthMax} levels, or holds itself`);
  if (Array.isArray(value)) return Array.from(value, (item, index) => plain(item, `${path}[${index}]`, depth + 1));
  const fields = Object.entries(value as object).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field, `${path}.${name}`, depth + 1)]));
}

/** `null`, a boolean, a string or a finite number. */
export function isPlainScalar(value: unknown): value is null | boolean | string | number {
  return value === null || typeof value === "boolean" || typeof value === "string" || Number.isFinite(value);
}

/** What a value is that JSON lacks, and what to use instead; `undefined` for lists and plain objects. */
export function lackOf(value: unknown): string | undefined {
  if (value === undefined) return "undefined, which JSON lacks: use null, or leave the property out";
  if (typeof value === "number") return `${value}, which JSON lacks: use null`;
  if (typeof value === "bigint") return "a bigint, which JSON lacks: use a string";
  if (typeof value !== "object" || value === null) return `a ${typeof value}, which JSON lacks`;
  if (value instanceof Date) return "a Date, which JSON lacks: use an ISO string or a number";
  if (value instanceof Promise) return "a promise, which JSON lacks: await it";
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  const name = (value.constructor as { readonly name?: string } | undefined)?.name;
  return `an instance of ${name || "a class"}, which JSON lacks: use a plain object`;
}
