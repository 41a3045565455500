import type { Run } from "../core/run.ts";
import type { RunEvent } from "../core/run-events.ts";
import type { Engine } from "./engine.ts";
import { send, wakeUp } from "./messages.ts";

/**
 * Publishes what a run's state deserves, where the installation has a bus. What the bus did not take is carried on by a wake-up of its
 * own, so that neither the run nor whoever waits for it waits for the bus, and no message is spent; what it will never take is
 * given up, metered. False: something is still owed.
 */
export async function publish(engine: Engine, run: Run, events: readonly RunEvent[]): Promise<boolean> {
  if (engine.events === undefined || events.length === 0) return true;
  const sent = await engine.events.send(events);
  let isOwing = false;
  for (const [at, each] of sent.entries()) {
    if (each.kind === "sent") engine.metrics.count("events-published");
    else {
      const isForGood = each.fault.code === "refused";
      isOwing ||= !isForGood;
      engine.metrics.count(isForGood ? "events-refused" : "events-failed");
      engine.log.write(isForGood ? "error" : "warn", isForGood ? "event.refused" : "event.failed", {
        runId: run.runId,
        tenant: run.tenant,
        id: events[at]?.id,
        code: each.fault.code,
        reason: each.fault.message,
      });
    }
  }
  if (isOwing)
    await send(engine, [
      wakeUp(run, { isAll: true }, engine.limits.owedGraceMs, `${run.runUid}:${run.transitionSeq}:events`),
    ]);
  return !isOwing;
}
