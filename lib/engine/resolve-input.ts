import type { Expr } from "../core/definition.ts";
import { type Evaluated, sourcesOf } from "../core/expression.ts";
import type { Json } from "../core/json.ts";
import type { ProgramNode } from "../core/program.ts";
import { readItem } from "./items.ts";
import { type Reader, readIteration, resolve } from "./resolve.ts";

/**
 * The input of an attempt: its expression over the outputs that it reads; item and index where it stands in a map, the last output
 * where it is repeated.
 */
export async function resolveInput(reader: Reader, node: ProgramNode, expr: Expr, index: number): Promise<Evaluated> {
  const sources = sourcesOf(expr);
  const item = sources.has("$item") ? await readItem(reader, node, index) : undefined;
  const last = sources.has("$last") && index > 0 ? await readIteration(reader, node, index - 1) : undefined;
  const local = new Map<string, Json | undefined>([
    ["$item", item],
    ["$index", index],
    ["$last", last],
  ]);
  return await resolve(reader, expr, (source) => local.get(source));
}
