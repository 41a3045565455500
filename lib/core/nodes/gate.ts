import type { GateNode } from "../definition.ts";
import { addActive, type Draft, dropActive } from "../draft.ts";
import type { Attempt, Decision } from "../inputs.ts";
import type { Json } from "../json.ts";
import { attemptName } from "../keys.ts";
import type { ProgramNode } from "../program.ts";
import type { Active } from "../run.ts";
import { nodeFailed, nodeYielded } from "./settle.ts";

export function openGate(draft: Draft, node: ProgramNode, def: GateNode): void {
  const untilMs = def.timeoutMs === undefined ? 0 : draft.nowMs + def.timeoutMs;
  addActive(draft, {
    node: node.position,
    index: 0,
    attempt: 1,
    state: "gate",
    sinceMs: draft.nowMs,
    untilMs,
    sends: 1,
    lost: 0,
    token: "",
  });
}

/** A time-out is a decision like a person's: it goes to the record first, and the record says who won. */
export function examineGate(draft: Draft, node: ProgramNode, def: GateNode, entry: Active): void {
  const record = draft.inputs.attempts.get(attemptName(entry.node, entry.index, entry.attempt));
  // closed by a tick that found a reason to end the run: that is the reason, not this
  if (record?.outcome?.kind === "cancelled") return;
  if (record?.outcome) return takeDecision(draft, node, def, entry, record);
  if (draft.run.isPaused || entry.untilMs === 0 || entry.untilMs > draft.nowMs) return;
  draft.endings.push({ kind: "timed-out", node: entry.node, index: entry.index, attempt: entry.attempt });
}

function takeDecision(draft: Draft, node: ProgramNode, def: GateNode, entry: Active, record: Attempt): void {
  dropActive(draft, entry);
  const decision = decisionOf(def, record);
  if (!decision)
    return nodeFailed(draft, node, { code: "timed-out", message: `nobody decided within ${def.timeoutMs} ms` });
  if (!decision.approved && def.onReject !== "continue" && !(decision.timedOut && def.onTimeout === "continue")) {
    return nodeFailed(draft, node, { code: "rejected", message: rejection(decision) });
  }
  nodeYielded(draft, node, decisionJson(decision));
}

const rejection = (decision: Decision & { timedOut?: true }) =>
  decision.timedOut
    ? "rejected, as nobody decided in time"
    : `rejected${decision.by ? ` by ${decision.by}` : ""}${decision.comment ? `: ${decision.comment}` : ""}`;

/** What was decided at a gate, by a person or by its time-out; nothing if a time-out decides nothing. */
export function decisionOf(def: GateNode, record: Attempt): (Decision & { readonly timedOut?: true }) | undefined {
  const { outcome } = record;
  if (outcome?.kind === "decided") return outcome.decision;
  if (outcome?.kind !== "timed-out" || def.onTimeout === undefined) return undefined;
  return { approved: def.onTimeout === "approve", timedOut: true };
}

/** A gate's output as dependents read it. */
export function decisionJson(decision: Decision & { readonly timedOut?: true }): Json {
  const { approved, by, comment, data, timedOut } = decision;
  return {
    approved,
    ...(by !== undefined && { by }),
    ...(comment !== undefined && { comment }),
    ...(data !== undefined && { data }),
    ...(timedOut && { timedOut }),
  };
}
