import { duePartition } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import type { Remaining } from "../ports/received.ts";
import type { Key } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { message, queues, send } from "./messages.ts";
import { buildKey, putWaking, type Waking, wakingFrom } from "./records/build.ts";

const pageMax = 100;

/**
 * Wakes what is parked when a build is new: another one may have brought the handler, and so may an older one that is rolled back to.
 * Once is not enough: a process of the build before may park a run after that, and a wake-up may be lost. So it goes through all of
 * them again after 15 minutes, 30, an hour, in the end once a day. At most `sendsMax` runs a call; the next call goes on from there.
 * Gives how many were woken. The coordinator tries each again; what still does not fit parks again and costs no try. A call that dies
 * is made up by the next, so a run may be woken twice.
 */
export async function unpark(engine: Engine, remaining: Remaining, sendsMax: number): Promise<number> {
  const [record] = await engine.store.read([buildKey], { isConsistent: true });
  const seen = wakingFrom(record);
  const begun: Waking = { build: engine.build, shards: 0, rounds: 0, roundAtMs: 0 };
  const start = seen?.build === engine.build ? seen : begun;
  let at = isRoundDue(engine, start) ? { ...begun, rounds: start.rounds } : start;
  let woken = 0;
  while (at.shards < fixed.dueShards && woken < sendsMax && remaining() >= engine.limits.reserveMs) {
    const page = await engine.store.find("due", {
      partition: duePartition.shard("P", at.shards),
      limit: Math.min(pageMax, sendsMax - woken),
      ...(at.after !== undefined && { after: at.after }),
    });
    await send(engine, page.items.map(wakeUp));
    woken += page.items.length;
    const { after: _, ...rest } = at;
    at = page.next === undefined ? { ...rest, shards: at.shards + 1 } : { ...rest, after: page.next };
    if (at.shards === fixed.dueShards)
      at = { ...at, rounds: Math.min(at.rounds + 1, 32), roundAtMs: engine.clock.nowMs() };
  }
  if (at !== start) await engine.store.write(putWaking(at, seen), { returns: "nothing" });
  return woken;
}

/** It came to the end, and it is time to look again. */
function isRoundDue({ clock, limits }: Engine, { shards, rounds, roundAtMs }: Waking): boolean {
  if (shards < fixed.dueShards) return false;
  const pauseMs = Math.min(limits.watchIntervalMsMax * 2 ** (rounds - 1), limits.unparkIntervalMsMax);
  return clock.nowMs() >= roundAtMs + pauseMs;
}

function wakeUp({ pk }: Key) {
  const [tenant = "", runId = ""] = pk.split("#");
  return message(
    queues.wake("standard"),
    { tenant, runId, hints: [], isAll: true, why: "unpark", requeues: 0, requeuesAtSeq: 0 },
    `${pk}:unpark`,
  );
}
