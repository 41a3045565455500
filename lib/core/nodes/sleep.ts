import type { SleepNode } from "../definition.ts";
import { addActive, type Draft, dropActive } from "../draft.ts";
import { decide } from "../facts.ts";
import type { FaultData } from "../faults.ts";
import { instantOf } from "../instant.ts";
import type { Json } from "../json.ts";
import type { ProgramNode } from "../program.ts";
import type { Active } from "../run.ts";
import { nodeFailed, nodeYielded } from "./settle.ts";

export function openSleep(draft: Draft, node: ProgramNode, def: SleepNode): void {
  const until = untilMsOf(draft, node, def);
  if (typeof until !== "number") return nodeFailed(draft, node, until);
  if (until <= draft.nowMs) return nodeYielded(draft, node, null);
  addActive(draft, {
    node: node.position,
    index: 0,
    attempt: 1,
    state: "sleep",
    sinceMs: draft.nowMs,
    untilMs: until,
    sends: 1,
    lost: 0,
    token: "",
  });
}

function untilMsOf(draft: Draft, node: ProgramNode, def: SleepNode): number | FaultData {
  if (!node.until) return draft.nowMs + (def.forMs ?? 0);
  const answer = decide(node.until, draft.facts);
  if (!answer.ok) return answer.fault;
  return (
    atMsOf(answer.value) ?? {
      code: "bad-input",
      message: `it sleeps until ${JSON.stringify(answer.value)}, which is no instant: give ISO 8601 with a zone, or epoch milliseconds`,
    }
  );
}

function atMsOf(value: Json | undefined): number | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  return typeof value === "string" ? instantOf(value) : undefined;
}

/** A paused run's timers keep their instant and fire when it is resumed. */
export function examineSleep(draft: Draft, node: ProgramNode, entry: Active): void {
  if (draft.run.isPaused || entry.untilMs > draft.nowMs) return;
  dropActive(draft, entry);
  nodeYielded(draft, node, null);
}
