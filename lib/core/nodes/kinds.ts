import { type Draft, hasRoom, isUntouched, node, stateOf } from "../draft.ts";
import { decide } from "../facts.ts";
import type { Active } from "../run.ts";
import { examineChild, openChild } from "./child.ts";
import { examineGate, openGate } from "./gate.ts";
import { openMap } from "./map.ts";
import { nodeFailed, nodeSkipped } from "./settle.ts";
import { examineSignal, openSignal } from "./signal.ts";
import { examineSleep, openSleep } from "./sleep.ts";
import { examineStep, openStep } from "./step.ts";

/** Opens a node, whatever its kind, if all that it waits for has ended and its condition holds. */
export function open(draft: Draft, position: number): void {
  const owner = node(draft, position);
  const { def } = owner;
  if (def.compensates !== undefined || !isUntouched(draft, position)) return;
  if (owner.deps.some((dep) => stateOf(draft, dep) === "pending")) return;
  if (owner.when) {
    const answer = decide(owner.when, draft.facts);
    if (!answer.ok) return nodeFailed(draft, owner, answer.fault);
    if (typeof answer.value !== "boolean")
      return nodeFailed(draft, owner, { code: "not-comparable", message: "the condition is neither true nor false" });
    if (!answer.value) return nodeSkipped(draft, owner);
  }
  if (!hasRoom(draft)) {
    draft.crowded.push(position);
    return;
  }
  if (def.kind === "step" || def.kind === "repeat" || def.kind === "external") openStep(draft, owner, 0);
  else if (def.kind === "map") openMap(draft, owner, def);
  else if (def.kind === "sleep") openSleep(draft, owner, def);
  else if (def.kind === "signal") openSignal(draft, owner, def);
  else if (def.kind === "gate") openGate(draft, owner, def);
  else openChild(draft, owner, 0);
}

/** Takes in what has come for an entry in flight: an outcome, mail, an instant. */
export function examine(draft: Draft, entry: Active): void {
  const owner = node(draft, entry.node);
  const { def } = owner;
  if (def.compensates === undefined && (draft.run.ending || stateOf(draft, entry.node) !== "pending")) return;
  if (entry.state === "sleep") examineSleep(draft, owner, entry);
  else if (entry.state === "signal" && def.kind === "signal") examineSignal(draft, owner, def, entry);
  else if (entry.state === "gate" && def.kind === "gate") examineGate(draft, owner, def, entry);
  else if (entry.state === "child") examineChild(draft, owner, entry);
  else if (entry.state !== "unwanted" && stateOf(draft, entry.node) === "pending") examineStep(draft, owner, entry);
}
