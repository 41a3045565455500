import { partitionOf } from "../core/keys.ts";
import type { HandedBack, Received, Remaining } from "../ports/received.ts";
import { advance } from "./advance.ts";
import type { Engine } from "./engine.ts";
import { queues } from "./messages.ts";
import { type Processed, type Read, readMessage, withStrikes } from "./process.ts";
import { merged, noWork, type Processing, processingOf } from "./processing.ts";
import { tracing } from "./tracing.ts";

/** Runs that one batch moves at once. */
const parallelMax = 10;

/**
 * Consumes wake-ups. Messages for one run are one processing, so a batch never races against itself; a message that is received
 * again is processed alone, after all others, as it may be what its neighbours died of. Gives the ids that are handed back.
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
  const rounds = roundsOf(read);
  for (const [number, round] of rounds.entries()) {
    if (remaining() < engine.limits.reserveMs) {
      // no time left to begin these: they are handed back untouched
      const untouched = rounds.slice(number).flat(2);
      return [...handedBack, ...untouched.map(({ received }) => received.id)];
    }
    const results = await Promise.all(
      round.map((group) => processGroup(tracing(engine, group[0]?.received), group, remaining, queue)),
    );
    results.forEach((result, at) => {
      if (result === "back") handedBack.push(...(round[at] ?? []).map(({ received }) => received.id));
    });
  }
  return handedBack;
}

type Envelope = Extract<Read, { kind: "envelope" }>;

/**
 * Groups that are processed at once, round after round. What is received again has a round of its own: it counts a strike that
 * only its own end removes, and a neighbour that kills the function must find no strike but its own.
 */
function roundsOf(read: readonly Read[]): readonly (readonly (readonly Envelope[])[])[] {
  const envelopes = read.filter((each) => each.kind === "envelope");
  const groups = [
    ...Map.groupBy(
      envelopes.filter(({ received }) => received.receiveCount === 1),
      ({ envelope }) => partitionOf(envelope.tenant, envelope.runId),
    ).values(),
  ];
  const rounds = Array.from({ length: Math.ceil(groups.length / parallelMax) }, (_, at) =>
    groups.slice(at * parallelMax, (at + 1) * parallelMax),
  );
  return [...rounds, ...envelopes.filter(({ received }) => received.receiveCount > 1).map((again) => [[again]])];
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
