import { utf8 } from "../core/bytes.ts";
import { factsOf, outputOf } from "../core/facts.ts";
import { Fault } from "../core/faults.ts";
import type { CommandKind, Facts, Signal } from "../core/inputs.ts";
import type { Json } from "../core/json.ts";
import { sk } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import { commandText, signalText } from "../core/mail-format.ts";
import { type Program, waitsFor } from "../core/program.ts";
import type { FactValue, Run } from "../core/run.ts";
import type { Engine, RunRef } from "./engine.ts";
import { loadRun } from "./load.ts";
import { type Appended, append } from "./mailbox.ts";
import { storePayload } from "./payloads.ts";

export interface SignalRequest {
  readonly signal: string;
  readonly payload: unknown;
  /** Makes a repeat harmless; otherwise every call is a signal of its own. */
  readonly id?: string;
}

/**
 * Sends a signal to a run. It is kept until a node waits for it, and reported undelivered if none ever does. Throws
 * `run-not-found`, `run-ended`, `bad-input` (unknown signal, or a payload that does not fit), `mailbox-full`.
 */
export async function signal(engine: Engine, ref: RunRef, request: SignalRequest): Promise<Appended> {
  const { run, program } = await loadRun(engine, ref);
  const value = await parsed(engine, run, program, request);
  const atMs = engine.clock.nowMs();
  const small: Omit<Signal, "seq"> = { name: request.signal, payload: { kind: "value", value }, atMs };
  let text = signalText(small);
  if (utf8(text).length > fixed.mailEntryBytesMax) {
    const token = engine.random.token();
    await storePayload(engine, run, sk.signal(run.runUid, token), JSON.stringify(value));
    text = signalText({
      ...small,
      payload: { kind: "payload", token, facts: signalFacts(program, request.signal, value) },
    });
  }
  const appended = await append(engine, run, "signals", text, request.id ?? engine.random.token());
  engine.metrics.count("signals-appended");
  return appended;
}

/** The payload as this build's workflow checks it, or as what is kept does where the workflow does not wait for it any more. */
async function parsed({ registry }: Engine, run: Run, program: Program, request: SignalRequest): Promise<Json> {
  const { signal, payload } = request;
  const workflow = registry.byHash(run.definitionHash) ?? registry.workflow(run.workflow);
  const isWanted = waitsFor(workflow?.definition, signal);
  const kept = registry.keptSignals?.get(signal);
  if (kept && !isWanted) return await kept(payload);
  if (workflow && (isWanted || !waitsFor(program.definition, signal)))
    return await workflow.parseSignal(signal, payload);
  const mend = `deploy a build that waits for signal "${signal}" there, or lists it under \`keep\``;
  if (!workflow) throw new Fault("unknown-workflow", `this process does not know workflow "${run.workflow}": ${mend}`);
  throw new Fault(
    "bad-input",
    `workflow "${run.workflow}" waits for signal "${signal}" no more, and this run does: ${mend}`,
  );
}

/** Facts of every node that could take this signal: whoever takes it later never sees the payload. */
function signalFacts(program: Program, name: string, value: Json): Facts {
  const facts = new Map<number, FactValue>();
  program.nodes.forEach(({ def, position }) => {
    if (def.kind !== "signal" || def.signal !== name) return;
    for (const [number, fact] of factsOf(program, position, outputOf(def, value))) facts.set(number, fact);
  });
  return facts;
}

export interface CommandRequest {
  readonly kind: CommandKind;
  readonly by: string;
  readonly reason?: string;
  readonly id?: string;
}

/** Sends a command to a run: taken in order, at its next tick, whatever signals stand before it. Throws as `signal` does. */
export async function command(engine: Engine, ref: RunRef, request: CommandRequest): Promise<Appended> {
  const { run } = await loadRun(engine, ref);
  const by = request.by.slice(0, 64);
  const text = commandText({ kind: request.kind, by, reason: (request.reason ?? "").slice(0, 80) });
  return await append(engine, run, "commands", text, request.id ?? engine.random.token());
}

/** Stops a run: what has not begun is closed, what runs and can be undone is awaited, then everything is undone. */
export const cancel = (engine: Engine, ref: RunRef, by: string, reason?: string) =>
  command(engine, ref, { kind: "cancel", by, ...(reason !== undefined && { reason }) });

/** Ends a run at its next tick, undoing nothing. */
export const terminate = (engine: Engine, ref: RunRef, by: string, reason?: string) =>
  command(engine, ref, { kind: "terminate", by, ...(reason !== undefined && { reason }) });

/** Dispatches nothing more until `resume`; what runs may end, and mail is taken in. */
export const pause = (engine: Engine, ref: RunRef, by: string, reason?: string) =>
  command(engine, ref, { kind: "pause", by, ...(reason !== undefined && { reason }) });

/** Lifts a pause. */
export const resume = (engine: Engine, ref: RunRef, by: string, reason?: string) =>
  command(engine, ref, { kind: "resume", by, ...(reason !== undefined && { reason }) });
