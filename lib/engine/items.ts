import { attemptAttributes } from "../core/attempt-format.ts";
import { utf8 } from "../core/bytes.ts";
import { evaluate, holeOf } from "../core/expression.ts";
import { pagedLists, pagesFact } from "../core/facts.ts";
import { Fault } from "../core/faults.ts";
import type { Facts } from "../core/inputs.ts";
import type { Json } from "../core/json.ts";
import { sk } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import { nodeAt, type Program, type ProgramNode } from "../core/program.ts";
import { inputPosition, type Run } from "../core/run.ts";
import type { Engine } from "./engine.ts";
import { readPayload, storePayload } from "./payloads.ts";
import { attemptKey } from "./records/attempt.ts";
import { outputFrom, type Reader, readSource } from "./resolve.ts";

/**
 * Writes down, in pages, the lists that maps will take from this output, and says where as facts. Whoever holds the output does
 * it, before the record that makes the output count; `token` names the pages, so a loser's are garbage. A source small enough to
 * be one page is read as it is. A page has a fixed count of items, so that an item's page is arithmetic.
 */
export async function writeItems(
  engine: Engine,
  run: Pick<Run, "tenant" | "runId" | "runUid" | "deadlineAtMs">,
  program: Program,
  source: number,
  output: Json | undefined,
  token: string,
): Promise<Facts> {
  const facts = new Map<number, ReturnType<typeof pagesFact>>();
  const lists = pagedLists(program, source, output);
  if (lists.length === 0 || utf8(JSON.stringify(output)).length <= fixed.itemPageBytes) return facts;
  for (const { fact, node, items } of lists) {
    const perPage = perPageOf(items);
    facts.set(fact, pagesFact(perPage, token));
    for (let page = 0; page * perPage < items.length; page++) {
      const text = JSON.stringify(items.slice(page * perPage, (page + 1) * perPage));
      await storePayload(engine, run, sk.items(run.runUid, node, page, token), text);
    }
  }
  return facts;
}

/** As many items as fit a page at their average size; at least one. */
function perPageOf(items: readonly Json[]): number {
  const bytes = utf8(JSON.stringify(items)).length;
  return Math.max(1, Math.min(items.length, Math.floor(fixed.itemPageBytes / (bytes / Math.max(1, items.length)))));
}

/** One item of a map, by reading one page, one record, or the source itself. */
export async function readItem(reader: Reader, node: ProgramNode, index: number): Promise<Json | undefined> {
  const { engine, run, program } = reader;
  if (node.def.kind !== "map" || !node.items) throw new RangeError(`${node.def.name} is no map`);
  if (node.items.kind === "constant")
    return listOf(
      evaluate(node.def.items, () => undefined),
      index,
    );
  if (node.items.kind === "map") return await readItemOfMap(reader, nodeAt(program, node.items.source), node, index);
  const frame = run.maps.find((each) => each.node === node.position);
  if (frame && frame.perPage > 0) {
    const owner = program.facts[node.items.pages]?.readers[0] ?? node.position;
    const text = await readPayload(
      engine,
      run,
      sk.items(run.runUid, owner, Math.floor(index / frame.perPage), frame.pagesToken),
    );
    return (text as readonly Json[])[index % frame.perPage];
  }
  const source = node.items.source === inputPosition ? "$input" : nodeAt(program, node.items.source).def.name;
  const value = await readSource(reader, source);
  return listOf(
    evaluate(node.def.items, () => value),
    index,
  );
}

function listOf(list: ReturnType<typeof evaluate>, index: number): Json | undefined {
  if (!list.ok) throw new Fault(list.fault.code, list.fault.message);
  return Array.isArray(list.value) ? (list.value as readonly Json[])[index] : undefined;
}

/** Item i of a map over a whole map is what that map's item i yielded: one record. */
async function readItemOfMap(
  reader: Reader,
  source: ProgramNode,
  node: ProgramNode,
  index: number,
): Promise<Json | undefined> {
  const isWhole =
    node.def.kind === "map" &&
    holeOf(node.def.items)?.operands.length === 1 &&
    source.def.kind === "map" &&
    !source.def.tolerate &&
    source.def.onFailure === undefined;
  if (isWhole) {
    const [record] = await reader.engine.store.read(
      [attemptKey(reader.run, { node: source.position, index, attempt: 1 })],
      { isConsistent: true },
    );
    if (record?.[attemptAttributes.outcome] === "ok") return await outputFrom(reader, source, index, record);
  }
  const value = await readSource(reader, source.def.name);
  return node.def.kind === "map"
    ? listOf(
        evaluate(node.def.items, () => value),
        index,
      )
    : undefined;
}
