import type { Program } from "./program.ts";
import type { Run } from "./run.ts";

/** What a run is given at its creation. */
export type Given = Pick<
  Run,
  "tenant" | "runId" | "runUid" | "inputHash" | "tier" | "createdAtMs" | "deadlineAtMs" | "depth" | "hasParent"
>;

/** A run before its first tick: nothing has begun, and it has no due yet. */
export function newRun(program: Program, given: Given): Run {
  return {
    ...given,
    workflow: program.definition.workflow,
    definitionHash: program.hash,
    recordVersion: 1,
    transitionSeq: 0,
    phase: "running",
    isPaused: false,
    isParked: false,
    ending: undefined,
    reason: undefined,
    isUncompensated: false,
    nodes: new Uint8Array(Math.ceil(program.nodes.length / 4)),
    active: [],
    maps: [],
    facts: new Map(),
    tiny: [],
    pages: 0,
    mail: { signals: 0, mask: 0, commands: 0 },
    attempts: 0,
    children: 0,
    commitIds: [],
    due: undefined,
    endedAtMs: undefined,
  };
}
