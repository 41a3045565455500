import type { RepeatNode, WorkBody } from "../definition.ts";
import { addActive, change, type Draft, dropActive, reasonOf, replaceActive, transition } from "../draft.ts";
import { type FaultCode, type FaultData, faults } from "../faults.ts";
import type { Attempt, Facts, Held, HeldResult, Outcome } from "../inputs.ts";
import { attemptName } from "../keys.ts";
import { isInline, type ProgramNode, stepBodyOf } from "../program.ts";
import { retryDelayMs } from "../retry.ts";
import type { Active, TinyOutput } from "../run.ts";
import { leaseMs, lookAgainMs, lostEnding } from "./lease.ts";
import { iterationDone } from "./repeat.ts";
import { keepFault, workDone, workFailed } from "./settle.ts";

/** Opens attempt 1 of a step or of a map's item: held by this process if it can, dispatched otherwise. */
export function openStep(draft: Draft, node: ProgramNode, index: number): void {
  openAttempt(draft, node, {
    node: node.position,
    index,
    attempt: 1,
    state: "task",
    sinceMs: draft.nowMs,
    untilMs: 0,
    sends: 1,
    lost: 0,
    token: "",
  });
}

function openAttempt(draft: Draft, node: ProgramNode, entry: Active): void {
  const body = bodyOf(node);
  draft.run = { ...draft.run, attempts: draft.run.attempts + 1 };
  addActive(draft, mayHold(draft, node, entry) ? heldBy(draft, body, entry) : dispatched(draft, body, entry));
}

const dispatched = (draft: Draft, body: WorkBody, entry: Active): Active => ({
  ...entry,
  state: "task",
  token: "",
  untilMs: lookAgainMs(entry.sinceMs, entry, entry.sends, body, draft.limits),
});

function heldBy(draft: Draft, body: WorkBody, entry: Active): Active {
  const token = draft.inputs.held?.token ?? "";
  return { ...entry, state: "held", token, sinceMs: draft.nowMs, untilMs: draft.nowMs + leaseMs(body, draft.limits) };
}

/** A holder takes one inline attempt at a time, of its own group, that may start now, while the run is not paused. */
function mayHold(draft: Draft, node: ProgramNode, entry: Active): boolean {
  const { held } = draft.inputs;
  if (!held || draft.run.isPaused || entry.sinceMs > draft.nowMs) return false;
  if (!isInline(node.def) || node.def.group !== held.group) return false;
  const isClaim = held.claim !== undefined && isSame(held.claim, entry);
  if (!isClaim && draft.nowMs + node.def.timeoutMs > held.untilMs) return false;
  return !draft.active.some((each) => each.state === "held" && each.token === held.token);
}

/** Looks at an attempt in flight: takes its outcome in, or finds that it must be closed, sent again, or left alone. */
export function examineStep(draft: Draft, node: ProgramNode, entry: Active): void {
  const { inputs } = draft;
  const known = inputs.attempts.get(attemptName(entry.node, entry.index, entry.attempt));
  const park = inputs.parks.find((each) => isSame(each, entry));
  // what another build has claimed, or ended, needs nothing of this one
  if (park && entry.state !== "parked" && !known) return parkStep(draft, node, entry, park.fault);
  if (entry.state === "parked") {
    if (inputs.isUnpark || (entry.untilMs <= draft.nowMs && !draft.base.isParked)) reopen(draft, node, entry);
    return;
  }
  const result = heldResult(inputs.held, entry);
  if (result) return takeResult(draft, node, entry, result);
  if (known?.outcome) return takeOutcome(draft, node, entry, known.outcome);
  if (entry.state === "held") return examineHeld(draft, entry);
  if (known) return examineClaimed(draft, entry, known);
  const { claim } = inputs.held ?? {};
  if (claim && isSame(claim, entry) && mayHold(draft, node, entry)) return takeClaim(draft, node, entry);
  if (inputs.attempts.has(attemptName(entry.node, entry.index, entry.attempt))) examineUnclaimed(draft, node, entry);
}

const isSame = (a: Pick<Active, "node" | "index" | "attempt">, b: Pick<Active, "node" | "index" | "attempt">) =>
  a.node === b.node && a.index === b.index && a.attempt === b.attempt;

/** The holder's result counts as long as the row shows its token, however old the lease is. */
function heldResult(held: Held | undefined, entry: Active): HeldResult | undefined {
  if (entry.state !== "held" || entry.token !== held?.token) return undefined;
  return held.results.find((result) => isSame(result, entry));
}

function takeClaim(draft: Draft, node: ProgramNode, entry: Active): void {
  replaceActive(draft, entry, heldBy(draft, bodyOf(node), entry));
  transition(draft);
}

function examineHeld(draft: Draft, entry: Active): void {
  const isMine = entry.token === draft.inputs.held?.token;
  if (!isMine && entry.untilMs <= draft.nowMs)
    draft.endings.push({ kind: "inline-lost", node: entry.node, index: entry.index, attempt: entry.attempt });
}

function examineClaimed(draft: Draft, entry: Active, record: Attempt): void {
  const leaseUntilMs = record.leaseUntilMs ?? 0;
  if (leaseUntilMs <= draft.nowMs) {
    draft.endings.push(lostEnding(entry, record));
  } else if (entry.untilMs <= draft.nowMs) {
    replaceActive(draft, entry, { ...entry, untilMs: leaseUntilMs });
    change(draft);
  }
}

function examineUnclaimed(draft: Draft, node: ProgramNode, entry: Active): void {
  if (draft.run.isPaused) return;
  const body = bodyOf(node);
  if (body.startWithinMs !== undefined && entry.sinceMs + body.startWithinMs <= draft.nowMs) {
    draft.endings.push({ kind: "never-claimed", node: entry.node, index: entry.index, attempt: entry.attempt });
  } else if (entry.untilMs <= draft.nowMs) {
    const isBehind = draft.inputs.behind.has(body.group);
    const sends = isBehind ? entry.sends : Math.min(entry.sends + 1, 255);
    const untilMs = lookAgainMs(draft.nowMs, entry, sends, body, draft.limits);
    replaceActive(draft, entry, { ...entry, sends, untilMs });
    change(draft);
  }
}

function takeResult(draft: Draft, node: ProgramNode, entry: Active, result: HeldResult): void {
  const { outcome } = result;
  const { startedAtMs, endedAtMs } = result;
  if (outcome.kind !== "ok") {
    const cause = outcome.kind === "failed" ? outcome.fault : timedOut(node, entry);
    keepFault(draft, node, cause, entry.attempt, startedAtMs);
    return takeOutcome(draft, node, entry, outcome);
  }
  keepOutput(draft, entry, { ...outcome.output, startedAtMs, endedAtMs });
  dropActive(draft, entry);
  workDone(draft, node, outcome.facts);
}

/** Puts an inline attempt's output on the row. */
export function keepOutput(
  draft: Draft,
  { node, attempt }: Active,
  output: Pick<TinyOutput, "kind" | "text" | "startedAtMs" | "endedAtMs">,
): void {
  draft.tiny = [...draft.tiny, { ...output, node, attempt }];
}

/** Takes an attempt's end in: the next attempt, the item's or the node's end. */
function takeOutcome(draft: Draft, node: ProgramNode, entry: Active, outcome: Outcome): void {
  switch (outcome.kind) {
    case "ok":
      if (node.def.kind === "repeat") return takeIteration(draft, node, node.def, entry, outcome.facts);
      dropActive(draft, entry);
      return workDone(draft, node, outcome.facts);
    case "failed":
      return tryAgain(draft, node, entry, outcome.fault, { afterMs: outcome.afterMs });
    case "lost":
      if (outcome.isUnclaimed) return lostDelivery(draft, node, entry);
      return tryAgain(draft, node, entry, lostFault(node, entry));
    case "timed-out":
      return tryAgain(draft, node, entry, timedOut(node, entry));
    case "never-claimed":
      return giveUp(
        draft,
        node,
        entry,
        fault("never-claimed", `no worker took the task within ${bodyOf(node).startWithinMs} ms`),
      );
    default:
      // closed by a tick that found a reason to end more than this attempt: that is the reason, not this (see reopenClosed)
      return;
  }
}

/**
 * Closed by a tick whose commit never was, and that found what nobody finds any more (a holder's result that died with it): opened
 * again, and no try is burnt. An inline attempt that was taken before it was closed runs: its holder's result counts, and if none comes by
 * the end of its lease it was a try.
 */
export function reopenClosed(draft: Draft, node: ProgramNode, entry: Active): void {
  const record = draft.inputs.attempts.get(attemptName(entry.node, entry.index, entry.attempt));
  if (record?.outcome?.kind !== "cancelled") return;
  if (entry.state === "gate") {
    replaceActive(draft, entry, { ...entry, attempt: entry.attempt + 1 });
    return transition(draft);
  }
  if (entry.state === "task") lostDelivery(draft, node, entry);
  const isMine = entry.token === draft.inputs.held?.token;
  if (entry.state === "held" && !isMine && entry.untilMs <= draft.nowMs)
    tryAgain(draft, node, entry, lostFault(node, entry));
}

/** A task that ended in the dead-letter queue is no try: it has a budget of its own. */
function lostDelivery(draft: Draft, node: ProgramNode, entry: Active): void {
  const lost = entry.lost + 1;
  if (lost >= draft.limits.lostDeliveriesMax)
    return giveUp(
      draft,
      node,
      entry,
      fault("never-claimed", `the task was lost ${lost} times before a worker took it`),
    );
  next(draft, node, entry, 0, lost);
}

function tryAgain(
  draft: Draft,
  node: ProgramNode,
  entry: Active,
  cause: FaultData,
  options: { readonly afterMs?: number | undefined } = {},
): void {
  const { retry } = bodyOf(node);
  const tries = entry.attempt - entry.lost;
  if (!faults[cause.code].isRetried || tries >= retry.attempts) return giveUp(draft, node, entry, cause);
  const seed = `${draft.run.runUid}/${attemptName(entry.node, entry.index, entry.attempt)}`;
  next(draft, node, entry, options.afterMs ?? retryDelayMs(retry, tries, seed));
}

function next(draft: Draft, node: ProgramNode, entry: Active, delayMs: number, lost = entry.lost): void {
  dropActive(draft, entry);
  openAttempt(draft, node, {
    ...entry,
    lost,
    attempt: entry.attempt + 1,
    state: "task",
    token: "",
    sends: 1,
    sinceMs: draft.nowMs + delayMs,
  });
}

/** The next iteration has a number of its own, and its own attempts. */
function takeIteration(draft: Draft, node: ProgramNode, def: RepeatNode, entry: Active, facts: Facts): void {
  const delayMs = iterationDone(draft, node, def, entry, facts);
  if (delayMs === undefined) return;
  dropActive(draft, entry);
  openAttempt(draft, node, {
    ...entry,
    index: entry.index + 1,
    attempt: 1,
    lost: 0,
    state: "task",
    token: "",
    sends: 1,
    sinceMs: draft.nowMs + delayMs,
  });
}

function giveUp(draft: Draft, node: ProgramNode, entry: Active, cause: FaultData): void {
  dropActive(draft, entry);
  workFailed(draft, node, cause);
}

/**
 * No try is burnt: the attempt keeps its number, as nobody claimed it. A deploy wakes a run that has nothing else to do; one that
 * has looks again by itself now and then.
 */
function parkStep(draft: Draft, node: ProgramNode, entry: Active, cause: FaultData): void {
  const untilMs = draft.nowMs + draft.limits.owedGraceMsMax;
  replaceActive(draft, entry, { ...entry, state: "parked", token: "", untilMs });
  draft.notes.parked.push({ entry, node: node.def.name, fault: cause });
  // what began a run's end stands
  transition(draft, draft.run.ending ? {} : { reason: reasonOf(cause, node) });
}

function reopen(draft: Draft, node: ProgramNode, entry: Active): void {
  replaceActive(
    draft,
    entry,
    dispatched(draft, bodyOf(node), { ...entry, sinceMs: draft.nowMs, sends: Math.min(entry.sends + 1, 255) }),
  );
  transition(draft);
}

function bodyOf(node: ProgramNode): WorkBody {
  const body = stepBodyOf(node.def);
  if (!body) throw new RangeError(`${node.def.name} is no step`);
  return body;
}

/** Nobody completed what goes on outside, or a worker vanished: both are leases that ran out. */
const lostFault = (node: ProgramNode, entry: Active) =>
  node.def.kind === "external"
    ? fault("timed-out", `attempt ${entry.attempt} was not completed in time`)
    : fault("lost", `attempt ${entry.attempt} was lost: its worker vanished`);

const timedOut = (node: ProgramNode, entry: Active) =>
  fault("timed-out", `attempt ${entry.attempt} took longer than ${bodyOf(node).timeoutMs} ms`);

const fault = (code: FaultCode, message: string): FaultData => ({ code, message });
