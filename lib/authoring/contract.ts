import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import type { Contract, SchemaMark } from "../core/contract.ts";
import type { Json } from "../core/json.ts";
import { digest } from "../digest.ts";
import type { Work } from "./callee.ts";
import { inside } from "./inside.ts";
import type { Schema } from "./schema.ts";

/** What a step takes and yields, as far as the schemas' libraries tell: the sides that the workflow sees. */
export function contractOf(work: Work): Contract {
  const { input, output } = work[inside];
  return { input: markOf(input, "input"), ...(output && { output: markOf(output, "output") }) };
}

function markOf(schema: Schema, side: "input" | "output"): SchemaMark {
  const { vendor } = schema["~standard"];
  const jsonSchema = jsonSchemaOf(schema, side);
  if (jsonSchema !== undefined) return { known: "json-schema", digest: digest(jsonSchema), schema: jsonSchema };
  const structure = vendor === "valibot" ? structureOf(schema) : undefined;
  return structure === undefined
    ? { known: "nothing", library: vendor }
    : { known: "structure", digest: digest(structure) };
}

function jsonSchemaOf(schema: Schema, side: "input" | "output"): Json | undefined {
  const { jsonSchema } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>;
  try {
    const { $schema: _, ...rest } = jsonSchema?.[side]({ target: "draft-2020-12" }) ?? {};
    return jsonSchema === undefined ? undefined : plain(rest);
  } catch {
    // a transform, say, has no JSON Schema on its far side
    return undefined;
  }
}

/** A valibot schema without its functions, which do not last from build to build, and without its texts for people. */
function structureOf(schema: Schema): Json | undefined {
  try {
    return plain(schema);
  } catch {
    return undefined;
  }
}

const unseen = new Set(["~standard", "~run", "message", "expects", "reference"]);

function plain(value: unknown): Json {
  const text = JSON.stringify(value, (name, field: unknown) => {
    if (unseen.has(name)) return undefined;
    if (field instanceof RegExp || typeof field === "bigint") return String(field);
    return field instanceof Set || field instanceof Map ? [...field] : field;
  });
  return JSON.parse(text) as Json;
}
