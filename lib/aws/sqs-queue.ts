import { GetQueueAttributesCommand, SendMessageBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { toDelaySeconds } from "../core/delay.ts";
import { Fault, type FaultData } from "../core/faults.ts";
import { isId } from "../core/keys.ts";
import { digest } from "../digest.ts";
import { faultOfMessage } from "../ports/sendable.ts";
import type { Message, Queue, Sent } from "../ports.ts";
import { toFault } from "./errors.ts";
import { attributeNames, queueUrl } from "./names.ts";
import { type Patience, retrying, type Taken, untilTaken } from "./retry.ts";
import { batchesOf, type Numbered } from "./sqs-batches.ts";

export interface SqsQueueOptions extends Patience {
  readonly client: SQSClient;
  /** URL of the queues up to their suffix. */
  readonly queueBase: string;
}

/**
 * Standard queues of SQS. Messages go out in batches; entries that the answer names as failed, or does not name, are sent again, bounded,
 * and only they. A lost reply sends a batch twice: messages are hints, so that does no harm. `group` makes the queue fair between
 * tenants (`MessageGroupId` on a standard queue).
 */
export function createSqsQueue({ client, queueBase, clock, random }: SqsQueueOptions): Queue {
  const patience = { clock, random };

  async function give(open: readonly Numbered[]): Promise<Taken<Numbered>> {
    const byId = new Map(open.map((numbered) => [String(numbered.index), numbered]));
    const results = new Map<Numbered, Sent>();
    let fault: FaultData | undefined;
    const answer = await client.send(commandOf(queueBase, open));
    for (const { Id: id = "", SenderFault: isPermanent, Code: code, Message: words } of answer.Failed ?? []) {
      fault = new Fault(isPermanent ? "refused" : "unavailable", `The queue refused a message: ${code}: ${words}`).data;
      const numbered = byId.get(id);
      if (isPermanent && numbered) results.set(numbered, { kind: "failed", fault });
    }
    for (const { Id: id = "" } of answer.Successful ?? []) {
      const numbered = byId.get(id);
      if (numbered) results.set(numbered, { kind: "sent" });
    }
    return { results, fault };
  }

  async function sendBatch(batch: readonly Numbered[], results: Map<number, Sent>): Promise<void> {
    const names = { doing: `Sending to ${batch[0]?.message.queue}`, service: "queue" };
    const sent = await untilTaken(patience, batch, names, give);
    for (const [at, { index }] of batch.entries()) results.set(index, sent[at] as Sent);
  }

  return {
    async send(messages) {
      const results = new Map<number, Sent>();
      for (const [index, message] of messages.entries()) {
        const fault = faultOfMessage(message)?.data;
        if (fault !== undefined) results.set(index, { kind: "failed", fault });
      }
      const sendable = messages
        .map((message, index) => ({ message, index }))
        .filter(({ index }) => !results.has(index));
      await Promise.all(batchesOf(sendable).map((batch) => sendBatch(batch, results)));
      return messages.map((_, index) => results.get(index) as Sent);
    },
    async isBehind(queue) {
      const command = new GetQueueAttributesCommand({
        QueueUrl: queueUrl(queueBase, queue),
        AttributeNames: ["ApproximateNumberOfMessages"],
      });
      const ask = () => client.send(command);
      try {
        const answer = await retrying(patience, ["throttled", "unsent", "transient"], ask);
        const { ApproximateNumberOfMessages: waiting = "0" } = answer.Attributes ?? {};
        return Number(waiting) > 0;
      } catch (error) {
        throw toFault(error, `Looking at ${queue}`);
      }
    },
  };
}

function commandOf(queueBase: string, batch: readonly Numbered[]): SendMessageBatchCommand {
  return new SendMessageBatchCommand({
    QueueUrl: queueUrl(queueBase, batch[0]?.message.queue ?? ""),
    Entries: batch.map(({ message, index }) => ({
      Id: String(index),
      MessageBody: message.body,
      MessageGroupId: groupIdOf(message.group),
      ...(message.delaySeconds !== undefined && { DelaySeconds: toDelaySeconds(message.delaySeconds * 1000) }),
      MessageAttributes: attributesOf(message),
      ...(message.trace !== undefined && { MessageSystemAttributes: { AWSTraceHeader: text(message.trace) } }),
    })),
  });
}

const text = (value: string) => ({ DataType: "String", StringValue: value });

function attributesOf(message: Message) {
  return {
    [attributeNames.taskKey]: text(message.taskKey),
    ...(message.reason && { [attributeNames.reason]: text(message.reason) }),
  };
}

/** At most 128 characters of letters, digits and punctuation. */
function groupIdOf(group: string): string {
  return isId(group) ? group : digest(group);
}
