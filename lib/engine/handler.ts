import { attemptAttributes } from "../core/attempt-format.ts";
import { Fault, type FaultData } from "../core/faults.ts";
import type { Outcome } from "../core/inputs.ts";
import type { Json } from "../core/json.ts";
import { leaseMs } from "../core/nodes/lease.ts";
import { type ProgramNode, stepBodyOf } from "../core/program.ts";
import type { StepContext } from "../core/registry.ts";
import { decodeRun } from "../core/row-format.ts";
import { type Active, isLive, type Run } from "../core/run.ts";
import type { Right } from "./attempt.ts";
import { tokenText } from "./completion-token.ts";
import type { Engine } from "./engine.ts";
import { snapshot } from "./load.ts";
import { extendLease } from "./records/attempt.ts";
import { stateKey } from "./records/state.ts";
import { isTransient } from "./strike.ts";

export type Handled =
  | { readonly kind: "ok"; readonly value: Json }
  | Extract<Outcome, { kind: "failed" | "timed-out" }>;

/**
 * Calls the user's function under its time-out. What it throws becomes the attempt's end; what the platform throws while a
 * heartbeat is sent does not. A function that ignores `signal` goes on in the background: its result is not looked at.
 */
export async function runHandler(
  engine: Engine,
  run: Run,
  node: ProgramNode,
  entry: Active,
  right: Right,
  call: (context: StepContext) => Promise<Json>,
): Promise<Handled> {
  const body = stepBodyOf(node.def);
  if (!body) throw new RangeError(`${node.def.name} is no step`);
  const controller = new AbortController();
  const timeoutMs = Math.max(1, Math.min(body.timeoutMs, right.remaining() - engine.limits.reserveMs));
  const context: StepContext = {
    tenant: run.tenant,
    runId: run.runId,
    node: node.def.name,
    index: entry.index,
    attempt: entry.attempt - entry.lost,
    idempotencyKey: `${run.runUid}-${entry.node}-${entry.index}`,
    signal: controller.signal,
    token: node.def.kind === "external" ? tokenText(run, entry, right.token) : "",
    heartbeat: async () => {
      // a beat that the platform refuses is a beat missed, not the step's failure: the lease has slack for it
      if (body.heartbeatMs === undefined || right.isInline) return;
      try {
        await heartbeat(engine, run, node, entry, right, leaseMs(body, engine.limits), controller);
      } catch (error) {
        if (!isTransient(error)) throw error;
      }
    },
  };
  const timer = new AbortController();
  const deadline = engine.clock.sleep(timeoutMs, timer.signal).then(
    () => {
      controller.abort(new Fault("timed-out", `the attempt took longer than ${timeoutMs} ms`));
      return { kind: "timed-out" } as const;
    },
    () => undefined,
  );
  const result = Promise.resolve()
    .then(() => call(context))
    .then((value): Handled => ({ kind: "ok", value }), failure);
  const first = await Promise.race([result, deadline]);
  timer.abort("over");
  return first ?? (await result);
}

function failure(error: unknown): Handled {
  if (!Fault.is(error))
    return {
      kind: "failed",
      fault: { code: "handler-failed", message: error instanceof Error ? error.message : String(error) },
    };
  const fault: FaultData = error.data;
  const { afterMs } = error.details;
  return { kind: "failed", fault, ...(typeof afterMs === "number" && { afterMs }) };
}

/**
 * Extends the lease and looks whether the run still wants the work. A step with a compensation is never told to stop: what it did
 * must be known to be undone.
 */
async function heartbeat(
  engine: Engine,
  run: Run,
  node: ProgramNode,
  entry: Active,
  right: Right,
  extensionMs: number,
  controller: AbortController,
): Promise<void> {
  const written = await engine.store.write(
    extendLease(run, entry, { token: right.token, untilMs: engine.clock.nowMs() + extensionMs }),
    { returns: "nothing" },
  );
  const isLost =
    written.kind === "absent" ||
    (written.kind === "refused" &&
      (written.now[attemptAttributes.token] !== right.token || written.now[attemptAttributes.outcome] !== undefined));
  if (isLost) return controller.abort(new Fault("lost", "the lease was lost: another attempt may have begun"));
  const seen = await snapshot(engine, run);
  const now = seen && decodeRun(stateKey(run), seen.row);
  const isWanted =
    now !== undefined &&
    now.runUid === run.runUid &&
    isLive(now) &&
    now.active.some((each) => each.node === entry.node && each.index === entry.index && each.attempt === entry.attempt);
  if (!isWanted && !node.isUndone) controller.abort(new Fault("cancelled", "the run no longer wants this result"));
}
