import { Fault } from "../core/faults.ts";
import type { Edit, Fields, Path, Value } from "../ports.ts";
import { valueAt } from "./values.ts";

type Loose = string | number | boolean | Uint8Array | Loose[] | { [name: string]: Loose };

/**
 * The record after a change, as DynamoDB's update expressions have it: right sides and list indexes mean the record as it was,
 * a set past a list's end appends, a removal past it is silently accepted. Throws the fault `refused` for a
 * parent that is missing or of another type, and for a right side that is missing or of another type. Paths do not overlap.
 */
export function applyEdits(record: Fields, edits: readonly Edit[]): Fields {
  const values = edits.map((edit) => rightSide(record, edit));
  const next = thaw(record) as { [name: string]: Loose };
  const order = edits.map((edit, index) => ({ path: edit.path, value: values[index] }));
  // sets go up a list (those past its end append in order), removals come down it (an index means the list as it was)
  const sets = order.filter((edit) => edit.value !== undefined).sort((a, b) => compareLast(a.path, b.path));
  const removals = order.filter((edit) => edit.value === undefined).sort((a, b) => compareLast(b.path, a.path));
  for (const { path, value } of [...sets, ...removals]) change(next, path, value);
  return next;
}

function rightSide(record: Fields, edit: Edit): Value | undefined {
  switch (edit.kind) {
    case "set":
      return edit.value;
    case "setIfAbsent":
      return valueAt(record, edit.path) ?? edit.value;
    case "add": {
      const value = valueAt(record, edit.path);
      if (typeof value !== "number") throw invalid(edit.path, "is no number to add to");
      return value + edit.by;
    }
    case "copy": {
      const value = valueAt(record, edit.from);
      if (value === undefined) throw invalid(edit.from, "is not there to be copied");
      return value;
    }
    case "append": {
      const value = valueAt(record, edit.path);
      if (!Array.isArray(value)) throw invalid(edit.path, "is no list to append to");
      return [...value, ...edit.values];
    }
    case "remove":
      return undefined;
  }
}

function change(record: { [name: string]: Loose }, path: Path, value: Value | undefined): void {
  let parent: Loose | undefined = record;
  for (const part of path.slice(0, -1)) parent = child(parent, part);
  const last = path[path.length - 1];
  if (Array.isArray(parent) && typeof last === "number") {
    if (value === undefined) parent.splice(last, 1);
    else parent[Math.min(last, parent.length)] = thaw(value);
  } else if (isMap(parent) && typeof last === "string") {
    if (value === undefined) delete parent[last];
    else parent[last] = thaw(value);
  } else {
    throw invalid(path, "has no parent of that kind");
  }
}

function child(parent: Loose | undefined, part: string | number): Loose | undefined {
  if (Array.isArray(parent)) return typeof part === "number" ? parent[part] : undefined;
  return isMap(parent) && typeof part === "string" && Object.hasOwn(parent, part) ? parent[part] : undefined;
}

function isMap(value: Loose | undefined): value is { [name: string]: Loose } {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Uint8Array);
}

function thaw(value: Value): Loose {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(thaw);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, thaw(field)]));
}

function compareLast(a: Path, b: Path): number {
  return Number(a[a.length - 1]) - Number(b[b.length - 1]) || 0;
}

function invalid(path: Path, what: string): Fault {
  return new Fault("refused", `The path ${path.join(".")} ${what}.`);
}
