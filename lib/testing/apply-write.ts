import { Fault } from "../core/faults.ts";
import { itemBytes, itemBytesMax } from "../ports/item-size.ts";
import type { Fields, Write } from "../ports.ts";
import { isHolding } from "./checks.ts";
import { applyEdits } from "./edits.ts";
import { cloneValue } from "./values.ts";

/** What a statement makes of a record: what is there now, or that its condition did not hold. */
export type AppliedWrite =
  | { readonly kind: "applied"; readonly fields: Fields | undefined }
  | { readonly kind: "refused"; readonly now: Fields }
  | { readonly kind: "absent" };

/**
 * One conditional statement on one record, as DynamoDB carries it out, and nothing else: no hooks, no time, no index. What it gives is
 * frozen and shared with nobody. Throws the faults `refused` and `row-too-big`.
 */
export function applyWrite(write: Write, before: Fields | undefined): AppliedWrite {
  const isMet = isHolding(write.when, before && { ...before, pk: write.key.pk, sk: write.key.sk });
  if (!isMet || (write.kind === "edit" && before === undefined))
    return before === undefined ? { kind: "absent" } : { kind: "refused", now: before };
  return { kind: "applied", fields: after(write, before) };
}

function after(write: Write, before: Fields | undefined): Fields | undefined {
  if (write.kind === "delete") return undefined;
  const fields = cloneValue(write.kind === "put" ? write.fields : applyEdits(before ?? {}, write.edits));
  if (itemBytes({ ...fields, pk: write.key.pk, sk: write.key.sk }) > itemBytesMax) {
    throw new Fault("row-too-big", `The record ${write.key.sk} would be larger than ${itemBytesMax} bytes.`);
  }
  for (const [name, type] of Object.entries({ q: "string", d: "number", p: "string", o: "number" })) {
    const value = fields[name];
    if (value !== undefined && (typeof value !== type || value === "")) {
      throw new Fault("refused", `The attribute ${name} is a key of an index and must be a ${type}.`);
    }
  }
  return fields;
}
