import type { Run } from "../../lib/core/run.ts";

/** Bytes and maps as JSON can hold them: `{ "hex": "..." }` and `{ "map": [[key, value]] }`. */
export function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return { hex: Buffer.from(value).toString("hex") };
  if (value instanceof Map) return { map: [...value].map(toJson) };
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => (field === undefined ? [] : [[name, toJson(field)]])),
  );
}

export function fromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== "object" || value === null) return value;
  if ("hex" in value) return new Uint8Array(Buffer.from(String(value.hex), "hex"));
  if ("map" in value) return new Map(fromJson(value.map) as [unknown, unknown][]);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, fromJson(field)]));
}

type Stored = { readonly [name: string]: unknown };

/** What the file of golden records holds: what is stored, and what it means. */
export interface Golden {
  readonly rows: readonly { readonly name: string; readonly pk: string; readonly row: Stored; readonly run: Run }[];
  readonly tiny: readonly { readonly createdAtMs: number; readonly page: Uint8Array; readonly outputs: Run["tiny"] }[];
  readonly attempts: readonly { readonly record: Stored; readonly attempt: Stored }[];
  readonly signals: readonly { readonly text: string; readonly signal: Stored }[];
  readonly commands: readonly { readonly text: string; readonly command: Stored }[];
  readonly mailboxes: readonly { readonly record: Stored; readonly mailbox: Stored }[];
  readonly envelopes: readonly { readonly text: string; readonly envelope: Stored }[];
  readonly keys: { readonly [name: string]: string };
}
