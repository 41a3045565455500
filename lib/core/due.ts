import type { Limits } from "./limits.ts";
import { fixed } from "./limits.ts";
import { type Active, type Due, isLive, type Run } from "./run.ts";

/**
 * The instant by which a run must be looked at if nothing else happens: the earliest of what is pending, with slack where a
 * message is on its way. It is set if it is missing, overdue, or later than wanted; otherwise it stays, as being early is
 * harmless and a write on the index is not. The same reference back: leave the index alone.
 */
export function dueOf(run: Run, stored: Due | undefined, nowMs: number, limits: Limits): Due | undefined {
  if (!isLive(run)) return dueAtEnd(run, stored, nowMs, limits);
  if (run.isParked)
    return stored?.kind === "parked" && stored.atMs === run.deadlineAtMs
      ? stored
      : { kind: "parked", atMs: run.deadlineAtMs };
  const wantedMs = wantedAtMs(run, nowMs, limits);
  const isKept = stored?.kind === "at" && stored.atMs > nowMs && stored.atMs <= wantedMs;
  return isKept ? stored : { kind: "at", atMs: wantedMs };
}

/** A terminal run that owes something keeps a due until it is settled; one that ended badly is found by its end. */
function dueAtEnd(run: Run, stored: Due | undefined, nowMs: number, limits: Limits): Due | undefined {
  if (isOwing(run, limits)) {
    const isKept = stored?.kind === "at" && stored.atMs > nowMs && stored.atMs <= nowMs + limits.owedGraceMs;
    return isKept ? stored : { kind: "at", atMs: nowMs + limits.owedGraceMs };
  }
  return dueOfSettled(run, stored);
}

export function dueOfSettled(run: Run, stored: Due | undefined): Due | undefined {
  if (run.phase === "succeeded") return undefined;
  if (stored?.kind === "ended-badly") return stored;
  return { kind: "ended-badly", atMs: run.endedAtMs ?? 0 };
}

/** Whether a run that has just ended has somebody to tell. */
export function isOwing(run: Run, { isPublishing }: Pick<Limits, "isPublishing">): boolean {
  return isPublishing || run.hasParent || run.active.some((entry) => entry.state === "unwanted");
}

function wantedAtMs(run: Run, nowMs: number, limits: Limits): number {
  let wanted = Math.min(run.deadlineAtMs, nowMs + limits.heartbeatMs);
  for (const entry of run.active) wanted = Math.min(wanted, entryAtMs(entry, run, nowMs, limits));
  return Math.max(wanted, nowMs + 1);
}

function entryAtMs(entry: Active, run: Run, nowMs: number, limits: Limits): number {
  switch (entry.state) {
    case "sleep":
    case "signal":
    case "gate":
      return run.isPaused || entry.untilMs === 0 ? Number.POSITIVE_INFINITY : withSlack(entry.untilMs, nowMs, limits);
    case "task":
      if (run.isPaused) return Number.POSITIVE_INFINITY;
      // a delay that no message can carry: the task is sent when this comes due
      return entry.sinceMs - nowMs > fixed.delayMsMax ? entry.sinceMs : entry.untilMs;
    case "held":
      // as long as a dispatch would be given: otherwise the first step of every chain would move the index, for two units
      return entry.untilMs + limits.dispatchGraceMs;
    default:
      return entry.untilMs;
  }
}

/** A delayed wake-up is on its way to a near instant: the index waits a little longer than it. */
function withSlack(untilMs: number, nowMs: number, limits: Limits): number {
  return untilMs - nowMs <= fixed.delayMsMax ? untilMs + limits.clockSlackMs : untilMs;
}
