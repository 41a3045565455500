import { addActive, change, type Draft, dropActive, replaceActive } from "../draft.ts";
import type { FaultData } from "../faults.ts";
import { attemptName } from "../keys.ts";
import type { Limits } from "../limits.ts";
import type { ProgramNode } from "../program.ts";
import type { Active } from "../run.ts";
import { isWide } from "../slices.ts";
import { failRun, sliceEnded, workDone, workFailed } from "./settle.ts";

/** Opens a child run: it is started when the commit that says so has been applied. */
export function openChild(draft: Draft, node: ProgramNode, index: number): void {
  const { limits, nowMs } = draft;
  // a slice is as deep as the run that it is cut from
  const isTooDeep = !isWide(node.def) && draft.run.depth + 1 > limits.childDepthMax;
  if (draft.run.children >= limits.childrenMax || isTooDeep) {
    return failRun(
      draft,
      {
        code: "budget",
        message: `more than ${limits.childrenMax} children, or nested deeper than ${limits.childDepthMax}`,
      },
      node,
    );
  }
  draft.run = { ...draft.run, children: draft.run.children + 1 };
  addActive(draft, {
    node: node.position,
    index,
    attempt: 1,
    state: "child",
    sinceMs: nowMs,
    untilMs: nowMs + pollMs(1, limits),
    sends: 1,
    lost: 0,
    token: "",
  });
}

/** A parent reads its child's row after 1, 2, 4 ... 15 minutes: the notice may have been lost with whoever owed it. */
function pollMs(sends: number, limits: Limits): number {
  return Math.min(limits.childPollMs * 2 ** (sends - 1), limits.childPollMsMax);
}

export function examineChild(draft: Draft, node: ProgramNode, entry: Active): void {
  const outcome = draft.inputs.attempts.get(attemptName(entry.node, entry.index, entry.attempt))?.outcome;
  if (outcome && isWide(node.def)) {
    dropActive(draft, entry);
    sliceEnded(draft, node, node.def, entry, outcome);
  } else if (outcome?.kind === "ok") {
    dropActive(draft, entry);
    workDone(draft, node, outcome.facts);
  } else if (outcome) {
    const cause: FaultData =
      outcome.kind === "failed"
        ? outcome.fault
        : { code: "child-failed", message: `the child run was ${outcome.kind}` };
    dropActive(draft, entry);
    workFailed(draft, node, cause);
  } else if (entry.untilMs <= draft.nowMs) {
    const sends = Math.min(entry.sends + 1, 255);
    replaceActive(draft, entry, { ...entry, sends, untilMs: draft.nowMs + pollMs(sends, draft.limits) });
    change(draft);
  }
}
