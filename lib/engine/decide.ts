import { attemptAttributes, outcomeFrom } from "../core/attempt-format.ts";
import { Fault } from "../core/faults.ts";
import type { Decision } from "../core/inputs.ts";
import { attemptName } from "../core/keys.ts";
import { isLive, type Run } from "../core/run.ts";
import type { Fields } from "../ports.ts";
import type { Engine, RunRef } from "./engine.ts";
import { loadRun } from "./load.ts";
import { send, wakeUp } from "./messages.ts";
import { endUnclaimed } from "./records/attempt.ts";

export interface DecideRequest extends Decision {
  readonly gate: string;
  /** The same person's repeat: answered like the first. */
  readonly id?: string;
}

/**
 * Decides at a gate. The first decision wins, a time-out among them, and is never decided again by a retry: whoever comes second
 * gets `gate-decided` with the winner. Throws `gate-not-open`, `run-not-found`, `run-ended`.
 */
export async function decide(
  engine: Engine,
  ref: RunRef,
  request: DecideRequest,
): Promise<{ readonly isRepeat: boolean }> {
  const { run, program } = await loadRun(engine, ref);
  const position = program.positions.get(request.gate);
  const entry = run.active.find((each) => each.node === position && each.state === "gate");
  if (!isLive(run)) throw new Fault("run-ended", `run "${run.runId}" has ended: ${run.phase}`, { status: run.phase });
  if (!entry)
    throw new Fault(
      "gate-not-open",
      position === undefined
        ? `workflow "${run.workflow}" has no gate "${request.gate}"`
        : `gate "${request.gate}" is not open`,
    );
  const { gate, id, ...decision } = request;
  const by = id === undefined ? engine.random.token() : `decision:${id}`;
  const nowMs = engine.clock.nowMs();
  const write = endUnclaimed(run, entry, {
    outcome: { kind: "decided", decision },
    by,
    nowMs,
    retentionMs: engine.limits.retentionMs,
    startedAtMs: entry.sinceMs,
    dueAtMs: nowMs + engine.limits.owedGraceMs,
  });
  const written = await engine.store.write(write, { returns: "nothing" });
  if (written.kind === "unclear")
    throw new Fault("unavailable", "the decision may not have been stored: repeat the call with the same id");
  const isRepeat = written.kind === "refused" && written.now[attemptAttributes.endedBy] === by;
  if (written.kind === "refused" && !isRepeat)
    throw new Fault("gate-decided", `gate "${gate}" was decided already`, { winner: winnerOf(written.now) });
  await send(engine, [wakeUp(run, { hints: [attemptName(entry.node, entry.index, entry.attempt)] })]);
  if (!isRepeat) engine.metrics.count("gates-decided");
  await lookAgain(engine, run);
  return { isRepeat };
}

/** How the gate was decided before. */
function winnerOf(record: Fields) {
  const outcome = outcomeFrom(record);
  return outcome?.kind === "decided" ? outcome.decision : { approved: false, timedOut: outcome?.kind === "timed-out" };
}

/** A run that was terminated meanwhile does not heed the decision: say so. */
async function lookAgain(engine: Engine, run: Run): Promise<void> {
  const { run: now } = await loadRun(engine, run);
  if (
    now.runUid !== run.runUid ||
    (!isLive(now) && (now.phase === "terminated" || now.reason?.code === "stuck" || now.reason?.code === "livelock"))
  ) {
    throw new Fault("run-ended", `run "${run.runId}" ended before it could take the decision: ${now.phase}`, {
      status: now.phase,
    });
  }
}
