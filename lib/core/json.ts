/** What JSON can carry. Everything that Tickwright stores of a user's data is this. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A plain object of {@link Json}: what an expression can look into by name. */
export type JsonObject = { readonly [name: string]: Json };

/** Tells an object apart from arrays and scalars. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Canonical text of a JSON value: keys sorted by code unit, `undefined` properties dropped, no white space. Equal values give
 * equal text, so a hash of it is an address. Throws a TypeError for what JSON lacks (functions, bigint, NaN, cycles are the
 * caller's to exclude).
 */
export function canonicalText(value: unknown): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is not JSON`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item ?? null)).join(",")}]`;
  if (typeof value !== "object") throw new TypeError(`a ${typeof value} is not JSON`);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalText(field)}`).join(",")}}`;
}

/** Deep equality of two JSON values; the order of keys means nothing. `undefined` equals `undefined` only. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => sameJson(item, b[at]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]));
}
