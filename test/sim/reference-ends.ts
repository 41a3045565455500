import { nodeState } from "../../lib/core/run.ts";
import type { Known } from "./reference.ts";
import { mayFailWith } from "./reference-failures.ts";

/** Ends that undo nothing. */
const abrupt = new Set(["stuck", "livelock", "row-too-big", "budget"]);

/** What is wrong with how a run ended as a whole: its status, and what was undone of what was done. */
export function statusFault(known: Known): string | undefined {
  return phaseFault(known) ?? undoFault(known);
}

function phaseFault({ run, program, states, scene }: Known): string | undefined {
  const commands = scene.people.record.commands.filter((each) => each.runId === run.runId);
  const has = (kind: string) => commands.some((each) => each.kind === kind);
  const failing = program.nodes.filter(
    ({ def }) => def.compensates === undefined && states.get(def.name) === "failed" && def.onFailure === undefined,
  );
  const { code = "" } = run.reason ?? {};
  switch (run.phase) {
    case "succeeded":
      return failing.length > 0 ? `it succeeded, and ${failing[0]?.def.name} failed` : undefined;
    case "cancelled":
      return has("cancel") || run.depth > 0 ? undefined : "it was cancelled by nobody";
    case "terminated":
      return has("terminate") || run.depth > 0 ? undefined : "it was terminated by nobody";
    case "failed": {
      if (abrupt.has(code)) return undefined;
      if (code === "deadline") return scene.people.record.deadlines.size > 0 ? undefined : "it had no deadline";
      if (failing.length === 0) return `it failed (${code}: ${run.reason?.message}), and no node did`;
      const isExplained = run.isUncompensated || failing.some(({ def }) => mayFailWith(scene, def, code));
      return isExplained ? undefined : `it failed as ${code} (${run.reason?.message}), which nothing made it`;
    }
    default:
      return `it has not ended: ${run.phase}`;
  }
}

/** What was done and can be undone is undone if the run came to no good end, and only then; or the run says that it is not. */
function undoFault({ run, program, states }: Known): string | undefined {
  for (const { def, position, compensation } of program.nodes) {
    if (compensation === undefined) continue;
    const [state, undone] = [states.get(def.name), nodeState(run.nodes, compensation)];
    const isRival = def.oneOf !== undefined && state === "skipped";
    if (isRival) continue;
    // of a map without any item that was done nothing is to be undone, and that is known at once
    if (run.phase === "succeeded" && (undone === "done" || undone === "failed"))
      return `${def.name} was undone (${undone}), and all was well`;
    if (undone === "done" && state !== "done" && !(state === "failed" && def.kind === "map"))
      return `${def.name} was undone, and never done (${state})`;
    const isLeft = state === "done" && undone !== "done" && run.phase !== "succeeded";
    if (isLeft && !run.isUncompensated) return `${def.name} was not undone (${undone}), and the run does not say so`;
    void position;
  }
  return undefined;
}
