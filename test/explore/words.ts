import { attemptAttributes, attemptNameFromSk } from "../../lib/core/attempt-format.ts";
import { envelopeFrom } from "../../lib/core/envelope.ts";
import { attemptName } from "../../lib/core/keys.ts";
import { mailboxFrom } from "../../lib/core/mail-format.ts";
import { rowAttributes } from "../../lib/core/row-format.ts";
import { statusOf } from "../../lib/core/run.ts";
import type { Key, Message } from "../../lib/ports.ts";
import type { Call } from "./call.ts";
import { runOf } from "./records.ts";
import type { Change } from "./serve.ts";
import type { StoredText } from "./state.ts";

/** What a process asks, as one would tell it. */
export function callInWords(call: Call): string {
  switch (call.op) {
    case "write":
      return `${call.write.kind === "put" ? "writes" : call.write.kind === "edit" ? "changes" : "deletes"} ${placeInWords(call.write.key)}`;
    case "read":
      return `reads ${call.keys.map(placeInWords).join(", ")}`;
    case "list":
      return `reads ${runInWords(call.pk)} with all beside it`;
    case "find":
      return `asks the index ${call.index}`;
    case "send":
      return `sends ${call.messages.map(sendingInWords).join(", ")}`;
    case "isBehind":
      return `asks whether ${call.queue} is behind`;
    case "sleep":
      return "pauses";
    case "effect":
      return `its handler does ${call.effect.node} (attempt ${call.effect.attempt})`;
  }
}

const runInWords = (pk: string) => `run ${pk.split("#")[1] ?? pk}`;

export function placeInWords({ pk, sk }: Key): string {
  const attempt = attemptNameFromSk(sk);
  const of = runInWords(pk) === "run r" ? "" : ` of ${runInWords(pk)}`;
  if (attempt) return `attempt ${attemptName(attempt.node, attempt.index, attempt.attempt)}${of}`;
  if (sk === "STATE") return `the row${of}`;
  if (sk.startsWith("STATE#MAIL")) return `the mailbox${of}`;
  if (sk.startsWith("STATE#STRIKES")) return `the strikes${of}`;
  return `${sk.split("#")[0]}${of}`;
}

function sendingInWords({ queue, body, delaySeconds }: Message): string {
  const { task, why, hints } = envelopeFrom(body);
  const what = task
    ? `task ${attemptName(task.node, task.index, task.attempt)}`
    : `a wake-up (${[why, ...hints].join(" ")})`;
  return `${what} to ${queue}${delaySeconds ? ` for in ${delaySeconds} s` : ""}`;
}

/** What became of records, with their versions. */
export function changesInWords(changes: readonly Change[]): readonly string[] {
  return changes.flatMap(({ before, now }) => {
    const text = now && recordInWords(now);
    const from = before?.fields[rowAttributes.recordVersion];
    const isRow = now?.key.sk === "STATE";
    return text ? [isRow ? `version ${from ?? 0} to ${now.fields[rowAttributes.recordVersion]}: ${text}` : text] : [];
  });
}

function recordInWords(stored: StoredText): string | undefined {
  const { key, fields } = stored;
  if (key.sk === "STATE") {
    const run = runOf(stored);
    const active = run.active.map((entry) => `${entry.node} ${entry.state} (attempt ${entry.attempt})`).join(", ");
    return `${statusOf(run)}${active && `, ${active}`}`;
  }
  if (key.sk.startsWith("ATT#")) {
    const outcome = fields[attemptAttributes.outcome];
    return outcome === undefined ? "claimed" : `ended: ${String(outcome)}`;
  }
  if (key.sk.startsWith("STATE#MAIL")) {
    const { signals, commands, isSealed, dueAtMs } = mailboxFrom(fields);
    const entries = [...signals.map(({ seq, name }) => `${name} ${seq}`), ...commands.map(({ kind }) => kind)];
    return `mail [${entries.join(", ")}]${isSealed ? ", sealed" : ""}${dueAtMs === undefined ? "" : ", due"}`;
  }
  return undefined;
}
