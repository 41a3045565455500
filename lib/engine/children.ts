import type { ChildBody } from "../core/definition.ts";
import { factsOf, outputOf, ownFacts } from "../core/facts.ts";
import { Fault } from "../core/faults.ts";
import type { Facts, Outcome } from "../core/inputs.ts";
import type { Json } from "../core/json.ts";
import { attemptName, partitionOf, sk } from "../core/keys.ts";
import { childBodyOf, nodeAt, type Program } from "../core/program.ts";
import { type Active, isLive, type Run, type Tier } from "../core/run.ts";
import { factsOfReport, isWide } from "../core/slices.ts";
import { digest } from "../digest.ts";
import { childRunId } from "./child-id.ts";
import { command } from "./commands.ts";
import { programFor, sliceProgram } from "./definitions.ts";
import type { Engine } from "./engine.ts";
import { writeItems } from "./items.ts";
import { loadRun } from "./load.ts";
import { send, wakeUp } from "./messages.ts";
import { storeOutput } from "./output.ts";
import { type AttemptId, endUnclaimed } from "./records/attempt.ts";
import { type Reader, readerOf, readRunOutput, sliceReport } from "./resolve.ts";
import { resolveInput } from "./resolve-input.ts";
import { createRun } from "./start.ts";

/** Where a child's end is written: its parent, as the child's input record holds it. */
export interface ParentLink {
  readonly runId: string;
  readonly runUid: string;
  readonly node: number;
  readonly index: number;
  readonly attempt: number;
  readonly definitionHash: string;
  readonly deadlineAtMs: number;
  readonly tier: Tier;
}

/**
 * Starts the child of an entry, or finds that it was started; one that has ended already tells its parent again. `reader` may be
 * shared by the children of one parent, so that what they read is read once.
 */
export async function startChild(reader: Reader, entry: Active): Promise<void> {
  const { engine, run: parent, program } = reader;
  const node = nodeAt(program, entry.node);
  const body = childBodyOf(node.def);
  if (!body) throw new RangeError(`${node.def.name} starts no child`);
  const input = await resolveInput(reader, node, body.input, entry.index);
  if (!input.ok) return await tellEnd(engine, parent, entry, { kind: "failed", fault: input.fault });
  const hash = definitionOf(body, parent);
  const child = engine.registry.byHash(hash);
  const childProgram = await programFor(engine, hash);
  let kept: Json;
  try {
    kept = child ? await child.parseInput(input.value) : (input.value ?? null);
  } catch (error) {
    if (Fault.is(error, "bad-input"))
      return await tellEnd(engine, parent, entry, {
        kind: "failed",
        fault: { code: "child-failed", message: error.message },
      });
    throw error;
  }
  const created = await createRun(engine, {
    program: childProgram,
    tenant: parent.tenant,
    runId: childRunId(parent, entry),
    input: kept,
    inputHash: digest(input.value ?? null),
    tier: parent.tier,
    deadlineAtMs: parent.deadlineAtMs,
    depth: parent.depth + 1,
    parent: { ...linkTo(parent), node: entry.node, index: entry.index, attempt: entry.attempt },
    actor: `parent:${parent.runId}`,
  });
  if (created.kind === "exists" && !isLive(created.run)) await notifyParent(engine, created.run, childProgram);
}

/** A workflow may start itself. */
const definitionOf = (body: ChildBody, parent: Run) =>
  body.definition === "self" ? parent.definitionHash : body.definition;

/** How a child finds its parent again. */
export const linkTo = (parent: Run) => ({
  runId: parent.runId,
  runUid: parent.runUid,
  definitionHash: parent.definitionHash,
  deadlineAtMs: parent.deadlineAtMs,
  tier: parent.tier,
});

/** Cancels the child of an entry. One that does not exist yet is created cancelled, or a slow starter would still create it. */
export async function cancelChild(engine: Engine, parent: Run, entry: Active): Promise<void> {
  const runId = childRunId(parent, entry);
  try {
    await command(
      engine,
      { tenant: parent.tenant, runId },
      {
        kind: "cancel",
        by: `parent:${parent.runId}`,
        reason: "the parent no longer wants it",
        id: `parent-${entry.sends}`,
      },
    );
  } catch (error) {
    if (Fault.is(error, "run-ended")) return await tellOfStranger(engine, parent, entry, runId);
    if (!Fault.is(error, "run-not-found")) throw error;
    await createTombstone(engine, parent, entry, runId);
  }
}

/**
 * A child that has ended tells its parent, and is not settled before it has. What stands in its place and knows no parent tells
 * nobody: whoever created it cancelled may have died before saying so.
 */
async function tellOfStranger(engine: Engine, parent: Run, entry: Active, runId: string): Promise<void> {
  const { run } = await loadRun(engine, { tenant: parent.tenant, runId });
  if (!run.hasParent) await tellEnd(engine, parent, entry, { kind: "cancelled" });
}

async function createTombstone(engine: Engine, parent: Run, entry: Active, runId: string): Promise<void> {
  const program = await programFor(engine, parent.definitionHash);
  const { def } = nodeAt(program, entry.node);
  const body = childBodyOf(def);
  if (!isWide(def) && !body) throw new RangeError(`node ${entry.node} starts no child`);
  const created = await createRun(engine, {
    program:
      body && !isWide(def)
        ? await programFor(engine, definitionOf(body, parent))
        : (await sliceProgram(engine, program, entry.node)).program,
    tenant: parent.tenant,
    runId,
    input: null,
    inputHash: digest(null),
    tier: parent.tier,
    deadlineAtMs: parent.deadlineAtMs,
    depth: parent.depth + 1,
    isTombstone: true,
    actor: `parent:${parent.runId}`,
  });
  if (created.kind === "exists" && isLive(created.run)) return await cancelChild(engine, parent, entry);
  // it has ended by itself meanwhile: what it did counts, and may have to be undone
  if (created.kind === "exists" && created.run.hasParent)
    return await notifyParent(engine, created.run, await programFor(engine, created.run.definitionHash));
  await tellEnd(engine, parent, entry, { kind: "cancelled" });
}

/** Writes how a child ended into its parent's partition, its output copied, and wakes the parent. */
export async function notifyParent(engine: Engine, child: Run, program: Program): Promise<void> {
  const link = await readParent(engine, child);
  if (!link) return;
  const parent = { tenant: child.tenant, ...link };
  const ended = await endOf(engine, child, program, parent);
  await writeEnd(engine, { ...parent, transitionSeq: child.transitionSeq }, link, {
    outcome: ended.outcome,
    output: ended.output,
    startedAtMs: child.createdAtMs,
    nowMs: child.endedAtMs ?? engine.clock.nowMs(),
  });
}

async function endOf(
  engine: Engine,
  child: Run,
  program: Program,
  parent: ParentLink & { readonly tenant: string },
): Promise<{ outcome: Outcome; output?: Awaited<ReturnType<typeof storeOutput>> }> {
  if (program.definition.sliceOf)
    return {
      outcome: { kind: "ok", facts: factsOfReport(await sliceReport(engine, child)) },
      output: { kind: "payload", token: child.runUid },
    };
  if (child.phase !== "succeeded") {
    const message = `child run ${child.runId} ${child.phase}${child.reason ? `: ${child.reason.message}` : ""}`;
    return { outcome: { kind: "failed", fault: { code: "child-failed", message } } };
  }
  const value = await readRunOutput(readerOf(engine, child, program));
  if (!value.ok) return { outcome: { kind: "failed", fault: value.fault } };
  const token = child.runUid;
  const parentProgram = await programFor(engine, parent.definitionHash);
  const output = await storeOutput(engine, parent, parent, token, value.value);
  return {
    outcome: { kind: "ok", facts: await factsForNode(engine, parent, parentProgram, parent.node, value.value, token) },
    output,
  };
}

/** Facts of a node's output that control flow needs, its lists written down in pages. Items of a map have none. */
export async function factsForNode(
  engine: Engine,
  run: Pick<Run, "tenant" | "runId" | "runUid" | "deadlineAtMs">,
  program: Program,
  position: number,
  value: Json | undefined,
  token: string,
): Promise<Facts> {
  const { def } = nodeAt(program, position);
  if (def.kind === "map") return new Map();
  const output = outputOf(def, value);
  return new Map([
    ...factsOf(program, position, output),
    ...ownFacts(program, position, value),
    ...(await writeItems(engine, run, program, position, output, token)),
  ]);
}

/** The end of a child that is no run: it never came to be. */
export async function tellEnd(engine: Engine, parent: Run, entry: Active, outcome: Outcome): Promise<void> {
  await writeEnd(engine, parent, entry, { outcome, nowMs: engine.clock.nowMs() });
}

/** A child's end on its parent's record, where the first one stands, and a wake-up that says where to look. */
async function writeEnd(
  engine: Engine,
  parent: Parameters<typeof wakeUp>[0] & Parameters<typeof endUnclaimed>[0],
  id: AttemptId,
  end: Omit<Parameters<typeof endUnclaimed>[2], "by" | "retentionMs">,
): Promise<void> {
  const { retentionMs } = engine.limits;
  const written = await engine.store.write(
    endUnclaimed(parent, id, { ...end, by: engine.random.token(), retentionMs }),
  );
  if (written.kind === "unclear")
    throw new Fault("unavailable", `the child's end may not have been written: ${written.fault.message}`);
  await send(engine, [wakeUp(parent, { hints: [attemptName(id.node, id.index, id.attempt)] })]);
}

async function readParent(engine: Engine, child: Run): Promise<ParentLink | undefined> {
  if (!child.hasParent) return undefined;
  const [record] = await engine.store.read(
    [{ pk: partitionOf(child.tenant, child.runId), sk: sk.input(child.runUid) }],
    { isConsistent: true },
  );
  const text = record?.["parent"];
  if (typeof text !== "string")
    throw new Fault("bad-row", `run ${child.runId} has a parent, and its input record does not name it`);
  return JSON.parse(text) as ParentLink;
}
