import { utf8 } from "../core/bytes.ts";
import { factsOf } from "../core/facts.ts";
import { Fault } from "../core/faults.ts";
import { noInputs } from "../core/inputs.ts";
import type { Json } from "../core/json.ts";
import { idRule, isId, partitionOf, sk } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import { newRun } from "../core/new-run.ts";
import { type Owed, owed } from "../core/owed.ts";
import { nodeAt, type Program } from "../core/program.ts";
import { decodeRun } from "../core/row-format.ts";
import { inputPosition, isLive, type Run, type Tier } from "../core/run.ts";
import { isWide, slicePosition } from "../core/slices.ts";
import { digest } from "../digest.ts";
import type { Fields } from "../ports.ts";
import type { ParentLink } from "./children.ts";
import { tickAndClose } from "./close.ts";
import { storedCommitIds } from "./commit.ts";
import { programFor, storeDefinitions } from "./definitions.ts";
import type { Engine, RunRef } from "./engine.ts";
import { type Stretch, writeItems, writeStretch } from "./items.ts";
import { send, wakeUp } from "./messages.ts";
import { payloadName, storePayload } from "./payloads.ts";
import { perform } from "./perform.ts";
import { expiresAtS } from "./records/attempt.ts";
import { payloadAttributes, payloadKey, putPayload } from "./records/payload.ts";
import { createState, stateKey } from "./records/state.ts";
import { settle } from "./tidy.ts";

/** What a run is started with. */
export interface StartRequest {
  readonly workflow: string;
  readonly input: unknown;
  /** Given, it makes a repeat harmless; otherwise one is made up. */
  readonly runId?: string;
  readonly tenant?: string;
  readonly tier?: Tier;
  /** How long the run may take at most; default 30 days, at most 400. */
  readonly deadlineMs?: number;
  readonly actor?: string;
  readonly tags?: { readonly [name: string]: string };
}

/** The run that a start led to, new or not. */
export interface Started extends RunRef {
  readonly runUid: string;
  /** False: a run with this id and this input was there already. */
  readonly isNew: boolean;
  readonly run: Run;
}

/**
 * Starts a run: checks the input, ticks in memory, and creates the row already dispatched. Idempotent by run id: the same input
 * gives the existing run, another one is `run-conflict`. Also throws `bad-input`, `unknown-workflow`, `payload-too-big`.
 */
export async function start(engine: Engine, request: StartRequest): Promise<Started> {
  const { limits } = engine;
  const { tenant = "default", runId = `run-${engine.random.token()}` } = request;
  if (!isId(runId)) throw new Fault("bad-input", `runId must be ${idRule}, not ${JSON.stringify(runId)}`);
  if (!isId(tenant)) throw new Fault("bad-input", `tenant must be ${idRule}, not ${JSON.stringify(tenant)}`);
  const deadlineMs = request.deadlineMs ?? limits.deadlineMs;
  if (!(deadlineMs > 0 && deadlineMs <= limits.deadlineMsMax))
    throw new Fault("bad-input", `deadlineMs must be above 0 and at most ${limits.deadlineMsMax}`);
  const workflow = engine.registry.workflow(request.workflow);
  if (!workflow) throw new Fault("unknown-workflow", `this process does not know a workflow "${request.workflow}"`);
  const input = await workflow.parseInput(request.input);
  await storeDefinitions(engine, workflow);
  const created = await createRun(engine, {
    program: await programFor(engine, workflow.hash),
    tenant,
    runId,
    input,
    inputHash: digest(request.input ?? null),
    tier: request.tier ?? "standard",
    deadlineAtMs: engine.clock.nowMs() + deadlineMs,
    depth: 0,
    ...(request.actor !== undefined && { actor: request.actor }),
    ...(request.tags && { tags: request.tags }),
  });
  const { run } = created;
  if (created.kind === "exists") {
    if (run.workflow !== request.workflow || run.inputHash !== created.inputHash) {
      throw new Fault(
        "run-conflict",
        `run "${runId}" exists already, started with ${run.workflow === request.workflow ? "another input" : `workflow "${run.workflow}"`}`,
        { status: run.phase },
      );
    }
    if (isLive(run)) await send(engine, [wakeUp(run, { isAll: true })]);
  }
  return { tenant, runId, runUid: run.runUid, isNew: created.kind === "created", run };
}

/** Everything that a new run is made of. */
export interface Creation {
  readonly program: Program;
  readonly tenant: string;
  readonly runId: string;
  readonly input: Json;
  readonly inputHash: string;
  readonly tier: Tier;
  readonly deadlineAtMs: number;
  readonly depth: number;
  readonly parent?: ParentLink;
  readonly actor?: string;
  readonly tags?: { readonly [name: string]: string };
  /** Created cancelled and settled: nobody may start it any more. */
  readonly isTombstone?: boolean;
  /** What a slice maps. */
  readonly stretch?: Stretch;
}

export type Created = { readonly kind: "created" | "exists"; readonly run: Run; readonly inputHash: string };

/** Creates a run's records, the row last, and does what it owes. The row is dispatched from its first version on. */
export async function createRun(engine: Engine, creation: Creation): Promise<Created> {
  const nowMs = engine.clock.nowMs();
  const runUid = engine.random.token();
  const { program, input, inputHash, tenant, runId, tier, deadlineAtMs, depth } = creation;
  const hasParent = creation.parent !== undefined;
  const given = { tenant, runId, runUid, inputHash, tier, createdAtMs: nowMs, deadlineAtMs, depth, hasParent };
  const fresh = newRun(program, given);
  if (creation.isTombstone)
    return await put(
      engine,
      { ...fresh, phase: "cancelled", endedAtMs: nowMs, due: { kind: "ended-badly", atMs: nowMs } },
      inputHash,
      program,
    );
  const pages = creation.stretch
    ? await writeStretch(engine, fresh, nodeAt(program, slicePosition), creation.stretch, runUid)
    : await writeItems(engine, fresh, program, inputPosition, input, runUid);
  const text = JSON.stringify(input);
  const isTiny = utf8(text).length <= fixed.tinyOutputBytesMax && !creation.parent && !creation.actor && !creation.tags;
  if (!isTiny) await putInput(engine, fresh, text, creation);
  const withInput: Run = {
    ...fresh,
    facts: new Map([...factsOf(program, inputPosition, input), ...pages]),
    tiny: isTiny
      ? [{ node: inputPosition, kind: "value", text, attempt: 0, startedAtMs: nowMs, endedAtMs: nowMs }]
      : [],
  };
  // even its first tick may close what it has just opened: beside a gate, what needs no time wins at once
  const { run } = await tickAndClose(engine, { run: withInput, program }, noInputs, nowMs);
  return await put(engine, run, inputHash, program);
}

async function putInput(engine: Engine, run: Run, text: string, creation: Creation): Promise<void> {
  const key = payloadKey(run, sk.input(run.runUid));
  const isItem = utf8(text).length <= fixed.itemPayloadBytesMax;
  const beside = sk.output(run.runUid, 0, 0, "input");
  if (!isItem) await storePayload(engine, run, beside, text);
  const fields: Fields = {
    [payloadAttributes.runUid]: run.runUid,
    [payloadAttributes.expiresAtS]: expiresAtS(run, engine.limits.retentionMs),
    ...(isItem ? { [payloadAttributes.text]: text } : { [payloadAttributes.stored]: payloadName(run, beside) }),
    ...(creation.parent && { parent: JSON.stringify(creation.parent) }),
    ...(creation.actor !== undefined && { actor: creation.actor }),
    ...(creation.tags && { tags: creation.tags }),
  };
  const written = await engine.store.write(putPayload(key, fields));
  if (written.kind === "unclear")
    throw new Fault("unavailable", `the input may not have been stored: ${written.fault.message}`);
}

async function put(engine: Engine, run: Run, inputHash: string, program: Program): Promise<Created> {
  const commitId = engine.random.token();
  const named: Run = { ...run, commitIds: [commitId] };
  for (let again = 0; again < 3; again++) {
    const written = await engine.store.write(createState(named, engine.clock.nowMs(), engine.limits.retentionMs), {
      returns: "nothing",
    });
    if (written.kind === "unclear") continue;
    if (written.kind === "refused" && !storedCommitIds(written.now).includes(commitId))
      return { kind: "exists", run: decodeRun(stateKey(run), written.now), inputHash };
    engine.metrics.count("runs-started", 1, { workflow: run.workflow });
    const isDone = await performFirst(engine, named, program);
    if (!isLive(named) && isDone) await settle(engine, named);
    return { kind: "created", run: named, inputHash };
  }
  throw new Fault("unavailable", `run "${run.runId}" may not have been created: repeat the call`, {
    partition: partitionOf(run.tenant, run.runId),
  });
}

/**
 * What a new run owes, as of its first tick: a short timer that was over before the row was written is sent all the same. Whoever starts
 * a run does not wait for a wide map's slices to be written down: a wake-up does that.
 */
async function performFirst(engine: Engine, run: Run, program: Program): Promise<boolean> {
  const all = owed(run, program, run.createdAtMs);
  const isSlice = (each: Owed) => each.kind === "start-child" && isWide(nodeAt(program, each.entry.node).def);
  if (all.some(isSlice)) await send(engine, [wakeUp(run, { isAll: true })]);
  return await perform(
    engine,
    run,
    program,
    all.filter((each) => !isSlice(each)),
  );
}
