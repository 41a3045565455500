import type { Fields, Key, Value } from "../ports.ts";
import { tableKeys } from "./names.ts";

/** A value in wire form: one of these is there. */
type Raw = {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly B?: Uint8Array;
  readonly L?: readonly Raw[];
  readonly M?: { readonly [name: string]: Raw };
};

/**
 * A record from an item that a failed condition returned. The document client leaves such items in wire form (`{"N":"7"}`), where
 * answers come as plain values; both are taken, as a later version may mend it.
 */
export function fieldsOfReturned(item: Readonly<Record<string, unknown>>): Fields {
  const isRaw = typeof item[tableKeys.partition] === "object";
  return withoutKeys(isRaw ? plainMap(item) : (item as Fields));
}

/** A record as callers know it: without its key, bytes as plain `Uint8Array`. */
export function withoutKeys(item: Readonly<Record<string, unknown>>): Fields {
  const { [tableKeys.partition]: _partition, [tableKeys.sort]: _sort, ...fields } = item;
  return normal(fields as Fields) as Fields;
}

/** A record with its key, as `list` gives it. */
export function withKeys(item: Readonly<Record<string, unknown>>): Fields & Key {
  return normal(item as Fields) as Fields & Key;
}

/** The SDK gives Node's buffers, whose `slice` shares memory and which no test finds equal to a `Uint8Array`. */
function normal(value: Value): Value {
  if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, normal(field)]));
}

function plain({ S: text, N: number, BOOL: isTrue, B: bytes, L: list, M: map }: Raw): Value {
  const value = text ?? isTrue ?? bytes ?? (list?.map(plain) as Value | undefined);
  if (value !== undefined) return value;
  if (number !== undefined) return Number(number);
  if (map !== undefined) return plainMap(map);
  throw new TypeError("An attribute is of a type that this program never writes.");
}

function plainMap(map: Readonly<Record<string, unknown>>): Fields {
  return Object.fromEntries(Object.entries(map).map(([name, raw]) => [name, plain(raw as Raw)]));
}
