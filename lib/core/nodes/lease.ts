import type { WorkBody } from "../definition.ts";
import type { Attempt, Ending } from "../inputs.ts";
import type { Limits } from "../limits.ts";
import type { Active } from "../run.ts";

/** A worker's right to one attempt lasts this long: the step's own bound, and slack for two clocks that differ. */
export function leaseMs(body: WorkBody, limits: Limits): number {
  return (body.heartbeatMs ?? body.timeoutMs) + limits.clockSlackMs;
}

/** A claim whose lease has run out: it is closed as lost under the very lease that was seen, so that a heartbeat wins over it. */
export function lostEnding(entry: Active, record: Attempt): Ending {
  const { node, index, attempt } = entry;
  return { kind: "lost", node, index, attempt, token: record.token ?? "", leaseUntilMs: record.leaseUntilMs ?? 0 };
}

/**
 * When an unclaimed task is looked at again: by then a healthy worker would have taken it, and its lease would be over; or its
 * time to be claimed is. The pause doubles with the sendings, and with the age of one that waits in a long queue: every look of
 * the watchdog performs all that is owed, and must not fill that queue with copies.
 */
export function lookAgainMs(fromMs: number, entry: Active, sends: number, body: WorkBody, limits: Limits): number {
  const bySends = limits.dispatchGraceMs * 2 ** (sends - 1);
  const byAge = sends === entry.sends ? fromMs - entry.sinceMs : 0;
  const grace = Math.min(Math.max(bySends, byAge), limits.dispatchGraceMsMax);
  const untilMs = fromMs + grace + leaseMs(body, limits);
  return body.startWithinMs === undefined ? untilMs : Math.min(untilMs, entry.sinceMs + body.startWithinMs);
}
