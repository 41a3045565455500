import type { Check, Edit, Path, Value } from "../ports.ts";

/** Placeholders of one request. Every name is one: nothing can then be a reserved word. */
export interface Placeholders {
  path(path: Path): string;
  value(value: Value): string;
  /** The maps that go with the expressions; left out where empty, as the service refuses empty ones. */
  maps(): {
    readonly ExpressionAttributeNames?: Record<string, string>;
    readonly ExpressionAttributeValues?: Record<string, Value>;
  };
}

export function createPlaceholders(): Placeholders {
  const names = new Map<string, string>();
  const values: Value[] = [];
  const nameOf = (name: string): string => {
    const known = names.get(name) ?? `#n${names.size}`;
    names.set(name, known);
    return known;
  };
  return {
    path: ([first, ...rest]) =>
      rest.reduce<string>(
        (text, part) => (typeof part === "number" ? `${text}[${part}]` : `${text}.${nameOf(part)}`),
        nameOf(first),
      ),
    value: (value) => `:v${values.push(value) - 1}`,
    maps: () => ({
      ...(names.size > 0 && {
        ExpressionAttributeNames: Object.fromEntries([...names].map(([name, placeholder]) => [placeholder, name])),
      }),
      ...(values.length > 0 && {
        ExpressionAttributeValues: Object.fromEntries(values.map((value, index) => [`:v${index}`, value])),
      }),
    }),
  };
}

/** A condition expression; `undefined` for no condition. */
export function conditionOf(checks: readonly Check[], to: Placeholders): string | undefined {
  return checks.length === 0 ? undefined : checks.map((check) => checkOf(check, to)).join(" AND ");
}

function checkOf(check: Check, to: Placeholders): string {
  switch (check.kind) {
    case "absent":
      return `attribute_not_exists(${to.path(check.path)})`;
    case "exists":
      return `attribute_exists(${to.path(check.path)})`;
    case "equals":
      return `${to.path(check.path)} = ${to.value(check.value)}`;
    case "atMost":
      return `${to.path(check.path)} <= ${to.value(check.value)}`;
    case "under":
      return `${to.path(check.path)} < ${to.value(check.value)}`;
    case "sized":
      return `size(${to.path(check.path)}) ${check.is === "equals" ? "=" : "<"} ${to.value(check.count)}`;
    case "any":
      return `(${check.of.map((checks) => `(${conditionOf(checks, to)})`).join(" OR ")})`;
  }
}

/**
 * An update expression; `undefined` for no change. Sets go up a list and removals come down it: the order means nothing to DynamoDB, and
 * everything to emulators that apply one after the other.
 */
export function updateOf(edits: readonly Edit[], to: Placeholders): string | undefined {
  const byLast = (a: Edit, b: Edit): number => Number(a.path.at(-1)) - Number(b.path.at(-1)) || 0;
  const sets = edits.filter((edit) => edit.kind !== "remove").sort(byLast);
  const removals = edits.filter((edit) => edit.kind === "remove").sort((a, b) => byLast(b, a));
  const parts = [
    ...(sets.length > 0 ? [`SET ${sets.map((edit) => setOf(edit, to)).join(", ")}`] : []),
    ...(removals.length > 0 ? [`REMOVE ${removals.map(({ path }) => to.path(path)).join(", ")}`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(" ");
}

function setOf(edit: Exclude<Edit, { kind: "remove" }>, to: Placeholders): string {
  const path = to.path(edit.path);
  switch (edit.kind) {
    case "set":
      return `${path} = ${to.value(edit.value)}`;
    case "setIfAbsent":
      return `${path} = if_not_exists(${path}, ${to.value(edit.value)})`;
    case "add":
      return `${path} = ${path} + ${to.value(edit.by)}`;
    case "copy":
      return `${path} = ${to.path(edit.from)}`;
    case "append":
      return `${path} = list_append(${path}, ${to.value(edit.values)})`;
  }
}
