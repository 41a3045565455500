import type { NodeDef } from "./definition.ts";
import type { FaultData } from "./faults.ts";
import type { Decision } from "./inputs.ts";
import type { Program } from "./program.ts";
import { nodeState, type Reason, type Run, type RunStatus, statusOf, type TinyOutput } from "./run.ts";
import { type AttemptRecord, attemptsOf, hasStory, itemsOf, type NodeSources, untraced } from "./timeline-attempts.ts";

/** How an attempt ended, or what it is: in flight, or left behind by a run that ended without awaiting it. */
type AttemptState =
  | "queued"
  | "running"
  | "waiting"
  | "parked"
  | "left"
  | "ok"
  | "failed"
  | "lost"
  | "timed-out"
  | "cancelled"
  | "never-claimed"
  | "decided";

/** One attempt of a node or of a map's item, one wait of a timer, a signal or a gate, one child run, one slice of a wide map. */
export interface AttemptTimeline {
  readonly index: number;
  readonly attempt: number;
  readonly state: AttemptState;
  readonly fromMs: number;
  /** Absent: it goes on. */
  readonly toMs?: number;
  /** Of what waits: the instant at which it stops waiting by itself. */
  readonly untilMs?: number;
  readonly fault?: FaultData;
  readonly decision?: Decision & { readonly timedOut?: true };
  /** The child run that does the work. */
  readonly childRunId?: string;
  /** Of a slice of a wide map: which items it has, and how many of them are done, once it has ended. */
  readonly slice?: { readonly from: number; readonly count: number; readonly done?: number };
}

/** What the items of a map have come to. */
export interface ItemsTimeline {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly inFlight: number;
  /** Attempts beyond the first of each item. */
  readonly retries: number;
}

export interface NodeTimeline {
  readonly name: string;
  readonly kind: NodeDef["kind"];
  /** `open`: in flight. `pending`: not begun; in a run that has ended it never will. */
  readonly state: "pending" | "open" | "done" | "skipped" | "failed";
  /** First beginning and last end; a skipped node has only the instant at which it was skipped. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** The node that this one undoes. */
  readonly undoes?: string;
  /** In order of index and attempt. A map with many items shows only those with a story: tried again, failed, in flight. */
  readonly attempts: readonly AttemptTimeline[];
  /** How many attempts are not shown. */
  readonly hidden: number;
  readonly items?: ItemsTimeline;
}

/** A run over time, as plain data: everything that is known of it, without its inputs and outputs. */
export interface RunTimeline {
  readonly runId: string;
  readonly workflow: string;
  readonly status: RunStatus;
  readonly fromMs: number;
  readonly toMs?: number;
  readonly nowMs: number;
  readonly reason?: Reason;
  /** Something that should have been undone was not. */
  readonly isUncompensated: boolean;
  readonly nodes: readonly NodeTimeline[];
}

/** A map with more items than this is summed up. */
const itemsShownMax = 8;

/** What a timeline is put together from: the row, its neighbours, and the instant at which they were read. */
export interface TimelineSources {
  readonly run: Run;
  readonly program: Program;
  readonly records: readonly AttemptRecord[];
  /** The row's own and the spilled ones. */
  readonly tiny: readonly TinyOutput[];
  readonly nowMs: number;
  readonly childRunId: NodeSources["childRunId"];
}

/**
 * A run's timeline. Timers and waits that ended without a message leave no trace: their instants are derived from what they waited for
 * and how long they may, so a run that was paused meanwhile shows them a little short.
 */
export function timelineOf(sources: TimelineSources): RunTimeline {
  const { run, program, nowMs } = sources;
  const nodes: NodeTimeline[] = [];
  const ends: number[] = [];
  for (const node of program.nodes) {
    const readyAtMs = node.deps.reduce((last, dep) => Math.max(last, ends[dep] ?? 0), run.createdAtMs);
    const at = <T extends { readonly node: number }>(all: readonly T[]) =>
      all.filter((each) => each.node === node.position);
    const [records, tiny, active] = [at(sources.records), at(sources.tiny), at(run.active)];
    const told = nodeOf({ run, node, records, tiny, active, readyAtMs, nowMs, childRunId: sources.childRunId }, nodes);
    ends.push(told.toMs ?? readyAtMs);
    nodes.push(told);
  }
  const { runId, workflow, createdAtMs, endedAtMs, reason, isUncompensated } = run;
  return {
    runId,
    workflow,
    status: statusOf(run),
    fromMs: createdAtMs,
    ...(endedAtMs !== undefined && { toMs: endedAtMs }),
    nowMs,
    ...(reason && { reason }),
    isUncompensated,
    nodes,
  };
}

function nodeOf(sources: NodeSources, before: readonly NodeTimeline[]): NodeTimeline {
  const { run, node } = sources;
  const { def, position } = node;
  const bits = nodeState(run.nodes, position);
  const traced = attemptsOf(sources);
  const attempts = traced.length > 0 ? traced : untraced(sources, before);
  const frame = run.maps.find((each) => each.node === position);
  const isOpen = bits === "pending" && (frame !== undefined || sources.active.length > 0);
  const items = def.kind === "map" && attempts.length > 0 ? itemsOf(sources, attempts) : undefined;
  const shown = items && items.total > itemsShownMax ? attempts.filter((each) => hasStory(each, attempts)) : attempts;
  return {
    name: def.name,
    kind: def.kind,
    state: isOpen ? "open" : bits,
    ...spanOf(attempts, isOpen, bits === "skipped" && def.compensates === undefined ? sources.readyAtMs : undefined),
    ...(def.compensates !== undefined && { undoes: def.compensates }),
    attempts: shown,
    hidden: attempts.length - shown.length,
    ...(items && { items }),
  };
}

/** From the first beginning to the last end; where nothing began, the instant at which the node was skipped. */
function spanOf(attempts: readonly AttemptTimeline[], isOpen: boolean, skippedAtMs: number | undefined) {
  if (attempts.length === 0) return skippedAtMs === undefined ? {} : { fromMs: skippedAtMs, toMs: skippedAtMs };
  const fromMs = Math.min(...attempts.map((each) => each.fromMs));
  const toMs = Math.max(...attempts.map((each) => each.toMs ?? 0));
  return { fromMs, ...(!isOpen && toMs > 0 && { toMs }) };
}
