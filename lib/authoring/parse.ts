import type { StandardSchemaV1 } from "@standard-schema/spec";
import { Fault, type FaultCode } from "../core/faults.ts";
import type { Json } from "../core/json.ts";
import { NotJson, plain } from "./plain.ts";
import type { Schema } from "./schema.ts";

/** Complaints that one fault lists; the rest are counted. */
const issuesShown = 5;

/** The kept side of a value. Throws a `Fault` of this code that names the path of everything that does not fit. */
export async function parse(schema: Schema, value: unknown, path: string, code: FaultCode): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  const shown = result.issues.slice(0, issuesShown).map((issue) => `${path}${pathOf(issue)}: ${issue.message}`);
  const more = result.issues.length - shown.length;
  throw new Fault(code, `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}`);
}

/** The kept side, which must be JSON, as it is stored. */
export async function parseJson(schema: Schema, value: unknown, path: string, code: FaultCode): Promise<Json> {
  const kept = await parse(schema, value, path, code);
  try {
    return plain(kept, path);
  } catch (error) {
    if (error instanceof NotJson) throw new Fault(code, error.message);
    throw error;
  }
}

function pathOf({ path = [] }: StandardSchemaV1.Issue): string {
  const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
  return keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
}
