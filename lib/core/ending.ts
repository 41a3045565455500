import {
  change,
  type Draft,
  dropActive,
  dropFrame,
  frameOf,
  isUntouched,
  node,
  replaceActive,
  stateOf,
  transition,
} from "./draft.ts";
import type { Attempt } from "./inputs.ts";
import { attemptName } from "./keys.ts";
import { lostEnding } from "./nodes/lease.ts";
import { sliceEnded, workDone, workFailed } from "./nodes/settle.ts";
import { examineStep, keepOutput, openStep } from "./nodes/step.ts";
import { nodeAt, type Program, type ProgramNode } from "./program.ts";
import { type Active, nodeState, type Run, setNodeState } from "./run.ts";
import { isWide } from "./slices.ts";

/**
 * Takes out of flight what nobody wants any more: everything once the run is ending, the rest of a map that failed, what lost to
 * the first of its group. What was not claimed is closed, write-once, so that it cannot begin; what runs and has a compensation is
 * awaited, as its effect must be undone; what runs and has none is left alone and comes late.
 */
export function windDown(draft: Draft, options: { readonly isAtOnce: boolean }): void {
  for (const entry of [...draft.active]) {
    const owner = node(draft, entry.node);
    if (owner.def.compensates !== undefined && !options.isAtOnce) continue;
    if (draft.run.ending || options.isAtOnce || stateOf(draft, entry.node) !== "pending")
      windDownEntry(draft, owner, entry, options);
  }
  for (const frame of draft.maps) {
    const isOver = draft.run.ending || stateOf(draft, frame.node) !== "pending";
    if (isOver && !draft.active.some((entry) => entry.node === frame.node && isBusyWith(draft, entry)))
      closeFrame(draft, frame.node);
  }
}

/** A child that nobody wants is awaited only if what it did must be undone. */
const isBusyWith = (draft: Draft, entry: Active) => entry.state !== "unwanted" || node(draft, entry.node).isUndone;

function windDownEntry(draft: Draft, owner: ProgramNode, entry: Active, options: { readonly isAtOnce: boolean }): void {
  const record = draft.inputs.attempts.get(attemptName(entry.node, entry.index, entry.attempt));
  const isAwaited = owner.isUndone && !options.isAtOnce;
  switch (entry.state) {
    case "sleep":
    case "signal":
    case "parked":
      return dropActive(draft, entry);
    case "gate":
      if (record?.outcome) return dropActive(draft, entry);
      return close(draft, entry);
    case "child":
    case "unwanted":
      return windDownChild(draft, owner, entry, record);
    case "held":
      return windDownHeld(draft, owner, entry, record, isAwaited);
    case "task":
      if (record?.outcome) return takeLast(draft, owner, entry, record);
      if (!record) return close(draft, entry);
      if ((record.leaseUntilMs ?? 0) <= draft.nowMs) {
        draft.endings.push(lostEnding(entry, record));
      } else if (!isAwaited) dropActive(draft, entry);
      else if (entry.untilMs <= draft.nowMs) awaitUntil(draft, entry, record.leaseUntilMs ?? 0);
  }
}

function windDownHeld(
  draft: Draft,
  owner: ProgramNode,
  entry: Active,
  record: Attempt | undefined,
  isAwaited: boolean,
): void {
  const { held } = draft.inputs;
  // taken before somebody closed it: it runs, and what it does may have to be undone
  const isRunning = record?.outcome?.kind === "cancelled" && entry.untilMs > draft.nowMs;
  if (record?.outcome && !isRunning) return takeLast(draft, owner, entry, record);
  if (entry.token === held?.token) {
    const result = held.results.find((each) => each.node === entry.node);
    if (result?.outcome.kind !== "ok") return dropActive(draft, entry);
    if (stateOf(draft, entry.node) === "pending") return examineStep(draft, owner, entry);
    // it lost to the first of its group while it ran: what it did is kept for whoever undoes it
    const { startedAtMs, endedAtMs, outcome } = result;
    if (owner.compensation !== undefined) keepOutput(draft, entry, { ...outcome.output, startedAtMs, endedAtMs });
    dropActive(draft, entry);
    return undoLoser(draft, owner);
  }
  if (entry.untilMs <= draft.nowMs)
    draft.endings.push({ kind: "inline-lost", node: entry.node, index: entry.index, attempt: entry.attempt });
  else if (!isAwaited) dropActive(draft, entry);
}

/** A child is cancelled, not closed; the parent waits for its end only if there is something to undo. */
function windDownChild(draft: Draft, owner: ProgramNode, entry: Active, record: Attempt | undefined): void {
  if (record?.outcome) return takeLast(draft, owner, entry, record);
  if (entry.state === "child") {
    replaceActive(draft, entry, {
      ...entry,
      state: "unwanted",
      sends: 1,
      untilMs: draft.nowMs + draft.limits.owedGraceMs,
    });
    transition(draft);
  } else if (entry.untilMs <= draft.nowMs) awaitUntil(draft, entry, draft.nowMs + draft.limits.owedGraceMsMax);
}

function awaitUntil(draft: Draft, entry: Active, untilMs: number): void {
  replaceActive(draft, entry, { ...entry, untilMs });
  change(draft);
}

/** The end of an attempt that is not tried again: what it did is known, and undone later if it has a compensation. */
function takeLast(draft: Draft, owner: ProgramNode, entry: Active, record: Attempt): void {
  const { outcome } = record;
  if (outcome && isWide(owner.def)) {
    dropActive(draft, entry);
    sliceEnded(draft, owner, owner.def, entry, outcome);
  } else if (outcome?.kind === "ok") {
    dropActive(draft, entry);
    const state = stateOf(draft, entry.node);
    // an item of a map that has failed still counts: what it did must be undone
    if (state === "pending" || frameOf(draft, entry.node)) workDone(draft, owner, outcome.facts);
    else if (state === "skipped") undoLoser(draft, owner);
  } else {
    dropActive(draft, entry);
    if (frameOf(draft, entry.node)) workFailed(draft, owner, { code: "cancelled", message: "the run ended" });
  }
}

function close(draft: Draft, entry: Active): void {
  draft.endings.push({ kind: "cancelled", node: entry.node, index: entry.index, attempt: entry.attempt });
}

function closeFrame(draft: Draft, position: number): void {
  const frame = frameOf(draft, position);
  const { compensation } = node(draft, position);
  dropFrame(draft, position);
  if (compensation !== undefined && frame?.done === 0) setNodeState(draft.nodes, compensation, "skipped");
  if (stateOf(draft, position) === "skipped") return undoLoser(draft, node(draft, position));
  setNodeState(draft.nodes, position, "failed");
}

/** What lost to the first of its group and had its effect all the same is undone at once. */
function undoLoser(draft: Draft, owner: ProgramNode): void {
  if (owner.compensation !== undefined && isUntouched(draft, owner.compensation))
    openStep(draft, node(draft, owner.compensation), 0);
}

/**
 * Undoes one node after the other, newest first: a node stands behind everything it reads, so this order is the definition's,
 * backwards. Ends the run when nothing is left to await and to undo.
 */
export function compensate(draft: Draft): void {
  const isBusy = draft.active.some((entry) => isBusyWith(draft, entry));
  if (isBusy || !draft.run.ending) return;
  const undo = nextToUndo(draft);
  if (undo) return openStep(draft, undo, 0);
  transition(draft, { phase: draft.run.ending, ending: undefined });
}

/** The hidden node of the newest completed node that was not undone yet. */
export function nextToUndo({
  nodes,
  program,
}: Pick<Run, "nodes"> & { readonly program: Program }): ProgramNode | undefined {
  for (let position = program.visibleCount - 1; position >= 0; position--) {
    const { compensation, def } = nodeAt(program, position);
    if (compensation === undefined || nodeState(nodes, compensation) !== "pending") continue;
    const state = nodeState(nodes, position);
    if (state === "done" || (state === "failed" && def.kind === "map")) return nodeAt(program, compensation);
  }
  return undefined;
}
