import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { attributeNames, queueUrl } from "../../lib/aws/names.ts";
import { processClock as clock, processRandom as random } from "../../lib/aws/process.ts";
import { createSqsQueue } from "../../lib/aws/sqs-queue.ts";
import type { OpenQueue, Taken } from "./queue.contract.ts";

/**
 * Queues over the wire, with their consumer's side. `patienceS`: how long a receive asks on where a message is expected; the real service
 * answers a short poll from some of its hosts only.
 */
export function wireQueue(client: SQSClient, queueBase: string, patienceS = 0): Omit<OpenQueue, "close"> {
  function taken(url: string, message: Message): Taken {
    const handle = { QueueUrl: url, ReceiptHandle: message.ReceiptHandle };
    return {
      body: message.Body ?? "",
      taskKey: message.MessageAttributes?.[attributeNames.taskKey]?.StringValue,
      reason: message.MessageAttributes?.[attributeNames.reason]?.StringValue,
      receiveCount: Number(message.Attributes?.ApproximateReceiveCount),
      ack: async () => void (await client.send(new DeleteMessageCommand(handle))),
      release: async () =>
        void (await client.send(new ChangeMessageVisibilityCommand({ ...handle, VisibilityTimeout: 0 }))),
    };
  }

  return {
    queue: createSqsQueue({ client, queueBase, clock, random }),
    async receive(name, isExpected) {
      const command = new ReceiveMessageCommand({
        QueueUrl: queueUrl(queueBase, name),
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: isExpected ? patienceS : 0,
        MessageSystemAttributeNames: ["ApproximateReceiveCount"],
        MessageAttributeNames: ["All"],
      });
      const { Messages: messages = [] } = await client.send(command);
      return messages.map((message) => taken(command.input.QueueUrl ?? "", message));
    },
    wait: (ms) => clock.sleep(ms),
  };
}
