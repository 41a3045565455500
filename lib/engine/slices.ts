import { Fault } from "../core/faults.ts";
import { nodeAt } from "../core/program.ts";
import { decodeRun } from "../core/row-format.ts";
import { type Active, isLive, type Run } from "../core/run.ts";
import { cutOf, factsOfReport, isWide, rangeOf, type SliceInput } from "../core/slices.ts";
import { digest } from "../digest.ts";
import type { Key } from "../ports.ts";
import { childRunId } from "./child-id.ts";
import { linkTo, notifyParent, tellEnd } from "./children.ts";
import { command } from "./commands.ts";
import { programFor, sliceProgram } from "./definitions.ts";
import type { Engine } from "./engine.ts";
import { atOnceMax, inTurns } from "./in-turns.ts";
import { readItems } from "./items.ts";
import { send, wakeUp } from "./messages.ts";
import { stateKey } from "./records/state.ts";
import { type Reader, resolve } from "./resolve.ts";
import { createRun } from "./start.ts";

/**
 * Starts the slices of entries. Writing a slice down is dear, so it is looked for first; and a processing must end, so a few are
 * started at a time, and a wake-up goes on. What has ended already tells its parent again.
 */
export async function startSlices(reader: Reader, entries: readonly Active[]): Promise<void> {
  const { engine, run: parent } = reader;
  if (entries.length === 0) return;
  const keys = entries.map((entry) => stateKey({ tenant: parent.tenant, runId: childRunId(parent, entry) }));
  const rows = await engine.store.read(keys, { isConsistent: true });
  for (const [at, row] of rows.entries()) {
    const run = row && decodeRun(keys[at] as Key, row);
    if (run && !isLive(run)) await notifyParent(engine, run, await programFor(engine, run.definitionHash));
    // a slice that had not heard of its pause yet hears of the end of it at the next look
    else if (run?.isPaused) await holdSlice(engine, parent, entries[at] as Active, "resume");
  }
  const missing = entries.filter((_, at) => !rows[at]);
  const now = missing.slice(0, atOnceMax);
  await inTurns(now, async (entry) => await startSlice(reader, entry));
  if (missing.length > now.length) await send(engine, [wakeUp(parent, { isAll: true })]);
}

/** Holds the slice of an entry, or lets it go on. One that is not there, or over, needs neither. */
export async function holdSlice(engine: Engine, parent: Run, entry: Active, kind: "pause" | "resume"): Promise<void> {
  const ref = { tenant: parent.tenant, runId: childRunId(parent, entry) };
  const id = `parent-${kind}-${parent.transitionSeq}`;
  try {
    await command(engine, ref, { kind, by: `parent:${parent.runId}`, id });
  } catch (error) {
    if (!Fault.is(error, "run-not-found") && !Fault.is(error, "run-ended")) throw error;
  }
}

async function startSlice(reader: Reader, entry: Active): Promise<void> {
  const { engine, run: parent, program } = reader;
  const node = nodeAt(program, entry.node);
  const frame = parent.maps.find((each) => each.node === entry.node);
  if (!isWide(node.def) || !frame) throw new RangeError(`${node.def.name} has no slices`);
  const cut = cutOf(node.def.concurrency, frame.total);
  const { from, to } = rangeOf(cut, frame.total, entry.index);
  const failed = async (message: string) =>
    await tellEnd(engine, parent, entry, {
      kind: "ok",
      facts: factsOfReport({ done: 0, count: to - from, message }),
    });
  const sliced = await sliceProgram(engine, program, entry.node);
  try {
    const reads = await resolve(reader, sliced.reads);
    if (!reads.ok) return await failed(reads.fault.message);
    const input: SliceInput = {
      runId: parent.runId,
      total: frame.total,
      from,
      count: to - from,
      reads: reads.value ?? {},
    };
    const created = await createRun(engine, {
      program: sliced.program,
      tenant: parent.tenant,
      runId: childRunId(parent, entry),
      input: { ...input },
      inputHash: digest({ ...input }),
      tier: parent.tier,
      deadlineAtMs: parent.deadlineAtMs,
      depth: parent.depth,
      parent: { ...linkTo(parent), node: entry.node, index: entry.index, attempt: entry.attempt },
      actor: `parent:${parent.runId}`,
      stretch: { items: (await readItems(reader, node, from, to)).map((item) => item ?? null), from, size: cut.size },
    });
    if (created.kind === "exists" && !isLive(created.run)) await notifyParent(engine, created.run, sliced.program);
  } catch (error) {
    if (!Fault.is(error, "payload-too-big")) throw error;
    await failed(error.message);
  }
}
