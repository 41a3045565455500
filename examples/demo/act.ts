import { nodeState, type Run, statusOf } from "../../lib/core/run.ts";
import { cancel, pause, resume, signal, terminate } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { programFor } from "../../lib/engine/definitions.ts";
import type { Engine, RunRef } from "../../lib/engine/engine.ts";
import { timeline } from "../../lib/engine/inspect.ts";
import { Fault } from "../../lib/index.ts";
import type { Action } from "./run-file.ts";

/** Whether the time for an action has come, as far as the run decides it. Reads more than the row only where it must. */
export async function isTimeFor(engine: Engine, { when }: Action, run: Run): Promise<boolean> {
  const { status = statusOf(run), open, running, done } = when;
  if (status !== statusOf(run)) return false;
  const { positions } = await programFor(engine, run.definitionHash);
  const isIt = (name: string) => (each: { readonly node: number }) => each.node === positions.get(name);
  if (done !== undefined && nodeState(run.nodes, positions.get(done) ?? 0) !== "done") return false;
  const busy = open ?? running;
  if (busy !== undefined && !run.active.some(isIt(busy)) && !run.maps.some(isIt(busy))) return false;
  if (running === undefined) return true;
  const { nodes } = await timeline(engine, run);
  return nodes.some(({ name, attempts }) => name === running && attempts.some(({ state }) => state === "running"));
}

/** Does what a person or a program would do to a run. A refusal that was expected is as good as a success; gives what was wrong. */
export async function act(engine: Engine, ref: RunRef, action: Action): Promise<string | undefined> {
  const wanted = action.refused.join(" or ");
  try {
    await perform(engine, ref, action);
  } catch (error) {
    if (!Fault.is(error)) throw error;
    return action.refused.includes(error.code)
      ? undefined
      : `${nameOf(action)}: refused as ${error.code}: ${error.message}`;
  }
  return wanted === "" ? undefined : `${nameOf(action)}: ${wanted} expected, but it was accepted`;
}

async function perform(engine: Engine, ref: RunRef, action: Action): Promise<void> {
  if ("signal" in action) await signal(engine, ref, { signal: action.signal, payload: action.payload });
  else if ("decide" in action) {
    const { decide: gate, approved, by, comment } = action;
    await decide(engine, ref, { gate, approved, by, ...(comment !== undefined && { comment }) });
  } else if ("cancel" in action) await cancel(engine, ref, action.by, action.cancel);
  else if ("terminate" in action) await terminate(engine, ref, action.by, action.terminate);
  else if ("pause" in action) await pause(engine, ref, action.by, action.pause);
  else await resume(engine, ref, action.by, action.resume);
}

const nameOf = (action: Action): string =>
  "signal" in action
    ? `signal ${action.signal}`
    : "decide" in action
      ? `decision at ${action.decide}`
      : (["cancel", "terminate", "pause", "resume"].find((name) => name in action) ?? "action");
