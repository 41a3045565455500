import { toDelaySeconds } from "../core/delay.ts";
import { type Envelope, envelopeText } from "../core/envelope.ts";
import { Fault } from "../core/faults.ts";
import { attemptName } from "../core/keys.ts";
import type { Owed } from "../core/owed.ts";
import type { Run } from "../core/run.ts";
import type { Message } from "../ports.ts";
import type { Engine } from "./engine.ts";

/** The logical queues. `lib/aws/names.ts` gives them their names. */
export const queues = {
  wake: (tier: Run["tier"]) => `wake:${tier}`,
  task: (group: string) => `task:${group}`,
  watch: "watch",
  dead: "dead",
  deadTask: "dead-task",
} as const;

/** An envelope with everything that most messages leave out. */
export function envelope(run: Pick<Run, "tenant" | "runId" | "runUid">, fields: Partial<Envelope> = {}): Envelope {
  return {
    tenant: run.tenant,
    runId: run.runId,
    runUid: run.runUid,
    hints: [],
    isAll: false,
    why: "hint",
    requeues: 0,
    requeuesAtSeq: 0,
    ...fields,
  };
}

/** A wake-up for a run, now or later. */
export function wakeUp(
  run: Pick<Run, "tenant" | "runId" | "runUid" | "tier" | "transitionSeq">,
  fields: Partial<Envelope>,
  delayMs = 0,
  taskKey = `${run.runUid}:${run.transitionSeq}:${fields.why ?? "hint"}`,
): Message {
  return message(queues.wake(run.tier), envelope(run, fields), taskKey, delayMs);
}

/** A task for a worker of its group. */
export function taskMessage(run: Run, owed: Extract<Owed, { kind: "task" }>): Message {
  const { node, index, attempt, sends } = owed.entry;
  const task = { node, index, attempt, sends };
  return message(
    queues.task(owed.group),
    envelope(run, { task }),
    `${run.runUid}:${attemptName(node, index, attempt)}:send-${sends}`,
    owed.delayMs,
  );
}

/** Tenants share a queue fairly: the tenant is the message group. */
export function message(queue: string, content: Envelope, taskKey: string, delayMs = 0): Message {
  const delaySeconds = toDelaySeconds(delayMs);
  return {
    queue,
    body: envelopeText(content),
    group: content.tenant,
    taskKey,
    ...(delaySeconds > 0 && { delaySeconds }),
  };
}

/** Sends, all or a fault: what was accepted stays sent, as a repeat does no harm. */
export async function send(engine: Engine, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return;
  const sent = await engine.queue.send(messages);
  const failed = sent.find((each) => each.kind === "failed");
  engine.metrics.count("messages-sent", sent.filter((each) => each.kind === "sent").length);
  if (failed?.kind !== "failed") return;
  engine.metrics.count("sends-failed");
  throw new Fault("unavailable", `a message was not accepted: ${failed.fault.message}`);
}
