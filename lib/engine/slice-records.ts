import { attemptAttributes, attemptNameFromSk, outcomeFrom } from "../core/attempt-format.ts";
import { sk } from "../core/keys.ts";
import type { ProgramNode } from "../core/program.ts";
import type { Run } from "../core/run.ts";
import { cutOf, isWide, reportOf, type SliceReport, slicePosition } from "../core/slices.ts";
import type { Fields } from "../ports.ts";
import { childRunId } from "./child-id.ts";
import type { Engine } from "./engine.ts";
import { listAll } from "./list-all.ts";
import { attemptKey } from "./records/attempt.ts";

/** Names a run's records. */
export type RunName = Pick<Run, "tenant" | "runId" | "runUid">;

/** Where records of a map's items stand: with the map, or with a slice of it. */
export interface ItemOwner {
  readonly run: RunName;
  readonly node: ProgramNode;
}

type Asking = { readonly engine: Engine; readonly run: RunName };

/** A slice's items are its own and are read from there: its notice says, in place of an output's name, which run it is. */
function ownerFrom(run: RunName, node: ProgramNode, index: number, notice: Fields | undefined): ItemOwner | undefined {
  const runUid = notice?.[attemptAttributes.payload];
  if (typeof runUid !== "string") return undefined;
  const runId = childRunId(run, { node: node.position, index, attempt: 1 });
  return { run: { tenant: run.tenant, runId, runUid }, node: { ...node, position: slicePosition } };
}

/** Who has the records of items of a map that is over; nobody of those whose slice never came to be. */
export async function ownersOfItems(
  { engine, run }: Asking,
  node: ProgramNode,
  items: { readonly total: number; readonly from: number; readonly to: number },
): Promise<(index: number) => ItemOwner | undefined> {
  const { def } = node;
  if (!isWide(def)) return () => ({ run, node });
  const { size } = cutOf(def.concurrency, items.total);
  const first = Math.floor(items.from / size);
  const keys = Array.from({ length: Math.ceil(items.to / size) - first }, (_, at) =>
    attemptKey(run, { node: node.position, index: first + at, attempt: 1 }),
  );
  const notices = await engine.store.read(keys, { isConsistent: true });
  const owners = notices.map((notice, at) => ownerFrom(run, node, first + at, notice));
  return (index) => owners[Math.floor(index / size) - first];
}

/** The slices of a wide map that have ended, in their order, each with the number of its first item. */
export async function endedSlices(
  { engine, run }: Asking,
  node: ProgramNode,
): Promise<readonly { readonly owner: ItemOwner | undefined; readonly from: number; readonly report: SliceReport }[]> {
  const notices = await listAll(engine, run, sk.attemptsOf(run.runUid, node.position));
  let from = 0;
  return notices.flatMap((notice) => {
    const name = attemptNameFromSk(notice.sk);
    const outcome = outcomeFrom(notice);
    if (!name || !outcome) return [];
    const report = reportOf(outcome);
    const slice = { owner: ownerFrom(run, node, name.index, notice), from, report };
    from += report.count;
    return [slice];
  });
}
