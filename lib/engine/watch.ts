import type { Envelope } from "../core/envelope.ts";
import { duePartition } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import type { Remaining } from "../ports/received.ts";
import type { Key } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { snapshot } from "./load.ts";
import { message, queues, send } from "./messages.ts";
import { putSent, type Sent } from "./records/strikes.ts";
import { unpark } from "./unpark.ts";

export interface Watched {
  readonly overdue: number;
  /** How long the oldest of them has been overdue; 0 if nothing is. */
  readonly oldestMs: number;
  readonly sent: number;
  /** Parked runs that were woken as this build is new. */
  readonly unparked: number;
  /** Nothing was sent, as what was sent before still waits. */
  readonly isHeld: boolean;
}

const pageMax = 100;

/** What is overdue, and what is parked past its deadline. */
const watched = (["D", "P"] as const).flatMap((kind) =>
  Array.from({ length: fixed.dueShards }, (_, shard) => duePartition.shard(kind, shard)),
);

/**
 * Finds what is overdue, oldest first, shard by shard, and sends each run one wake-up per due value and interval, which doubles.
 * After a deploy it wakes what is parked, too. Bounded a minute, and silent while its own queue is behind: an outage of an hour must not turn into a flood. It decides
 * nothing: whoever receives the wake-up looks at the row. A sweep is metered when it is done, so one that is held back or dies is missed.
 */
export async function watch(engine: Engine, remaining: Remaining): Promise<Watched> {
  if (await engine.queue.isBehind(queues.watch)) {
    engine.metrics.count("watchdog-held");
    return { overdue: 0, oldestMs: 0, sent: 0, unparked: 0, isHeld: true };
  }
  const nowMs = engine.clock.nowMs();
  let overdue = 0;
  let oldestMs = 0;
  let sent = 0;
  for (const partition of watched) {
    let after: string | undefined;
    do {
      if (sent >= engine.limits.sendsMax || remaining() < engine.limits.reserveMs) break;
      const page = await engine.store.find("due", {
        partition,
        upTo: nowMs,
        limit: pageMax,
        ...(after !== undefined && { after }),
      });
      overdue += page.items.length;
      for (const { at } of page.items) oldestMs = Math.max(oldestMs, nowMs - at);
      sent += await wakeAll(engine, page.items, nowMs, engine.limits.sendsMax - sent);
      after = page.next;
    } while (after !== undefined);
  }
  const unparked = await unpark(engine, remaining, engine.limits.sendsMax - sent);
  engine.metrics.count("watchdog-overdue", overdue);
  engine.metrics.count("watchdog-overdue-age-ms", oldestMs);
  engine.metrics.count("watchdog-sends", sent + unparked);
  engine.metrics.count("watchdog-sweeps");
  return { overdue, oldestMs, sent, unparked, isHeld: false };
}

type Candidate = Key & { readonly at: number };

/** One wake-up per run: its row, its mailbox and its decisions are due side by side. */
async function wakeAll(engine: Engine, candidates: readonly Candidate[], nowMs: number, max: number): Promise<number> {
  const byRun = new Map<string, Candidate>();
  for (const each of candidates) if (!byRun.has(each.pk)) byRun.set(each.pk, each);
  let sent = 0;
  for (const candidate of byRun.values()) {
    if (sent >= max) break;
    if (await wake(engine, candidate, nowMs)) sent += 1;
  }
  return sent;
}

/** The index only finds candidates: what was sent for this very due is remembered beside the strikes. */
async function wake(engine: Engine, candidate: Candidate, nowMs: number): Promise<boolean> {
  const [tenant = "", runId = ""] = candidate.pk.split("#");
  const seen = await snapshot(engine, { tenant, runId });
  const before = seen?.sent;
  const isSame = before?.dueAtMs === candidate.at;
  if (before && isSame && nowMs < before.atMs + before.intervalMs) return false;
  const next: Sent = {
    dueAtMs: candidate.at,
    atMs: nowMs,
    intervalMs:
      before && isSame
        ? Math.min(before.intervalMs * 2, engine.limits.watchIntervalMsMax)
        : engine.limits.watchIntervalMs,
  };
  const envelope: Envelope = {
    tenant,
    runId,
    hints: [],
    isAll: false,
    why: "watchdog",
    requeues: 0,
    requeuesAtSeq: 0,
    sk: candidate.sk,
    ...(seen && { runUid: seen.owner.runUid }),
  };
  await send(engine, [
    message(queues.watch, envelope, `${seen?.owner.runUid ?? runId}:${candidate.at}:watchdog-${nowMs}`),
  ]);
  if (seen) {
    const expiresAtS = Math.ceil((nowMs + engine.limits.deadlineMsMax) / 1000);
    await engine.store.write(putSent(seen.owner, next, seen.hasStrikesRecord, expiresAtS));
  }
  return true;
}
