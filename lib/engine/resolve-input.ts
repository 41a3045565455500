import type { Expr } from "../core/definition.ts";
import { type Evaluated, sourcesOf } from "../core/expression.ts";
import type { ProgramNode } from "../core/program.ts";
import { readItem } from "./items.ts";
import { type Reader, resolve } from "./resolve.ts";

/** The input of an attempt: its expression over the outputs that it reads. Item and index where it stands in a map. */
export async function resolveInput(reader: Reader, node: ProgramNode, expr: Expr, index: number): Promise<Evaluated> {
  const sources = sourcesOf(expr);
  const item = sources.has("$item") ? await readItem(reader, node, index) : undefined;
  return await resolve(reader, expr, (source) => (source === "$item" ? item : source === "$index" ? index : undefined));
}
