import { attemptAttributes } from "../../../lib/core/attempt-format.ts";
import { mailAttributes } from "../../../lib/core/mail-format.ts";
import { stepBodyOf } from "../../../lib/core/program.ts";
import { type Active, isLive, isSettled, type Run } from "../../../lib/core/run.ts";
import type { Checker, Scene } from "./checker.ts";

const minuteMs = 60_000;
/** Longest that fair weather may leave anything overdue: the watchdog's longest interval, twice, and its functions' time. */
const overdueMsMax = 60 * minuteMs;

/**
 * Invariant 4: every run that owes something has a due, no later than what it waits for wants; so has mail, and a person's decision;
 * and in fair weather nothing stays overdue.
 */
export function dues({ world, programs }: Scene): Checker {
  /** Clocks that write dues are not the one that reads them. */
  const apartMs = 2 * world.profile.skewMs + minuteMs;
  let fairSinceMs: number | undefined;

  /** The latest instant at which somebody must look at it again; written down from DESIGN's section 6, not from the code. */
  function latestMs(run: Run, entry: Active, nowMs: number): number {
    const def = programs.get(run.definitionHash)?.nodes[entry.node]?.def;
    const body = def && stepBodyOf(def);
    const leaseMs = (body?.heartbeatMs ?? body?.timeoutMs ?? 0) + 5000;
    switch (entry.state) {
      case "sleep":
      case "signal":
      case "gate":
        return run.isPaused || entry.untilMs === 0 ? Number.POSITIVE_INFINITY : Math.max(entry.untilMs, nowMs) + 5000;
      case "held":
        return entry.untilMs + minuteMs;
      case "task": {
        // what was claimed is looked at when its lease ends, which heartbeats, and what goes on outside, put off
        const outsideMs = def?.kind === "external" ? def.completeWithinMs + def.timeoutMs : (body?.timeoutMs ?? 0);
        return run.isPaused
          ? Number.POSITIVE_INFINITY
          : Math.max(nowMs, entry.sinceMs) + 15 * minuteMs + leaseMs + outsideMs;
      }
      default:
        return nowMs + 15 * minuteMs;
    }
  }

  return {
    onCommit({ is, was, atMs, write }) {
      if (!is) return;
      const { pk } = write.key;
      if (!isLive(is)) {
        const isOwing = is.hasParent || is.active.some((entry) => entry.state === "unwanted");
        const hasJustEnded = was === undefined || isLive(was);
        if (hasJustEnded && isOwing && is.due?.kind !== "at")
          world.violate(4, `${pk} ended owing something, and has no due`);
        return;
      }
      if (is.isParked) {
        if (is.due?.kind !== "parked") world.violate(4, `${pk} is parked where no deploy finds it`);
        return;
      }
      if (is.due?.kind !== "at") return world.violate(4, `${pk} is live and has no due`);
      const wanted = Math.min(
        ...is.active.map((entry) => latestMs(is, entry, atMs)),
        atMs + 7 * 86_400_000,
        is.deadlineAtMs,
      );
      if (is.due.atMs > wanted + apartMs)
        world.violate(
          4,
          `${pk} is due ${Math.round((is.due.atMs - wanted) / 1000)} s later than what it waits for: ${JSON.stringify(is.active)}`,
        );
    },
    onChange({ write, before, now }) {
      const { sk, pk } = write.key;
      if (!now) return;
      if (sk.startsWith("STATE#MAIL")) {
        const next = (fields: typeof now | undefined) =>
          Number(fields?.[mailAttributes.signalNext] ?? 0) + Number(fields?.[mailAttributes.commandNext] ?? 0);
        if ((before === undefined || next(now) > next(before)) && now[mailAttributes.dueAtMs] === undefined)
          world.violate(4, `${pk}: mail was appended, and nothing says by when it is looked at`);
      }
      if (
        sk.startsWith("ATT#") &&
        before === undefined &&
        now[attemptAttributes.decision] !== undefined &&
        now[attemptAttributes.dueAtMs] === undefined
      )
        world.violate(4, `${pk}: a decision has no due`);
    },
    onSweep() {
      // where the watchdog waits for messages that are a day late, so does what is due
      if (world.profile.isCarried) return;
      const nowMs = world.timeline.nowMs();
      fairSinceMs ??= nowMs;
      const dueMs = world.dueAtMs() ?? nowMs;
      if (nowMs - Math.max(dueMs, fairSinceMs) > overdueMsMax + apartMs)
        world.violate(
          4,
          `something is overdue for ${Math.round((nowMs - dueMs) / minuteMs)} minutes in fair weather: ${overdueOf(world, nowMs)}`,
        );
    },
  };
}

function overdueOf(world: Scene["world"], nowMs: number): string {
  const late = world.store
    .snapshot()
    .filter((each) => typeof each["d"] === "number" && each["d"] < nowMs && /^[DP]\d/.test(String(each["q"])));
  const runs = [...world.rows.values()].filter((run) => isLive(run) || !isSettled(run));
  return `${late.map((each) => `${each.pk} ${each.sk}`).join(", ")}; ${runs.map((run) => `${run.runId} ${run.phase}`).join(", ")}`;
}
