import type { FaultCode } from "./faults.ts";

/**
 * A run in memory: what its one row holds, decoded. Everything here is readonly and shared freely; the tick builds the next run
 * from it. Sizes matter: a run of a thousand nodes must stay within one write unit, so a node that is not in flight is two bits.
 */
export interface Run {
  readonly tenant: string;
  readonly runId: string;
  /** Random, never reused: tells a restarted run id from its predecessor. */
  readonly runUid: string;
  readonly workflow: string;
  readonly definitionHash: string;
  readonly inputHash: string;
  readonly tier: Tier;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  /** Rises by exactly one per commit; the store adds it. */
  readonly recordVersion: number;
  /** Rises by one per transition of a node or of the run: it moves if and only if there is progress. */
  readonly transitionSeq: number;
  readonly phase: Phase;
  readonly isPaused: boolean;
  readonly isParked: boolean;
  /** Set while compensating or cancelling: how the run will end. */
  readonly ending: "failed" | "cancelled" | undefined;
  /** Why it failed, who ended it, or what it is parked for while nothing else ends it; short. */
  readonly reason: Reason | undefined;
  /** A compensation failed for good, or the run was ended without one. */
  readonly isUncompensated: boolean;
  /** Two bits per node, by position: see {@link nodeState}. */
  readonly nodes: Uint8Array;
  /** What is in flight, by position and index (of a wide map: by slice); at most 64. */
  readonly active: readonly Active[];
  readonly maps: readonly MapFrame[];
  /** Values that control flow still needs, by their number in the program. */
  readonly facts: ReadonlyMap<number, FactValue>;
  /** Outputs small enough to wait here; spilled together when the row grows. */
  readonly tiny: readonly TinyOutput[];
  /** Spill pages written so far. */
  readonly pages: number;
  readonly mail: MailCursor;
  /** Attempts and children opened so far: budgets. */
  readonly attempts: number;
  readonly children: number;
  /** How deep in a tree of runs; 0 without a parent. */
  readonly depth: number;
  /** A parent waits for this run's end. */
  readonly hasParent: boolean;
  readonly commitIds: readonly string[];
  /** Where the sparse index has this run: work by an instant, parked, or ended badly. */
  readonly due: Due | undefined;
  readonly endedAtMs: number | undefined;
}

export const tiers = ["standard", "interactive", "bulk"] as const;
export type Tier = (typeof tiers)[number];

export const livePhases = ["running", "compensating", "cancelling"] as const;
export const terminalPhases = ["succeeded", "failed", "cancelled", "terminated"] as const;
export const phases = [...livePhases, ...terminalPhases] as const;
export type Phase = (typeof phases)[number];
export type RunStatus = Phase | "paused" | "parked";

export interface Reason {
  readonly code: FaultCode;
  /** At most 120 bytes; the whole text is in the attempt's record. */
  readonly message: string;
}

/**
 * Something in flight: an attempt of a step, a timer, a wait.
 *
 * | state | what it waits for | sinceMs | untilMs |
 * |---|---|---|---|
 * | `task` | a worker's record of this attempt | not to be claimed before | look again at |
 * | `held` | the inline holder's next commit | start | lease's end |
 * | `sleep` | the instant | start | the instant |
 * | `signal`, `gate` | mail; a decision | start | time-out, or 0 |
 * | `child` | the child's notice | start | read the child's row at |
 * | `unwanted` | nothing: a child that a terminal or ending run must cancel | start | send again at |
 * | `parked` | a deploy that brings the handler | start | try again at, if the run does other things |
 */
export interface Active {
  readonly node: number;
  readonly index: number;
  /** Number of the attempt, from 1: names its record. */
  readonly attempt: number;
  readonly state: ActiveState;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Times the task, or the start of the child, was sent. */
  readonly sends: number;
  /** Attempts of this entry that ended without ever being claimed: they are no tries. */
  readonly lost: number;
  /** Proves the inline holder; empty elsewhere. */
  readonly token: string;
}

export const activeStates = ["task", "held", "sleep", "signal", "gate", "child", "unwanted", "parked"] as const;
export type ActiveState = (typeof activeStates)[number];

/** A map in progress: constant size, whatever the number of its items. Items in flight are in `active`. */
export interface MapFrame {
  readonly node: number;
  readonly total: number;
  /** First item that was not yet opened. */
  readonly next: number;
  readonly done: number;
  readonly failed: number;
  /** Items per page; 0: read them from their source. */
  readonly perPage: number;
  /** Names the pages; empty without pages. */
  readonly pagesToken: string;
}

/** What an expression came to, if control flow needs it: a scalar, nothing, or a fault that its reader will meet. */
export type FactValue =
  | { readonly kind: "value"; readonly value: boolean | number | string | null }
  | { readonly kind: "missing" }
  | { readonly kind: "fault"; readonly code: FaultCode };

/**
 * What a node came to, as it waits on the row: its JSON text, the token that names a payload beside it, or the text of a fault.
 * With what a timeline shows.
 */
export interface TinyOutput {
  /** Position; `inputPosition` for the run's input. */
  readonly node: number;
  readonly kind: "value" | "payload" | "fault";
  readonly text: string;
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** The run's input among positions. */
export const inputPosition = -1;

/** How far the mailbox was read. All sequence numbers below a cursor are dealt with; bit j of the mask is signal `signals + j`. */
export interface MailCursor {
  readonly signals: number;
  readonly mask: number;
  readonly commands: number;
}

export type Due =
  | { readonly kind: "at"; readonly atMs: number }
  /** Waits for a deploy; the instant is its deadline. */
  | { readonly kind: "parked"; readonly atMs: number }
  | { readonly kind: "ended-badly"; readonly atMs: number };

export const nodeStates = ["pending", "done", "skipped", "failed"] as const;
export type NodeState = (typeof nodeStates)[number];

/** State of a node by position. A node in flight is `pending` here and present in `active` or `maps`. */
export function nodeState(nodes: Uint8Array, position: number): NodeState {
  const bits = ((nodes[position >> 2] ?? 0) >> ((position & 3) * 2)) & 3;
  return nodeStates[bits] as NodeState;
}

export function setNodeState(nodes: Uint8Array, position: number, state: NodeState): void {
  const shift = (position & 3) * 2;
  const at = position >> 2;
  nodes[at] = ((nodes[at] ?? 0) & ~(3 << shift)) | (nodeStates.indexOf(state) << shift);
}

/** Live runs accept commits; terminal ones are final. */
export function isLive(run: Pick<Run, "phase">): boolean {
  return (livePhases as readonly string[]).includes(run.phase);
}

/** The word that people see. */
export function statusOf(run: Pick<Run, "phase" | "isPaused" | "isParked">): RunStatus {
  if (!isLive(run)) return run.phase;
  if (run.isPaused) return "paused";
  return run.isParked ? "parked" : run.phase;
}

/** A terminal run is settled when it owes nothing any more. */
export function isSettled(run: Run): boolean {
  return !isLive(run) && run.due?.kind !== "at";
}
