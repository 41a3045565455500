import { change, type Draft, transition } from "./draft.ts";
import type { Command } from "./inputs.ts";
import { fixed } from "./limits.ts";
import { beginEnding } from "./nodes/settle.ts";

/** Commands are always taken, in order. Says whether one of them ends the run at once. */
export function takeCommands(draft: Draft): boolean {
  let isTerminated = false;
  for (const command of draft.inputs.mail.commands) {
    if (command.seq < draft.run.mail.commands) continue;
    transition(draft, { mail: { ...draft.run.mail, commands: command.seq + 1 } });
    if (command.kind === "terminate") {
      isTerminated = true;
      draft.run = { ...draft.run, reason: byWhom(command) };
    } else if (command.kind === "cancel") cancel(draft, command);
    else change(draft, { isPaused: command.kind === "pause" });
  }
  return isTerminated;
}

/** A cancel lifts a pause: nobody would ever resume the run. A run that already fails goes on failing. */
function cancel(draft: Draft, command: Command): void {
  if (draft.run.ending) return change(draft, { isPaused: false });
  change(draft, { isPaused: false });
  beginEnding(draft, { ending: "cancelled", phase: "cancelling", reason: byWhom(command) });
}

const byWhom = (command: Command) => ({
  code: "cancelled" as const,
  message: `${command.kind} by ${command.by}${command.reason ? `: ${command.reason}` : ""}`.slice(
    0,
    fixed.reasonBytesMax,
  ),
});
