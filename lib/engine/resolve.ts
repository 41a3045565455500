import { attemptAttributes, attemptNameFromSk, outcomeFrom } from "../core/attempt-format.ts";
import type { Expr } from "../core/definition.ts";
import { type Evaluated, evaluate, sourcesOf } from "../core/expression.ts";
import { failureOf, outputOf } from "../core/facts.ts";
import { Fault, type FaultData } from "../core/faults.ts";
import type { Json } from "../core/json.ts";
import { sk } from "../core/keys.ts";
import { decisionJson, decisionOf } from "../core/nodes/gate.ts";
import { nodeAt, type Program, type ProgramNode } from "../core/program.ts";
import { readTiny } from "../core/row-tiny.ts";
import { inputPosition, nodeState, type Run, type TinyOutput } from "../core/run.ts";
import { isWide, leftFault, type SliceInput, type SliceReport, slicePosition } from "../core/slices.ts";
import type { Fields, Key } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { inTurns } from "./in-turns.ts";
import { listAll } from "./list-all.ts";
import { readPayload } from "./payloads.ts";
import { attemptKey } from "./records/attempt.ts";
import { payloadAttributes } from "./records/payload.ts";
import { endedSlices, type ItemOwner, type RunName } from "./slice-records.ts";

/** What one resolution remembers, so that two references to one output read it once. */
export interface Reader {
  readonly engine: Engine;
  readonly run: Run;
  readonly program: Program;
  /** Outputs that this process made itself and need not read, by position: as handlers returned them. */
  readonly known: ReadonlyMap<number, Json>;
  /** The reading node, if it is a hidden one that undoes another. */
  readonly undoes?: string | undefined;
  pages?: Promise<readonly TinyOutput[]>;
  readonly outputs: Map<number, Promise<Json | undefined>>;
}

export function readerOf(
  engine: Engine,
  run: Run,
  program: Program,
  options: { readonly known?: ReadonlyMap<number, Json>; readonly undoes?: string | undefined } = {},
): Reader {
  return { engine, run, program, known: options.known ?? new Map(), undoes: options.undoes, outputs: new Map() };
}

/** An expression over the run's input and its nodes' outputs. */
export async function resolve(
  reader: Reader,
  expr: Expr,
  extra: (source: string) => Json | undefined = () => undefined,
): Promise<Evaluated> {
  const values = new Map<string, Json | undefined>();
  for (const source of sourcesOf(expr)) {
    if (!locals.has(source)) values.set(source, await readSource(reader, source));
  }
  return evaluate(expr, (source) => (values.has(source) ? values.get(source) : extra(source)));
}

/** Sources that only one attempt has. */
const locals: ReadonlySet<string> = new Set(["$item", "$index", "$last"]);

/** A source's value as dependents see it. */
export async function readSource(reader: Reader, source: string): Promise<Json | undefined> {
  const position = source === "$input" ? inputPosition : reader.program.positions.get(source);
  if (position === undefined)
    throw new Fault("bad-row", `"${source}" is no node of ${reader.program.definition.workflow}`);
  const known = reader.outputs.get(position) ?? readOutput(reader, position);
  reader.outputs.set(position, known);
  return await known;
}

async function readOutput(reader: Reader, position: number): Promise<Json | undefined> {
  if (position === inputPosition) {
    const kept = await readTinyOutput(reader, position);
    return kept ? kept.value : await readPayload(reader.engine, reader.run, sk.input(reader.run.runUid));
  }
  const node = nodeAt(reader.program, position);
  // who undoes a node sees what it did, not how it is wrapped for others
  const seenAs = (value: Json | undefined) => (node.def.name === reader.undoes ? value : outputOf(node.def, value));
  const made = reader.known.get(position);
  if (made !== undefined) return seenAs(made);
  const state = nodeState(reader.run.nodes, position);
  if (state === "failed" && node.def.onFailure === "continue") return failureOf(await readFault(reader, position));
  if (node.def.kind === "map" && (state === "done" || node.def.name === reader.undoes))
    return await readMap(reader, node);
  if (state !== "done" && node.def.name !== reader.undoes) return undefined;
  if (node.def.kind === "sleep") return outputOf(node.def, null);
  const kept = await readTinyOutput(reader, position);
  return seenAs(kept ? kept.value : await readRecorded(reader, node));
}

/** An output that waits on the row, or was spilled from it; in a box, as `null` is an output too. */
async function readTinyOutput(reader: Reader, position: number): Promise<{ readonly value: Json } | undefined> {
  const found = await findTiny(reader, position, (output) => output.kind !== "fault");
  if (!found) return undefined;
  if (found.kind === "value") return { value: JSON.parse(found.text) as Json };
  const def = position === inputPosition ? undefined : nodeAt(reader.program, position).def;
  const key =
    def?.kind === "signal"
      ? sk.signal(reader.run.runUid, found.text)
      : sk.output(reader.run.runUid, position, 0, found.text);
  return { value: await readPayload(reader.engine, reader.run, key) };
}

async function readFault(reader: Reader, position: number): Promise<FaultData> {
  const found = await findTiny(reader, position, (output) => output.kind === "fault" && output.attempt === 0);
  return found ? (JSON.parse(found.text) as FaultData) : { code: "handler-failed", message: "the node failed" };
}

async function findTiny(
  reader: Reader,
  position: number,
  fits: (output: TinyOutput) => boolean,
): Promise<TinyOutput | undefined> {
  const isIt = (output: TinyOutput) => output.node === position && fits(output);
  const onRow = reader.run.tiny.find(isIt);
  if (onRow || reader.run.pages === 0) return onRow;
  reader.pages ??= readPages(reader.engine, reader.run);
  return (await reader.pages).find(isIt);
}

/** All outputs that were spilled from the row. */
export async function readPages(engine: Engine, run: Run): Promise<readonly TinyOutput[]> {
  const items = await listAll(engine, run, sk.pages(run.runUid));
  return items.flatMap((item) => {
    const bytes = item[payloadAttributes.bytes];
    return bytes instanceof Uint8Array ? readTiny(bytes, run.createdAtMs) : [];
  });
}

/** A node's output from the one attempt that ended well. */
async function readRecorded(reader: Reader, node: ProgramNode): Promise<Json | undefined> {
  const first = await reader.engine.store.read(
    [attemptKey(reader.run, { node: node.position, index: 0, attempt: 1 })],
    { isConsistent: true },
  );
  const records: readonly (Fields & Partial<Key>)[] =
    node.def.kind !== "repeat" && first[0] && hasOutput(node, first[0])
      ? [first[0]]
      : await listAll(reader.engine, reader.run, sk.attemptsOf(reader.run.runUid, node.position));
  // of a repeat the last iteration counts: keys sort by iteration
  const fits = (each: Fields) => hasOutput(node, each);
  const record = node.def.kind === "repeat" ? records.findLast(fits) : records.find(fits);
  return record && (await outputFrom(reader, node, indexOf(record), record));
}

const indexOf = (record: Fields & Partial<Key>) =>
  record.sk === undefined ? 0 : (attemptNameFromSk(record.sk)?.index ?? 0);

/** What one iteration of a repeat came to. */
export async function readIteration(reader: Reader, node: ProgramNode, index: number): Promise<Json | undefined> {
  const records = await listAll(reader.engine, reader.run, sk.attemptsOf(reader.run.runUid, node.position, index));
  const record = records.find((each) => hasOutput(node, each));
  return record && (await outputFrom(reader, node, index, record));
}

/** A time-out decides a gate; of anything else it is a try without a result. */
const hasOutput = ({ def }: ProgramNode, record: Fields) =>
  (def.kind === "gate" ? ["decided", "timed-out"] : ["ok"]).includes(String(record[attemptAttributes.outcome]));

/** What one attempt's record holds or points to; a gate's decision in the form that dependents read. */
export async function outputFrom(
  reader: { readonly engine: Engine; readonly run: RunName },
  node: ProgramNode,
  index: number,
  record: Fields,
): Promise<Json | undefined> {
  const { engine, run } = reader;
  if (node.def.kind === "gate") {
    const outcome = outcomeFrom(record);
    const decision = outcome && decisionOf(node.def, { node: node.position, index, attempt: 1, outcome });
    return decision && decisionJson(decision);
  }
  const text = record[attemptAttributes.output];
  if (typeof text === "string") return JSON.parse(text) as Json;
  const token = record[attemptAttributes.payload];
  return typeof token === "string"
    ? await readPayload(engine, run, sk.output(run.runUid, node.position, index, token))
    : undefined;
}

/** A map's output: what its items yielded, in their order; outcomes where failures are tolerated. */
async function readMap(reader: Reader, node: ProgramNode): Promise<Json> {
  if (node.def.kind !== "map") throw new RangeError(`${node.def.name} is no map`);
  const isUndone = node.def.name === reader.undoes;
  const isTolerant = node.def.tolerate !== undefined && !isUndone;
  const { engine } = reader;
  if (!isWide(node.def)) {
    const items = [...(await readMapItems(engine, { run: reader.run, node }, isTolerant)).values()];
    return isUndone ? items : (outputOf(node.def, items) ?? items);
  }
  const slices = await inTurns(await endedSlices(reader, node), async ({ owner, from, report }) => {
    const items = owner ? await readMapItems(engine, owner, isTolerant) : new Map<number, Json>();
    if (!isTolerant) return [...items.values()];
    // what a slice left behind has an outcome too: every item keeps its place
    return Array.from({ length: report.count }, (_, at) => items.get(from + at) ?? failureOf(leftFault(report)));
  });
  const items = slices.flat();
  return isUndone ? items : (outputOf(node.def, items) ?? items);
}

/** What the items of a map, or of a slice of one, came to, by index and in its order. */
async function readMapItems(
  engine: Engine,
  { run, node }: ItemOwner,
  isTolerant: boolean,
): Promise<ReadonlyMap<number, Json>> {
  const byIndex = new Map<number, Fields>();
  for (const record of await listAll(engine, run, sk.attemptsOf(run.runUid, node.position))) {
    const name = attemptNameFromSk(record.sk);
    if (
      name &&
      (record[attemptAttributes.outcome] === "ok" ||
        (isTolerant && byIndex.get(name.index)?.[attemptAttributes.outcome] !== "ok"))
    )
      byIndex.set(name.index, record);
  }
  const items = new Map<number, Json>();
  for (const [index, record] of [...byIndex].sort(([one], [other]) => one - other)) {
    if (record[attemptAttributes.outcome] === "ok") {
      const value = await outputFrom({ engine, run }, node, index, record);
      items.set(index, isTolerant ? { ok: true, ...(value !== undefined && { value }) } : (value ?? null));
    } else items.set(index, failureOf(faultFrom(record)));
  }
  return items;
}

function faultFrom(record: Fields): FaultData {
  const outcome = outcomeFrom(record);
  if (outcome?.kind === "failed") return outcome.fault;
  return {
    code:
      outcome?.kind === "timed-out" || outcome?.kind === "never-claimed" || outcome?.kind === "cancelled"
        ? outcome.kind
        : "lost",
    message: `the item's last attempt was ${outcome?.kind ?? "not ended"}`,
  };
}

/** What the run yields; only a run that succeeded has an output. */
export async function readRunOutput(reader: Reader): Promise<Evaluated> {
  const { output } = reader.program.definition;
  return output === undefined ? { ok: true, value: undefined } : await resolve(reader, output);
}

/** What a slice was started with. */
export async function sliceInput(engine: Engine, { run }: { readonly run: RunName }): Promise<SliceInput> {
  return (await readPayload(engine, run, sk.input(run.runUid))) as unknown as SliceInput;
}

/** What the items of a slice that has ended came to; what failed last stands for all that did. */
export async function sliceReport(engine: Engine, slice: Run): Promise<SliceReport> {
  const { count } = await sliceInput(engine, { run: slice });
  const done = new Set<number>();
  let last: { readonly fault: FaultData; readonly atMs: number } | undefined;
  for (const record of await listAll(engine, slice, sk.attemptsOf(slice.runUid, slicePosition))) {
    const atMs = Number(record[attemptAttributes.endedAtMs] ?? 0);
    if (record[attemptAttributes.outcome] === "ok") done.add(indexOf(record));
    else if (!last || atMs >= last.atMs) last = { fault: faultFrom(record), atMs };
  }
  if (done.size === count) return { done: count, count };
  const { phase, reason } = slice;
  const isOfItems = phase === "succeeded" || reason?.code === "item-failures";
  const why = `run ${slice.runId} ${phase}${reason ? `: ${reason.message}` : ""}`;
  return { done: done.size, count, message: isOfItems && last ? last.fault.message : why };
}
