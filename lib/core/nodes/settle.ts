import type { MapNode } from "../definition.ts";
import type { Draft } from "../draft.ts";
import { endNode, frameOf, putFrame, reasonOf, stateOf, transition } from "../draft.ts";
import { factsOf, failureOf, outputOf } from "../facts.ts";
import type { FaultData } from "../faults.ts";
import type { Facts, Outcome } from "../inputs.ts";
import { fixed } from "../limits.ts";
import { nodeAt, type ProgramNode } from "../program.ts";
import { type Active, type Run, setNodeState } from "../run.ts";
import { cutOf, leftFault, rangeOf, reportOf } from "../slices.ts";

/** A node yielded. `facts` come from whoever held its output. */
export function nodeDone(draft: Draft, node: ProgramNode, facts: Facts): void {
  endNode(draft, node, "done", facts);
  // the first of a group wins: the others are skipped, and what they began is wound down
  for (const rival of node.rivals)
    if (stateOf(draft, rival) === "pending") nodeSkipped(draft, nodeAt(draft.program, rival));
}

/** A node yielded something that the tick itself holds: nothing, or a decision. */
export function nodeYielded(draft: Draft, node: ProgramNode, value: Parameters<typeof outputOf>[1]): void {
  nodeDone(draft, node, factsOf(draft.program, node.position, outputOf(node.def, value)));
}

export function nodeSkipped(draft: Draft, node: ProgramNode): void {
  endNode(draft, node, "skipped", factsOf(draft.program, node.position, undefined));
}

/** A node failed for good. By its policy that is data for its dependents, or the beginning of the run's end. */
export function nodeFailed(draft: Draft, node: ProgramNode, fault: FaultData): void {
  if (node.def.compensates !== undefined) return compensationFailed(draft, node, fault);
  const isData = node.def.onFailure === "continue";
  if (isData) keepFault(draft, node, fault, 0, draft.nowMs);
  endNode(draft, node, "failed", isData ? factsOf(draft.program, node.position, failureOf(fault)) : new Map());
  if (!isData) failRun(draft, fault, node);
}

/** A fault that dependents or the timeline will read, and no attempt's record holds. */
export function keepFault(
  draft: Draft,
  node: ProgramNode,
  fault: FaultData,
  attempt: number,
  startedAtMs: number,
): void {
  const text = JSON.stringify({ code: fault.code, message: fault.message.slice(0, fixed.reasonBytesMax) });
  draft.tiny = [
    ...draft.tiny,
    { node: node.position, kind: "fault", text, attempt, startedAtMs, endedAtMs: draft.nowMs },
  ];
}

/** The run will end as failed, once what must be awaited has ended and what must be undone is undone. */
export function failRun(draft: Draft, fault: FaultData, node?: ProgramNode): void {
  if (draft.run.ending) return;
  beginEnding(draft, { ending: "failed", phase: "compensating", reason: reasonOf(fault, node) });
}

/** What an ending run has at least to undo what it did, however near its deadline is. */
const compensationMsMin = 86_400_000;

export function beginEnding(draft: Draft, fields: Pick<Run, "ending" | "phase" | "reason">): void {
  const deadlineAtMs = Math.max(draft.run.deadlineAtMs, draft.nowMs + compensationMsMin);
  transition(draft, { ...fields, deadlineAtMs });
}

/** One attempt of a node, or one item of its map, ended well. The caller took the entry out. */
export function workDone(draft: Draft, node: ProgramNode, facts: Facts): void {
  const frame = frameOf(draft, node.position);
  if (!frame) return nodeDone(draft, node, facts);
  putFrame(draft, { ...frame, done: frame.done + 1 });
}

/** One attempt of a node, or one item of its map, failed for good. The caller took the entry out. */
export function workFailed(draft: Draft, node: ProgramNode, fault: FaultData): void {
  const frame = frameOf(draft, node.position);
  if (!frame) return nodeFailed(draft, node, fault);
  putFrame(draft, { ...frame, failed: frame.failed + 1 });
  draft.itemFault = fault;
}

/** A slice of a wide map ended, whole or not: what it did not do has failed. The caller took the entry out. */
export function sliceEnded(draft: Draft, node: ProgramNode, def: MapNode, entry: Active, outcome: Outcome): void {
  const frame = frameOf(draft, node.position);
  if (!frame) return;
  const { from, to } = rangeOf(cutOf(def.concurrency, frame.total), frame.total, entry.index);
  const report = reportOf(outcome, to - from);
  putFrame(draft, { ...frame, done: frame.done + report.done, failed: frame.failed + to - from - report.done });
  if (report.done < to - from) draft.itemFault = leftFault(report);
}

/** Reported, never hidden: the run says which one, and the others are still undone. */
function compensationFailed(draft: Draft, node: ProgramNode, fault: FaultData): void {
  setNodeState(draft.nodes, node.position, "failed");
  draft.notes.uncompensated += 1;
  transition(draft, {
    isUncompensated: true,
    reason:
      draft.run.isUncompensated && draft.run.reason
        ? draft.run.reason
        : reasonOf({ code: fault.code, message: `not undone: ${fault.message}` }, node),
  });
}
