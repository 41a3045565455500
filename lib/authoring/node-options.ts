import type { Expr } from "../core/definition.ts";
import { sourcesOf } from "../core/expression.ts";
import type { Build } from "./build.ts";
import { type Duration, durationMend, durationMs } from "./duration.ts";
import { lower } from "./lower.ts";
import { referenceOf } from "./reference.ts";

/** Options as they come from plain JavaScript: anything. */
export type Given = { readonly [option: string]: unknown };

/** What every kind of node has in common. */
export interface CommonFields {
  readonly name: string;
  readonly after?: readonly string[];
  readonly when?: Expr;
  readonly onFailure?: "continue";
}

const commonOptions = ["name", "when", "after", "onFailure"];

/** The name of the node: given or `otherwise`. A name that is taken is a fault, and gets a stand-in so that the build goes on. */
export function nameOf(build: Build, options: Given, otherwise: string): string {
  const { name: own = otherwise } = options;
  if (typeof own !== "string") build.fault(`the name of a node is a string: it was ${typeof own}`);
  const name = `${build.prefix}${typeof own === "string" ? own : otherwise}`;
  const isTaken = (tried: string) => build.nodes.some((node) => node.name === tried);
  if (!isTaken(name)) return name;
  build.fault(
    `two nodes are called "${name}": give one of them a name of its own, { name: "..." }, or put it into flow.scope`,
  );
  let copy = 2;
  while (isTaken(`${name}.${copy}`)) copy += 1;
  return `${name}.${copy}`;
}

/** Lowers the options that every node takes, and refuses those that `others` and they do not have. */
export function commonFields(build: Build, name: string, options: Given, others: readonly string[]): CommonFields {
  const known = [...commonOptions, ...others];
  for (const option of Object.keys(options)) {
    if (!known.includes(option)) build.fault(`${name}: there is no option "${option}": use ${known.join(", ")}`);
  }
  const { when, after, onFailure } = options;
  if (onFailure !== undefined && onFailure !== "fail" && onFailure !== "continue") {
    build.fault(`${name}: onFailure is "fail" or "continue"`);
  }
  return {
    name,
    ...(after !== undefined && { after: afterOf(build, name, after) }),
    ...(when !== undefined && { when: lower(when, `${name}: when`, build) }),
    ...(onFailure === "continue" && { onFailure }),
  };
}

function afterOf(build: Build, name: string, after: unknown): readonly string[] {
  if (!Array.isArray(after)) {
    build.fault(`${name}: after is a list of what nodes yield: [paid, approved]`);
    return [];
  }
  const sources = after.flatMap((waited: unknown, at) => {
    const path = `${name}: after[${at}]`;
    const reference = referenceOf(waited);
    if (!reference) build.fault(`${path} is no reference: name what a node yields`);
    const read = build.withoutNotes(() => sourcesOf(lower(waited, path, build)));
    const nodes = [...read, ...(reference?.waits ?? [])].filter((source) => !source.startsWith("$"));
    if (reference && nodes.length === 0) build.fault(`${path} is known from the start: name what a node yields`);
    return nodes;
  });
  return [...new Set(sources)];
}

/** The milliseconds of an option that is a duration, or nothing. */
export function spanField<K extends string>(
  build: Build,
  path: string,
  field: K,
  duration: unknown,
): { readonly [name in K]?: number } {
  if (duration === undefined) return {};
  const ms = durationMs(duration as Duration);
  if (ms === undefined) build.fault(`${path} is no duration: ${durationMend}`);
  return { [field]: ms ?? 1 } as { readonly [name in K]?: number };
}
