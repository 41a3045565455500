import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import { attributeNames, queueUrl } from "../../lib/aws/names.ts";
import { processClock as clock, processRandom as random } from "../../lib/aws/process.ts";
import { createSqsQueue } from "../../lib/aws/sqs-queue.ts";
import { contractQueues, queueContract, type Taken } from "./queue.contract.ts";
import { openSqs } from "./servers.ts";

queueContract("SQS (fauxqs)", async () => {
  const { client, queueBase, close } = await openSqs(contractQueues, { visibilitySeconds: 2, maxReceiveCount: 2 });

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
    async receive(name) {
      const command = new ReceiveMessageCommand({
        QueueUrl: queueUrl(queueBase, name),
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ["ApproximateReceiveCount"],
        MessageAttributeNames: ["All"],
      });
      const { Messages: messages = [] } = await client.send(command);
      return messages.map((message) => taken(command.input.QueueUrl ?? "", message));
    },
    wait: (ms) => clock.sleep(ms),
    isCountedLate: true,
    close,
  };
});
