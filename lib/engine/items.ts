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
import { inputPosition, type MapFrame, type Run } from "../core/run.ts";
import type { Engine } from "./engine.ts";
import { inTurns } from "./in-turns.ts";
import { readPayloads, storePayload } from "./payloads.ts";
import { attemptKey } from "./records/attempt.ts";
import { outputFrom, type Reader, readSource } from "./resolve.ts";
import { ownersOfItems } from "./slice-records.ts";

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

/** The items of a slice, and where they stand in the whole map. */
export interface Stretch {
  readonly items: readonly Json[];
  readonly from: number;
  /** How many items a slice of this map has; `from` is a multiple of it. */
  readonly size: number;
}

/** Writes down a slice's items beside it: pages are numbered through the whole map, so a slice begins where a page does. */
export async function writeStretch(
  engine: Engine,
  run: Pick<Run, "tenant" | "runId" | "runUid" | "deadlineAtMs">,
  { items: source }: ProgramNode,
  { items, from, size }: Stretch,
  token: string,
): Promise<Facts> {
  if (source?.kind !== "slice") throw new RangeError("only a slice takes its items with it");
  let perPage = Math.min(size, perPageOf(items));
  while (size % perPage > 0) perPage -= 1;
  const pages = Array.from({ length: Math.ceil(items.length / perPage) }, (_, page) => page);
  await inTurns(pages, async (page) => {
    const text = JSON.stringify(items.slice(page * perPage, (page + 1) * perPage));
    await storePayload(engine, run, sk.items(run.runUid, 0, from / perPage + page, token), text);
  });
  return new Map([[source.pages, pagesFact(perPage, token)]]);
}

/** One item of a map, by reading one page, one record, or the source itself. */
export async function readItem(reader: Reader, node: ProgramNode, index: number): Promise<Json | undefined> {
  return (await readItems(reader, node, index, index + 1))[0];
}

/** Items of a map from one up to, and without, another: every page, record or source is read once, and all at one go. */
export async function readItems(
  reader: Reader,
  node: ProgramNode,
  from: number,
  to: number,
): Promise<readonly (Json | undefined)[]> {
  const frame = reader.run.maps.find((each) => each.node === node.position);
  if (frame && frame.perPage > 0) return await readPages(reader, node, frame, from, to);
  const source = wholeMapOf(reader, node);
  const own = source ? await readOutputs(reader, source, frame?.total ?? 0, from, to) : undefined;
  if (own && !own.includes(undefined)) return own.map((each) => each?.value);
  const list = await readList(reader, node);
  return Array.from({ length: to - from }, (_, at) => (own?.[at] ? own[at].value : list?.[from + at]));
}

async function readPages(
  { engine, run, program }: Reader,
  { items, position }: ProgramNode,
  { perPage, pagesToken }: MapFrame,
  from: number,
  to: number,
): Promise<readonly Json[]> {
  const fact = items && "pages" in items ? program.facts[items.pages] : undefined;
  const owner = fact?.readers[0] ?? position;
  const first = Math.floor(from / perPage);
  const names = Array.from({ length: Math.ceil(to / perPage) - first }, (_, at) =>
    sk.items(run.runUid, owner, first + at, pagesToken),
  );
  const pages = (await readPayloads(engine, run, names)) as readonly (readonly Json[])[];
  return pages.flat().slice(from - first * perPage, to - first * perPage);
}

/** The whole list, as the expression has it. */
async function readList(reader: Reader, node: ProgramNode): Promise<readonly Json[] | undefined> {
  const { def, items } = node;
  if (def.kind !== "map" || !items || items.kind === "slice") throw new RangeError(`${def.name} has no list`);
  const value = items.kind === "constant" ? undefined : await readSource(reader, nameOf(reader.program, items.source));
  const list = evaluate(def.items, () => value);
  if (!list.ok) throw new Fault(list.fault.code, list.fault.message);
  return Array.isArray(list.value) ? (list.value as readonly Json[]) : undefined;
}

const nameOf = (program: Program, source: number) =>
  source === inputPosition ? "$input" : nodeAt(program, source).def.name;

/** The map of which this one takes the whole output as it is: item i is what that map's item i yielded. */
function wholeMapOf({ program }: Reader, { def, items }: ProgramNode): ProgramNode | undefined {
  if (items?.kind !== "map") return undefined;
  const source = nodeAt(program, items.source);
  const isWhole =
    def.kind === "map" &&
    holeOf(def.items)?.operands.length === 1 &&
    source.def.kind === "map" &&
    !source.def.tolerate &&
    source.def.onFailure === undefined;
  return isWhole ? source : undefined;
}

/** What items of a map yielded, from the records of their first attempts; one that was tried again is not among them. */
async function readOutputs(
  { engine, run }: Reader,
  source: ProgramNode,
  total: number,
  from: number,
  to: number,
): Promise<readonly ({ readonly value: Json | undefined } | undefined)[]> {
  const ownerOf = await ownersOfItems({ engine, run }, source, { total, from, to });
  const items = Array.from({ length: to - from }, (_, at) => ({ index: from + at, owner: ownerOf(from + at) }));
  const there = items.flatMap(({ index, owner }) => (owner ? [{ index, owner }] : []));
  if (there.length < items.length) return items.map(() => undefined);
  const records = await engine.store.read(
    there.map(({ index, owner }) => attemptKey(owner.run, { node: owner.node.position, index, attempt: 1 })),
    { isConsistent: true },
  );
  return await inTurns(there, async ({ index, owner }) => {
    const record = records[index - from];
    if (record?.[attemptAttributes.outcome] !== "ok") return undefined;
    return { value: await outputFrom({ engine, run: owner.run }, owner.node, index, record) };
  });
}
