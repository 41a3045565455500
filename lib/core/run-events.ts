import { fixed } from "./limits.ts";
import { nodeAt, type Program } from "./program.ts";
import { type Active, type Reason, type Run, type RunStatus, statusOf } from "./run.ts";

/** What is told of runs. How a run ended is its kind, so that nobody who waits for a success is woken by a cancel. */
export const runEventKinds = [
  "run-finished",
  "run-failed",
  "run-force-failed",
  "run-cancelled",
  "gate-opened",
] as const;
export type RunEventKind = (typeof runEventKinds)[number];

/** Something that happened to a run, for others to hear of: names and instants, never an input or an output. */
export interface RunEvent {
  /** The same whenever it is told again: whoever hears of it knows a repeat by this. */
  readonly id: string;
  readonly kind: RunEventKind;
  readonly tenant: string;
  readonly runId: string;
  readonly runUid: string;
  readonly workflow: string;
  readonly definitionHash: string;
  readonly status: RunStatus;
  /** When it happened. */
  readonly atMs: number;
  /** A parent run waits for this one. */
  readonly isChild: boolean;
  readonly reason?: Reason;
  /** Something that should have been undone was not. */
  readonly isUncompensated?: true;
  /** The gate. */
  readonly node?: string;
  /** When the gate decides by itself. */
  readonly untilMs?: number;
}

/** An event that a committed state deserves. */
export type OwedEvent = { readonly kind: "event"; readonly key: string; readonly event: RunEvent };

/** How a run ended, until it is settled: it keeps its due so long. Slices of wide maps are nobody's runs. */
export function endEvent(run: Run, program: Program): readonly OwedEvent[] {
  if (run.due?.kind !== "at" || program.definition.sliceOf) return [];
  const kind = kindOfEnd(run);
  return [
    owedEvent(run, kind, {
      id: `${run.runUid}/end`,
      atMs: run.endedAtMs ?? run.createdAtMs,
      ...(run.reason && { reason: run.reason }),
      ...(run.isUncompensated && { isUncompensated: true }),
    }),
  ];
}

/**
 * That a gate waits for somebody. Owed when the gate opens, and again by whoever cannot know whether it was told; not for ever,
 * or the weekly look at a run that waits would tell it every week.
 */
export function gateEvent(entry: Active, run: Run, program: Program, nowMs: number): readonly OwedEvent[] {
  if (nowMs - entry.sinceMs >= fixed.gateEventMs) return [];
  const node = nodeAt(program, entry.node).def.name;
  return [
    owedEvent(run, "gate-opened", {
      id: `${run.runUid}/gate/${node}`,
      atMs: entry.sinceMs,
      node,
      ...(entry.untilMs > 0 && { untilMs: entry.untilMs }),
    }),
  ];
}

/** Only the engine ends runs by force, and these are its reasons. */
function kindOfEnd({ phase, reason }: Run): RunEventKind {
  if (phase === "succeeded") return "run-finished";
  if (phase !== "failed") return "run-cancelled";
  return reason?.code === "stuck" || reason?.code === "livelock" ? "run-force-failed" : "run-failed";
}

function owedEvent(run: Run, kind: RunEventKind, more: Pick<RunEvent, "id" | "atMs"> & Partial<RunEvent>): OwedEvent {
  const { tenant, runId, runUid, workflow, definitionHash, hasParent } = run;
  const who = { tenant, runId, runUid, workflow, definitionHash, status: statusOf(run), isChild: hasParent };
  return { kind: "event", key: `event/${more.id}`, event: { kind, ...who, ...more } };
}
