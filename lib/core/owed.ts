import { fixed } from "./limits.ts";
import { nodeAt, type Program, stepBodyOf } from "./program.ts";
import { type Active, isLive, type Run } from "./run.ts";
import { endEvent, gateEvent, type OwedEvent } from "./run-events.ts";
import { isWide } from "./slices.ts";

/** A message, or a word to another run, that a committed state deserves. `key` tells two apart: equal keys are one sending. */
export type Owed =
  | {
      readonly kind: "task";
      readonly key: string;
      readonly entry: Active;
      readonly group: string;
      readonly delayMs: number;
    }
  /** A delayed wake-up for a timer, a time-out, or the end of somebody's inline lease. */
  | { readonly kind: "timer"; readonly key: string; readonly entry: Active; readonly delayMs: number }
  | { readonly kind: "start-child" | "cancel-child" | "pause-slice"; readonly key: string; readonly entry: Active }
  /** The parent must learn how this run ended. */
  | { readonly kind: "notice"; readonly key: string }
  /** Published where the installation has a bus. */
  | OwedEvent;

/**
 * What a committed state deserves, derived from it alone: a crash between commit and send loses nothing that the row does not
 * still show. Whoever commits performs `owed(next)` without what `owed(previous)` already held; whoever cannot know what was
 * sent performs everything.
 */
export function owed(run: Run, program: Program, nowMs: number): readonly Owed[] {
  if (!isLive(run)) {
    const cancels = run.active.flatMap((entry) => owedFor(entry, run, program, nowMs));
    const notice: readonly Owed[] = run.hasParent ? [{ kind: "notice", key: "notice" }] : [];
    return [...cancels, ...notice, ...endEvent(run, program)];
  }
  return run.active.flatMap((entry) => (run.isPaused ? owedPaused : owedFor)(entry, run, program, nowMs));
}

/** A paused run sends nothing, and holds its slices; when it goes on, starting them finds them and lets them go on too. */
function owedPaused(entry: Active, _: Run, program: Program): readonly Owed[] {
  if (entry.state !== "child" || !isWide(nodeAt(program, entry.node).def)) return [];
  return [{ kind: "pause-slice", key: `pause/${entry.node}/${entry.index}`, entry }];
}

/** What `next` owes and `previous` did not, both seen at one instant. */
export function newlyOwed(next: Run, previous: Run, program: Program, nowMs: number): readonly Owed[] {
  const sent = owed(previous, program, nowMs).filter((each) => !hasWaited(each, previous, nowMs));
  const before = new Set(sent.map((each) => each.key));
  return owed(next, program, nowMs).filter((each) => !before.has(each.key));
}

/** A task whose delay no message could carry waited for the row's due: whoever comes first after that sends it. */
function hasWaited(each: Owed, previous: Run, nowMs: number): boolean {
  const { due } = previous;
  return each.kind === "task" && due?.kind === "at" && due.atMs <= nowMs && due.atMs <= each.entry.sinceMs;
}

function owedFor(entry: Active, run: Run, program: Program, nowMs: number): readonly Owed[] {
  const name = `${entry.node}/${entry.index}/${entry.attempt}/${entry.sends}`;
  switch (entry.state) {
    case "task": {
      const delayMs = Math.max(0, entry.sinceMs - nowMs);
      if (delayMs > fixed.delayMsMax) return [];
      const group = stepBodyOf(nodeAt(program, entry.node).def)?.group ?? "default";
      return [{ kind: "task", key: `task/${name}`, entry, group, delayMs }];
    }
    case "sleep":
    case "signal":
    case "gate": {
      const delayMs = entry.untilMs - nowMs;
      const isSoon = delayMs > 0 && delayMs <= fixed.delayMsMax;
      const events = entry.state === "gate" ? gateEvent(entry, run, program, nowMs) : [];
      return isSoon ? [{ kind: "timer", key: `timer/${name}/${entry.untilMs}`, entry, delayMs }, ...events] : events;
    }
    case "child":
      return [{ kind: "start-child", key: `start/${name}`, entry }];
    case "unwanted":
      return [{ kind: "cancel-child", key: `cancel/${name}/${isLive(run)}`, entry }];
    default:
      return [];
  }
}
