import { Fault } from "../core/faults.ts";
import { attemptName } from "../core/keys.ts";
import { isLive } from "../core/run.ts";
import type { HandedBack, Received, Remaining } from "../ports/received.ts";
import type { Engine } from "./engine.ts";
import { load, snapshot } from "./load.ts";
import { queues, send, wakeUp } from "./messages.ts";
import { readMessage, withStrikes } from "./process.ts";
import { processingOf } from "./processing.ts";
import { endUnclaimed } from "./records/attempt.ts";
import { tracing } from "./tracing.ts";

/**
 * Consumes tasks that ended in the dead-letter queue: a worker that dies before it can claim would otherwise leave its run waiting
 * for ever. The attempt is closed as lost, write-once, and the run is woken; its budget of lost deliveries decides. A task that was
 * claimed after all has its lease, and only the wake-up is sent.
 */
export async function bury(untraced: Engine, batch: readonly Received[], remaining: Remaining): Promise<HandedBack> {
  const handedBack: string[] = [];
  for (const received of batch) {
    const engine = tracing(untraced, received);
    const read = await readMessage(engine, received, queues.deadTask);
    if (read.kind === "dealt-with") {
      if (read.result === "back") handedBack.push(received.id);
      continue;
    }
    const processing = processingOf(engine, read.envelope, 1, remaining);
    const result = await withStrikes(engine, processing, read.envelope, 1, queues.deadTask, async () => {
      await closeLost(engine, read.envelope);
      return { isAll: false };
    });
    if (result === "back") handedBack.push(received.id);
  }
  return handedBack;
}

async function closeLost(
  engine: Engine,
  envelope: Extract<Awaited<ReturnType<typeof readMessage>>, { kind: "envelope" }>["envelope"],
): Promise<void> {
  const { task } = envelope;
  const seen = await snapshot(engine, envelope);
  if (!seen || !task || (envelope.runUid !== undefined && seen.owner.runUid !== envelope.runUid))
    return engine.metrics.count("runs-missing");
  const { run } = await load(engine, seen, { hints: new Set(), isAll: false });
  const entry = run.active.find(
    (each) => each.node === task.node && each.index === task.index && each.attempt === task.attempt,
  );
  if (!isLive(run)) return;
  if (entry?.state === "task") {
    engine.metrics.count("deliveries-lost");
    const written = await engine.store.write(
      endUnclaimed(run, task, {
        outcome: { kind: "lost", isUnclaimed: true },
        by: engine.random.token(),
        nowMs: engine.clock.nowMs(),
        retentionMs: engine.limits.retentionMs,
      }),
    );
    if (written.kind === "unclear")
      throw new Fault("unavailable", `a lost task may not have been closed: ${written.fault.message}`);
  }
  await send(engine, [wakeUp(run, { hints: [attemptName(task.node, task.index, task.attempt)], isAll: true })]);
}
