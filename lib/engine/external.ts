import { attemptAttributes } from "../core/attempt-format.ts";
import { Fault, type FaultData } from "../core/faults.ts";
import type { Outcome } from "../core/inputs.ts";
import { attemptName } from "../core/keys.ts";
import { nodeAt, type ProgramNode } from "../core/program.ts";
import { isLive, type Run } from "../core/run.ts";
import type { Fields } from "../ports.ts";
import { factsForNode } from "./children.ts";
import { type Claimed, claimedFrom } from "./completion-token.ts";
import type { Engine } from "./engine.ts";
import { type Loaded, loadRun } from "./load.ts";
import { send, wakeUp } from "./messages.ts";
import { storeOutput } from "./output.ts";
import { attemptKey, extendLease, recordAttempt } from "./records/attempt.ts";

/** How long an attempt may go on outside before somebody is heard of. */
export function outsideMs(node: ProgramNode): number {
  if (node.def.kind !== "external") throw new RangeError(`${node.def.name} is not completed from outside`);
  return Math.min(node.def.beatMs ?? node.def.completeWithinMs, node.def.completeWithinMs);
}

/**
 * Completes what a handler began, with the output of its node. The first completion counts; the same again is a repeat. Throws
 * `bad-output` (nothing is stored, complete it again), `run-not-found`, `run-ended`, and `attempt-ended` if it came too late.
 */
export async function complete(
  engine: Engine,
  token: string,
  output: unknown,
): Promise<{ readonly isRepeat: boolean }> {
  const { claimed, loaded, node, ended } = await attemptOf(engine, token);
  const { run, program } = loaded;
  if (ended) return repeated(run, claimed, ended, "ok");
  const body = node.def.kind === "external" ? node.def : undefined;
  const handler = body && engine.registry.handler(body.handler);
  if (!handler) throw new Fault("unknown-handler", `no handler ${body?.handler ?? node.def.name} in this build`);
  const value = await handler.parseOutput(output);
  // a name of its own: what an earlier call left beside the record may be another output
  const name = engine.random.token();
  const stored = await storeOutput(engine, run, claimed, name, value);
  const facts = await factsForNode(engine, run, program, node.position, value, name);
  return await end(engine, run, claimed, { kind: "ok", facts }, stored);
}

/** Fails what a handler began: `isFatal` unless the retry policy should try again. */
export async function fail(
  engine: Engine,
  token: string,
  failure: { readonly message: string; readonly isFatal?: boolean },
): Promise<{ readonly isRepeat: boolean }> {
  const { claimed, loaded, ended } = await attemptOf(engine, token);
  if (ended) return repeated(loaded.run, claimed, ended, "failed");
  const fault: FaultData = { code: failure.isFatal ? "fatal" : "handler-failed", message: failure.message };
  return await end(engine, loaded.run, claimed, { kind: "failed", fault }, undefined);
}

/** Says that what goes on outside is alive: prolongs the attempt by the node's longest pause between heartbeats. */
export async function beat(engine: Engine, token: string): Promise<void> {
  const { claimed, loaded, node, ended, startedAtMs } = await attemptOf(engine, token);
  if (ended) throw isLive(loaded.run) ? tooLate(claimed) : runEnded(loaded.run);
  const untilMs =
    Math.min(engine.clock.nowMs() + outsideMs(node), lastMs(node, startedAtMs)) + engine.limits.clockSlackMs;
  const written = await engine.store.write(extendLease(loaded.run, claimed, { token: claimed.token, untilMs }), {
    returns: "nothing",
  });
  if (written.kind === "applied") return;
  if (written.kind === "unclear") throw new Fault("unavailable", "the heartbeat may not have been stored: repeat it");
  const isAlive =
    written.kind === "refused" &&
    written.now[attemptAttributes.token] === claimed.token &&
    written.now[attemptAttributes.outcome] === undefined;
  if (!isAlive) throw tooLate(claimed);
}

async function attemptOf(engine: Engine, token: string): Promise<Asked> {
  const claimed = claimedFrom(token);
  const loaded = await loadRun(engine, claimed);
  const { run, program } = loaded;
  if (run.runUid !== claimed.runUid)
    throw new Fault("run-not-found", `the run that this token was for is gone: "${claimed.runId}" was started anew`);
  const [record] = await engine.store.read([attemptKey(run, claimed)], { isConsistent: true });
  if (record?.[attemptAttributes.token] !== claimed.token) throw isLive(run) ? tooLate(claimed) : runEnded(run);
  const isOver = record[attemptAttributes.outcome] !== undefined || !isLive(run);
  return {
    claimed,
    loaded,
    node: nodeAt(program, claimed.node),
    startedAtMs: Number(record[attemptAttributes.startedAtMs]),
    ended: isOver ? record : undefined,
  };
}

interface Asked {
  readonly claimed: Claimed;
  readonly loaded: Loaded;
  readonly node: ProgramNode;
  readonly startedAtMs: number;
  /** The attempt's record, if the attempt or its run has ended. */
  readonly ended: Fields | undefined;
}

/** The latest instant that heartbeats can reach: what the handler and the completion may take together. */
function lastMs(node: ProgramNode, startedAtMs: number): number {
  if (node.def.kind !== "external") throw new RangeError(`${node.def.name} is not completed from outside`);
  return startedAtMs + node.def.timeoutMs + node.def.completeWithinMs;
}

/** The same end again, from outside, is a repeat, also after the run has ended; any other came too late. */
function repeated(run: Run, claimed: Claimed, record: Fields, kind: Outcome["kind"]): { readonly isRepeat: true } {
  if (isOwn(claimed, record, kind)) return { isRepeat: true };
  throw isLive(run) ? tooLate(claimed) : runEnded(run);
}

const isOwn = (claimed: Claimed, record: Fields, kind: Outcome["kind"]) =>
  record[attemptAttributes.endedBy] === outside(claimed) && record[attemptAttributes.outcome] === kind;

/** Who ended it: the worker's own end carries the bare token. */
const outside = ({ token }: Claimed) => `${token}/outside`;

const runEnded = (run: Run) =>
  new Fault("run-ended", `run "${run.runId}" has ended: ${run.phase}`, { status: run.phase });

async function end(
  engine: Engine,
  run: Run,
  claimed: Claimed,
  outcome: Outcome,
  output: Awaited<ReturnType<typeof storeOutput>>,
): Promise<{ readonly isRepeat: boolean }> {
  const nowMs = engine.clock.nowMs();
  const write = recordAttempt(run, claimed, {
    token: claimed.token,
    by: outside(claimed),
    outcome,
    output,
    nowMs,
    dueAtMs: nowMs + engine.limits.owedGraceMs,
  });
  const written = await engine.store.write(write, { returns: "nothing" });
  if (written.kind === "unclear") throw new Fault("unavailable", "it may not have been stored: repeat the call");
  const isRepeat = written.kind === "refused" && isOwn(claimed, written.now, outcome.kind);
  if (written.kind !== "applied" && !isRepeat) throw tooLate(claimed);
  if (!isRepeat) engine.metrics.count("attempts-ended", 1, { outcome: outcome.kind });
  await send(engine, [wakeUp(run, { hints: [attemptName(claimed.node, claimed.index, claimed.attempt)] })]);
  return { isRepeat };
}

const tooLate = (claimed: Claimed) =>
  new Fault("attempt-ended", `attempt ${claimed.attempt} has ended: it took too long, or the run no longer wants it`);
