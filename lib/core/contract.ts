import type { Definition } from "./definition.ts";
import type { Json } from "./json.ts";

/**
 * What can be known of a schema from outside: its JSON Schema, where its library gives one (zod and arktype do); a digest of the
 * schema object itself (valibot's are plain data; functions in it, such as checks and transforms, are not seen); or nothing.
 */
export type SchemaMark =
  | { readonly known: "json-schema"; readonly digest: string; readonly schema: Json }
  | { readonly known: "structure"; readonly digest: string }
  | { readonly known: "nothing"; readonly library: string };

/** What a step takes and yields. Recorded beside definitions and outside their hash: a new schema is no new graph. */
export interface Contract {
  readonly input: SchemaMark;
  /** Absent: it yields nothing. */
  readonly output?: SchemaMark;
}

/** Contracts by handler, `name@version`. */
export type Contracts = { readonly [handler: string]: Contract };

/** A build's definitions and contracts, as `definitions.json` has them. */
export interface Definitions {
  readonly format: 1;
  readonly workflows: { readonly [name: string]: { readonly hash: string; readonly definition: Definition } };
  readonly steps: Contracts;
  /** Signals that are kept for runs in flight, beside those that its workflows wait for. */
  readonly signals?: readonly string[];
}

/** Whether a schema is still the same, as far as can be known. */
export function compareMarks(
  before: SchemaMark | undefined,
  now: SchemaMark | undefined,
): "same" | "changed" | "unknown" {
  if (!before && !now) return "same";
  if (!before || !now) return "changed";
  if (before.known === "nothing" || now.known === "nothing" || before.known !== now.known) return "unknown";
  return before.digest === now.digest ? "same" : "changed";
}
