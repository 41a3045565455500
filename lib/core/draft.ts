import type { FaultData } from "./faults.ts";
import type { Ending, Facts, Inputs } from "./inputs.ts";
import { fixed, type Limits } from "./limits.ts";
import { nodeAt, type Program, type ProgramNode } from "./program.ts";
import {
  type Active,
  type FactValue,
  isLive,
  type MapFrame,
  type NodeState,
  nodeState,
  type Reason,
  type Run,
  setNodeState,
  type TinyOutput,
} from "./run.ts";

/** What a tick noticed and the row does not show: for metrics only. */
export interface Notes {
  undelivered: number;
  uncompensated: number;
  /** What parked in this tick, and for what. */
  readonly parked: { readonly entry: Active; readonly node: string; readonly fault: FaultData }[];
}

/**
 * The next run while it is being made. The node kinds write on it; `tick` freezes it. Two marks decide what becomes of it:
 * `isChanged` (there is something to commit) and `transitions` (how far `transitionSeq` moves: real progress).
 */
export interface Draft {
  readonly base: Run;
  readonly program: Program;
  readonly inputs: Inputs;
  readonly limits: Limits;
  readonly nowMs: number;
  run: Run;
  readonly nodes: Uint8Array;
  active: Active[];
  maps: MapFrame[];
  facts: Map<number, FactValue>;
  tiny: TinyOutput[];
  isChanged: boolean;
  transitions: number;
  /** Attempts that must be ended before this draft may become anything. */
  readonly endings: Ending[];
  /** Nodes that may have become ready. */
  readonly ready: number[];
  /** Nodes that are ready and found no room. */
  readonly crowded: number[];
  readonly notes: Notes;
  /** The last item of a map that failed in this tick: what its map says if that was one too many. */
  itemFault: FaultData | undefined;
}

export function draftOf(run: Run, program: Program, inputs: Inputs, limits: Limits, nowMs: number): Draft {
  return {
    base: run,
    program,
    inputs,
    limits,
    nowMs,
    run,
    nodes: run.nodes.slice(),
    active: [...run.active],
    maps: [...run.maps],
    facts: new Map(run.facts),
    tiny: [...run.tiny],
    isChanged: false,
    transitions: 0,
    endings: [],
    ready: [],
    crowded: [],
    notes: { undelivered: 0, uncompensated: 0, parked: [] },
    itemFault: undefined,
  };
}

/** Something to commit that is no progress: a later look, another sending. */
export function change(draft: Draft, fields: Partial<Run> = {}): void {
  draft.run = { ...draft.run, ...fields };
  draft.isChanged = true;
}

/** A transition of a node or of the run. */
export function transition(draft: Draft, fields: Partial<Run> = {}): void {
  change(draft, fields);
  draft.transitions += 1;
}

export const hasRoom = (draft: Draft): boolean => draft.active.length < fixed.activeMax;

/** Puts something in flight, in the order of positions and items. */
export function addActive(draft: Draft, entry: Active): void {
  const at = draft.active.findIndex(
    (each) => each.node > entry.node || (each.node === entry.node && each.index > entry.index),
  );
  draft.active.splice(at < 0 ? draft.active.length : at, 0, entry);
  transition(draft);
}

/** Exchanges an entry for what became of it. */
export function replaceActive(draft: Draft, entry: Active, next: Active): void {
  const at = draft.active.indexOf(entry);
  if (at < 0) throw new RangeError(`attempt ${entry.node}/${entry.index}/${entry.attempt} is not in flight`);
  draft.active[at] = next;
}

export function dropActive(draft: Draft, entry: Active): void {
  draft.active = draft.active.filter((each) => each !== entry);
  transition(draft);
}

export function frameOf(draft: Draft, position: number): MapFrame | undefined {
  return draft.maps.find((frame) => frame.node === position);
}

export function putFrame(draft: Draft, frame: MapFrame): void {
  draft.maps = [...draft.maps.filter((each) => each.node !== frame.node), frame].sort((a, b) => a.node - b.node);
  draft.isChanged = true;
}

export function dropFrame(draft: Draft, position: number): void {
  draft.maps = draft.maps.filter((frame) => frame.node !== position);
  draft.isChanged = true;
}

/** The node has ended; what it knows is kept for conditions, and those who waited for it are looked at. */
export function endNode(draft: Draft, node: ProgramNode, state: Exclude<NodeState, "pending">, facts: Facts): void {
  setNodeState(draft.nodes, node.position, state);
  for (const [number, value] of facts) draft.facts.set(number, value);
  draft.ready.push(...node.dependents);
  transition(draft);
}

export const stateOf = (draft: Draft, position: number): NodeState => nodeState(draft.nodes, position);

/** Whether a node has neither ended nor begun. */
export function isUntouched(draft: Draft, position: number): boolean {
  return (
    stateOf(draft, position) === "pending" &&
    !frameOf(draft, position) &&
    !draft.active.some((entry) => entry.node === position)
  );
}

/** Facts without a reader that is still to start. */
export function dropFacts(draft: Draft): void {
  for (const number of draft.facts.keys()) {
    const readers = draft.program.facts[number]?.readers ?? [];
    if (!readers.some((position) => isUntouched(draft, position))) draft.facts.delete(number);
  }
}

/** A fault cut to what the row has room for. */
export function reasonOf(fault: FaultData, node?: ProgramNode): Reason {
  const text = node ? `${node.def.name}: ${fault.message}` : fault.message;
  return { code: fault.code, message: cut(text, fixed.reasonBytesMax) };
}

function cut(text: string, bytesMax: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  return `${new TextDecoder().decode(bytes.subarray(0, bytesMax - 3)).replace(/\uFFFD+$/, "")}…`;
}

/**
 * What a run that goes on was parked for is no news any more once nothing of it is parked. A run that is ending, or has ended badly,
 * keeps why.
 */
export function reasonLeft({ run, active }: Draft): Reason | undefined {
  const isWell = run.phase === "succeeded" || (isLive(run) && !run.ending);
  return isWell && !active.some((entry) => entry.state === "parked") ? undefined : run.reason;
}

export const node = (draft: Draft, position: number): ProgramNode => nodeAt(draft.program, position);
