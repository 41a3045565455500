import type { SleepNode } from "../definition.ts";
import { addActive, type Draft, dropActive } from "../draft.ts";
import type { ProgramNode } from "../program.ts";
import type { Active } from "../run.ts";
import { nodeYielded } from "./settle.ts";

export function openSleep(draft: Draft, node: ProgramNode, def: SleepNode): void {
  addActive(draft, {
    node: node.position,
    index: 0,
    attempt: 1,
    state: "sleep",
    sinceMs: draft.nowMs,
    untilMs: draft.nowMs + def.forMs,
    sends: 1,
    lost: 0,
    token: "",
  });
}

/** A paused run's timers keep their instant and fire when it is resumed. */
export function examineSleep(draft: Draft, node: ProgramNode, entry: Active): void {
  if (draft.run.isPaused || entry.untilMs > draft.nowMs) return;
  dropActive(draft, entry);
  nodeYielded(draft, node, undefined);
}
