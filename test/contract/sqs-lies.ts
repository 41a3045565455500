import {
  CreateQueueCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";

const attribute = { DataType: "String", StringValue: "v" };
const text = { MessageBody: "x" };

/** What SQS refuses and the emulator takes: only the adapter's own checks stand between a mistake and the real service (Q1, Q10). */
const taken: readonly (readonly [what: string, message: Omit<SendMessageCommandInput, "QueueUrl">])[] = [
  ["a delay of more than 900 seconds", { ...text, DelaySeconds: 901 }],
  ["a fraction of a second as a delay", { ...text, DelaySeconds: 0.1 }],
  ["a message group of more than 128 characters", { ...text, MessageGroupId: "g".repeat(200) }],
  [
    "more than ten attributes",
    { ...text, MessageAttributes: Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`a${at}`, attribute])) },
  ],
];

/** What an emulator of queues gets wrong, and what it does not. A test that turns red here says that a lie was mended, or a new one told. */
export function sqsLies(name: string, clientOf: () => SQSClient): void {
  describe(`known lies of ${name}: nothing may rest on these (E4)`, () => {
    const create = async (QueueName: string, FifoQueue?: "true") =>
      (await clientOf().send(new CreateQueueCommand({ QueueName, ...(FifoQueue && { Attributes: { FifoQueue } }) })))
        .QueueUrl;

    test.each(taken)("a lie: it takes %s", async (_, message) => {
      const QueueUrl = await create("lies");
      await expect(clientOf().send(new SendMessageCommand({ QueueUrl, ...message }))).resolves.toHaveProperty(
        "MessageId",
      );
    });

    test("no lie: a delay of a single message is refused on FIFO queues (Q1)", async () => {
      const fifo = { MessageGroupId: "g", MessageDeduplicationId: "d", DelaySeconds: 60 };
      const command = new SendMessageCommand({ QueueUrl: await create("lies.fifo", "true"), ...text, ...fifo });
      await expect(clientOf().send(command)).rejects.toThrow(/DelaySeconds/);
    });

    test("no lie: a batch of more than ten messages or more than a megabyte is refused whole (Q4)", async () => {
      const QueueUrl = await create("lies");
      const batch = (length: number, MessageBody: string) =>
        new SendMessageBatchCommand({
          QueueUrl,
          Entries: Array.from({ length }, (_, id) => ({ Id: String(id), MessageBody })),
        });
      await expect(clientOf().send(batch(11, "x"))).rejects.toMatchObject({ name: /TooManyEntriesInBatchRequest/ });
      await expect(clientOf().send(batch(2, "x".repeat(600_000)))).rejects.toMatchObject({
        name: /BatchRequestTooLong/,
      });
    });
  });
}
