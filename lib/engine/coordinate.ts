import { partitionOf } from "../core/keys.ts";
import type { HandedBack, Received, Remaining } from "../ports/received.ts";
import { advance } from "./advance.ts";
import type { Engine } from "./engine.ts";
import { queues } from "./messages.ts";
import { type Processed, type Read, readMessage, withStrikes } from "./process.ts";
import { merged, noWork, type Processing, processingOf } from "./processing.ts";

/** Runs that one batch moves at once. */
const parallelMax = 10;

/**
 * Consumes wake-ups. Messages for one run are one processing, so a batch never races against itself; a message that is received
 * again is processed alone, as it may be what its neighbours died of. Gives the ids that are handed back.
 */
export async function coordinate(
  engine: Engine,
  batch: readonly Received[],
  remaining: Remaining,
  queue: string = queues.wake("standard"),
): Promise<HandedBack> {
  const read = await Promise.all(batch.map((received) => readMessage(engine, received, queue)));
  const handedBack = read.flatMap((each) =>
    each.kind === "dealt-with" && each.result === "back" ? [each.received.id] : [],
  );
  const groups = groupsOf(read);
  for (let at = 0; at < groups.length; at += parallelMax) {
    if (remaining() < engine.limits.reserveMs) {
      // no time left to begin these: they are handed back untouched
      return [...handedBack, ...groups.slice(at).flatMap((group) => group.map(({ received }) => received.id))];
    }
    const results = await Promise.all(
      groups.slice(at, at + parallelMax).map((group) => processGroup(engine, group, remaining, queue)),
    );
    results.forEach((result, offset) => {
      if (result === "back") handedBack.push(...(groups[at + offset] ?? []).map(({ received }) => received.id));
    });
  }
  return handedBack;
}

type Envelope = Extract<Read, { kind: "envelope" }>;

function groupsOf(read: readonly Read[]): readonly (readonly Envelope[])[] {
  const groups = new Map<string, Envelope[]>();
  for (const each of read) {
    if (each.kind !== "envelope") continue;
    const { envelope, received } = each;
    const name = received.receiveCount > 1 ? `again ${received.id}` : partitionOf(envelope.tenant, envelope.runId);
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  return [...groups.values()];
}

async function processGroup(
  engine: Engine,
  group: readonly Envelope[],
  remaining: Remaining,
  queue: string,
): Promise<Processed> {
  const processing = merged(
    group.map(({ envelope, received }) => processingOf(engine, envelope, received.receiveCount, remaining)),
  );
  const [first] = group;
  if (!first) return "done";
  meterAge(engine, processing);
  return await withStrikes(engine, processing, first.envelope, first.received.receiveCount, queue, async () => {
    const advanced = await advance(engine, processing, noWork);
    return advanced.kind === "done" ? { isAll: advanced.loaded.isAll, seen: advanced.loaded } : { isAll: false };
  });
}

function meterAge(engine: Engine, processing: Processing): void {
  if (processing.firstAtMs !== undefined)
    engine.metrics.count("wake-age-ms", Math.max(0, engine.clock.nowMs() - processing.firstAtMs));
}
