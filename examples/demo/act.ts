import { nodeAt, type Program } from "../../lib/core/program.ts";
import { type Run, statusOf } from "../../lib/core/run.ts";
import { cancel, pause, resume, signal, terminate } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import type { Engine, RunRef } from "../../lib/engine/engine.ts";
import { Fault } from "../../lib/index.ts";
import type { Action } from "./run-file.ts";

/** Whether the time for an action has come, as far as the run decides it. */
export function isTimeFor({ when }: Action, run: Run, program: Program): boolean {
  if (when === undefined) return true;
  if ("status" in when) return statusOf(run) === when.status;
  const isIt = ({ node }: { readonly node: number }) => nodeAt(program, node).def.name === when.open;
  return run.active.some(isIt) || run.maps.some(isIt);
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
