import type { Message } from "../../lib/ports.ts";
import type { Process } from "./process.ts";

const minuteMs = 60_000;

/** What becomes of a message that SQS has taken: it comes once; or not at all, twice, or up to a day late. */
export function fateOf(sender: Process, message: Message): { readonly copies: number; readonly lateMs: number } {
  const { random } = sender;
  const site = message.taskKey;
  const [isLost, isDoubled, isLate] = [
    sender.suffers("lose-message", site),
    sender.suffers("double-message", site),
    sender.suffers("late-message", site),
  ];
  // most are late by minutes, some by hours: each magnitude is as likely as the next
  const lateMs = Math.round(minuteMs * (24 * 60) ** random.fraction());
  return { copies: isLost ? 0 : isDoubled ? 2 : 1, lateMs: isLate ? lateMs : 0 };
}
