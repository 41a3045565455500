import { Fault } from "../core/faults.ts";
import type { Check, Path, Write } from "../ports.ts";

/**
 * Throws the fault `refused` for a write that a store would call invalid, or that an emulator would not: every adapter asks here first.
 * That is an empty key or alternative, a changed key, paths that overlap, a comparison with what has no order, and a value that has no stored form.
 */
export function assertWrite(write: Write): void {
  if (write.key.pk === "" || write.key.sk === "") throw new Fault("refused", "A key is empty.");
  for (const check of write.when) assertCheck(check);
  if (write.kind === "put") assertStorable(write.fields, write.key.sk);
  if (write.kind !== "edit") return;
  assertDisjoint(write.edits.map((edit) => edit.path));
  for (const edit of write.edits) {
    if (edit.path[0] === "pk" || edit.path[0] === "sk") throw new Fault("refused", "A key cannot be changed.");
    if ("value" in edit) assertStorable(edit.value, edit.path.join("."));
    if ("values" in edit) assertStorable(edit.values, edit.path.join("."));
    if ("by" in edit) assertStorable(edit.by, edit.path.join("."));
  }
}

function assertCheck(check: Check): void {
  if (check.kind === "any") {
    if (check.of.length === 0 || check.of.some((checks) => checks.length === 0)) {
      throw new Fault("refused", "An alternative of a condition is empty.");
    }
    for (const checks of check.of) for (const one of checks) assertCheck(one);
  } else if (check.kind === "atMost" || check.kind === "under") {
    const { value } = check;
    if (typeof value === "number" || typeof value === "string" || value instanceof Uint8Array) return;
    throw new Fault("refused", `The condition on ${check.path.join(".")} compares with a value that has no order.`);
  }
}

function assertDisjoint(paths: readonly Path[]): void {
  for (const [index, path] of paths.entries()) {
    for (const other of paths.slice(index + 1)) {
      const fork = path.findIndex((part, at) => part !== other[at]);
      const isPrefix = fork === -1 || fork >= other.length;
      // a parent cannot be a map for one path and a list for another
      if (!isPrefix && typeof path[fork] === typeof other[fork]) continue;
      throw new Fault(
        "refused",
        `The paths ${path.join(".")} and ${other.join(".")} of one change overlap or conflict.`,
      );
    }
  }
}

/** Lacking on the wire: `undefined`, `null`, NaN, numbers that a double cannot hold exactly, and those nearer to zero than 1e-130. */
function assertStorable(value: unknown, where: string): void {
  if (typeof value === "string" || typeof value === "boolean" || value instanceof Uint8Array) return;
  if (typeof value === "number") {
    const magnitude = Math.abs(value);
    if (magnitude <= Number.MAX_SAFE_INTEGER && (magnitude >= 1e-130 || magnitude === 0)) return;
    throw new Fault("refused", `${where}: the number ${value} cannot be stored.`);
  }
  if (typeof value !== "object" || value === null) throw new Fault("refused", `${where}: ${value} cannot be stored.`);
  for (const [name, field] of Object.entries(value)) assertStorable(field, `${where}.${name}`);
}
