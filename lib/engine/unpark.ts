import { duePartition } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import type { Remaining } from "../ports/received.ts";
import type { Key } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { message, queues, send } from "./messages.ts";
import { buildKey, putWaking, type Waking, wakingFrom } from "./records/build.ts";

const pageMax = 100;

/**
 * Wakes what is parked, once a build: another one may have brought the handler, and so may an older one that is rolled back to.
 * At most `sendsMax` runs a call; the next call goes on from there. Gives how many were woken. The coordinator tries each again;
 * what still does not fit parks again and costs no try. A call that dies is made up by the next, so a run may be woken twice.
 */
export async function unpark(engine: Engine, remaining: Remaining, sendsMax: number): Promise<number> {
  const [record] = await engine.store.read([buildKey], { isConsistent: true });
  const seen = wakingFrom(record);
  const start: Waking = seen?.build === engine.build ? seen : { build: engine.build, shards: 0 };
  let at = start;
  let woken = 0;
  while (at.shards < fixed.dueShards && woken < sendsMax && remaining() >= engine.limits.reserveMs) {
    const page = await engine.store.find("due", {
      partition: duePartition.shard("P", at.shards),
      limit: Math.min(pageMax, sendsMax - woken),
      ...(at.after !== undefined && { after: at.after }),
    });
    await send(engine, page.items.map(wakeUp));
    woken += page.items.length;
    at =
      page.next === undefined
        ? { build: engine.build, shards: at.shards + 1 }
        : { build: engine.build, shards: at.shards, after: page.next };
  }
  if (at !== start) await engine.store.write(putWaking(at, seen), { returns: "nothing" });
  return woken;
}

function wakeUp({ pk }: Key) {
  const [tenant = "", runId = ""] = pk.split("#");
  return message(
    queues.wake("standard"),
    { tenant, runId, hints: [], isAll: true, why: "unpark", requeues: 0, requeuesAtSeq: 0 },
    `${pk}:unpark`,
  );
}
