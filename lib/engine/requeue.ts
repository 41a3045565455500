import type { Envelope } from "../core/envelope.ts";
import type { Outcome } from "../core/inputs.ts";
import { attemptName } from "../core/keys.ts";
import { isLive } from "../core/run.ts";
import type { Advanced } from "./advance.ts";
import type { Engine } from "./engine.ts";
import { forceFail } from "./force-fail.ts";
import { type Loaded, snapshot } from "./load.ts";
import { envelope, message, queues, send, wakeUp } from "./messages.ts";
import type { Processing, Work } from "./processing.ts";
import { endUnclaimed } from "./records/attempt.ts";

/**
 * Whole seconds to wait before requeue n, as SQS takes them, and never without spread: what begins as 100 ms * 2^n, capped at
 * 10 s, would otherwise be the same second for all.
 */
export function requeueDelaySeconds(n: number, fraction: number): number {
  const spread = Math.max(1, Math.min(9, Math.floor(0.1 * 2 ** n)));
  return 1 + Math.floor(fraction * (spread + 1));
}

/**
 * Gives the run up for now: the same hints, as a new message, later. Requeues are counted only while the run does not move;
 * after the last one it is ended, as nobody could commit to it and nobody else did. Only clear conflicts are evidence of that: a
 * table that gives no answer, or a function without time, says nothing about the run.
 */
export async function requeue(
  engine: Engine,
  processing: Processing,
  work: Work,
  loaded: Loaded | undefined,
  options: { readonly isEvidence: boolean },
): Promise<Advanced> {
  const seen = await snapshot(engine, processing);
  if (!seen) return { kind: "missing" };
  const hasMoved = seen.owner.seq !== processing.requeuesAtSeq;
  const requeues = processing.requeues === 0 || hasMoved ? 1 : processing.requeues + 1;
  const doubts = (requeues === 1 ? 0 : processing.doubts) + (options.isEvidence ? 0 : 1);
  if (options.isEvidence && requeues - doubts > engine.limits.requeuesMax && seen.owner.isLive) {
    const result = await forceFail(engine, seen, "livelock", `${requeues - doubts - 1} requeues without progress`);
    if (result === "ended") return { kind: "force-failed" };
  }
  const hints = new Set([...processing.hints, ...(loaded ? await keepResults(engine, loaded, work) : [])]);
  engine.metrics.count("requeues");
  const taskKey = `${seen.owner.runUid}:${seen.owner.seq}:requeue-${requeues}`;
  engine.log.write("debug", "run.requeued", { runId: processing.runId, requeues, taskKey });
  const run = { ...seen.owner, tier: loaded?.run.tier ?? ("standard" as const), transitionSeq: seen.owner.seq };
  const fields: Partial<Envelope> = {
    hints: [...hints],
    isAll: processing.isPerformAll,
    why: processing.why === "unpark" || processing.why === "timer" ? processing.why : "hint",
    requeues,
    requeuesAtSeq: seen.owner.seq,
    doubts,
    ...(processing.firstAtMs !== undefined && { firstAtMs: processing.firstAtMs }),
  };
  const delayMs = requeueDelaySeconds(requeues, engine.random.fraction()) * 1000;
  const task = untaken(work, loaded);
  await send(engine, [
    task
      ? message(queues.task(task.group), envelope(run, { ...fields, task: task.id }), taskKey, delayMs)
      : wakeUp(run, fields, delayMs, taskKey),
  ]);
  return { kind: "requeued" };
}

/** The inline task that was about to be taken, and was not: its message is the last that carries it, and no coordinator would run it. */
function untaken({ held }: Work, loaded: Loaded | undefined) {
  if (!held?.claim) return undefined;
  const { node, index, attempt } = held.claim;
  const entry = loaded?.run.active.find(
    (each) => each.node === node && each.index === index && each.attempt === attempt,
  );
  if (loaded && entry?.state !== "task") return undefined;
  return { group: held.group, id: { node, index, attempt, sends: entry?.sends ?? 1 } };
}

/**
 * An inline holder that lost all its commits keeps its results as attempts, write-once, so that nobody who finds its lease dead
 * runs the step again. Gives the hints under which they are found.
 */
async function keepResults(engine: Engine, loaded: Loaded, work: Work): Promise<readonly string[]> {
  const hints: string[] = [];
  for (const result of work.held?.results ?? []) {
    const entry = loaded.run.active.find((each) => each.node === result.node && each.attempt === result.attempt);
    if (!isLive(loaded.run) || entry?.state !== "held" || entry.token !== work.held?.token) continue;
    const { outcome } = result;
    const end: Outcome = outcome.kind === "ok" ? { kind: "ok", facts: outcome.facts } : outcome;
    const output =
      outcome.kind !== "ok"
        ? undefined
        : outcome.output.kind === "value"
          ? { kind: "value" as const, text: outcome.output.text }
          : { kind: "payload" as const, token: outcome.output.text };
    const write = endUnclaimed(loaded.run, result, {
      outcome: end,
      output,
      by: entry.token,
      nowMs: result.endedAtMs,
      startedAtMs: result.startedAtMs,
      retentionMs: engine.limits.retentionMs,
    });
    // nobody after this process has the result, so a lost request is asked again
    for (let again = 0; again < 4; again++) if ((await engine.store.write(write)).kind !== "unclear") break;
    hints.push(attemptName(result.node, result.index, result.attempt));
  }
  return hints;
}
