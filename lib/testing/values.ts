import type { Fields, Path, Value } from "../ports.ts";

/** A deep, frozen copy: nobody shares state through a store. Bytes cannot be frozen, so every reader gets its own. */
export function cloneValue<T extends Value>(value: T): T {
  if (value instanceof Uint8Array) return new Uint8Array(value) as Value as T;
  if (Array.isArray(value)) return Object.freeze(value.map(cloneValue)) as T;
  if (typeof value !== "object") return value;
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([name, field]) => [name, cloneValue(field)])),
  ) as T;
}

/** What a document path points at; `undefined` where it leads nowhere. */
export function valueAt(record: Fields, path: Path): Value | undefined {
  let value: Value | undefined = record;
  for (const part of path) {
    if (typeof value !== "object" || value instanceof Uint8Array) return undefined;
    if (Array.isArray(value)) value = typeof part === "number" ? value[part] : undefined;
    else value = typeof part === "string" && Object.hasOwn(value, part) ? (value as Fields)[part] : undefined;
  }
  return value;
}

/** Deep equality as `=` has it: of type and value; the order of a map's names does not matter. */
export function isEqual(a: Value | undefined, b: Value | undefined): boolean {
  if (a === undefined || b === undefined || typeof a !== "object" || typeof b !== "object") return a === b;
  if (a instanceof Uint8Array || b instanceof Uint8Array) {
    return a instanceof Uint8Array && b instanceof Uint8Array && compareBytes(a, b) === 0;
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isEqual(item, b[index]));
  }
  const [left, right] = [a as Fields, b as Fields];
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => isEqual(left[name], right[name]));
}

/**
 * Order of two values of one ordered type (numbers; strings and bytes by their bytes): negative, zero or positive. `undefined` if
 * the types differ or have no order: such a comparison is false, whichever way it is put.
 */
export function compareValues(a: Value | undefined, b: Value | undefined): number | undefined {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  return undefined;
}

/** `size()`: characters, bytes, or elements; `undefined` for what has no size (numbers, booleans). */
export function sizeOf(value: Value | undefined): number | undefined {
  if (typeof value === "string" || value instanceof Uint8Array || Array.isArray(value)) return value.length;
  return typeof value === "object" ? Object.keys(value).length : undefined;
}

/** The order of their UTF-8 bytes, which is that of code points: surrogates stand for those above all others. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (one !== other) return weightOf(one) - weightOf(other);
  }
  return a.length - b.length;
}

const weightOf = (unit: number) => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
