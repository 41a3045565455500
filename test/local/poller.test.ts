import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { Context, SQSEvent } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { credentials, region } from "../../lib/local/endpoint.ts";
import {
  type BatchFunction,
  type Mapping,
  type Poller,
  type PollerNotice,
  startPoller,
} from "../../lib/local/poller.ts";
import { type SqsServer, startSqsServer } from "../../lib/local/sqs-server.ts";

let server: SqsServer;
let client: SQSClient;
let poller: Poller | undefined;
let notices: PollerNotice[];

beforeEach(async () => {
  server = await startSqsServer({ port: 0, folder: undefined, onRequest: () => undefined });
  client = new SQSClient({ endpoint: server.url, region, credentials });
  notices = [];
});
afterEach(async () => {
  const stopping = poller?.stop();
  server.releasePolls();
  await stopping;
  poller = undefined;
  client.destroy();
  await server.stop();
});

async function queue(name: string, attributes: Record<string, string>): Promise<string> {
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
  return QueueUrl ?? "";
}
const send = (queueUrl: string, ...bodies: string[]) =>
  client.send(
    new SendMessageBatchCommand({
      QueueUrl: queueUrl,
      Entries: bodies.map((body, index) => ({
        Id: `${index}`,
        MessageBody: body,
        MessageAttributes: { key: { DataType: "String", StringValue: `key of ${body}` } },
      })),
    }),
  );
async function poll(queueUrl: string, run: BatchFunction, over: Partial<Mapping> = {}) {
  const mapping: Mapping = {
    queueUrl,
    functionName: "coordinator",
    run,
    timeoutMs: 1000,
    batchSize: 10,
    maxConcurrency: 4,
    waitS: 1,
    ...over,
  };
  poller = await startPoller(client, mapping, (notice) => notices.push(notice));
}
async function until(check: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const endsAtMs = performance.now() + timeoutMs;
  while (!(await check())) {
    if (performance.now() > endsAtMs) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
const left = async (queueUrl: string) => {
  const names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...names] }),
  );
  return names.reduce((sum, name) => sum + Number(Attributes?.[name]), 0);
};
const bodies = (event: SQSEvent) => event.Records.map((record) => record.body);
const failing = (event: SQSEvent, ...bad: string[]) => ({
  batchItemFailures: event.Records.filter((record) => bad.includes(record.body)).map(({ messageId }) => ({
    itemIdentifier: messageId,
  })),
});

describe("a poller", () => {
  it("hands over records as Lambda does: attributes, receive count, source, context", async () => {
    const url = await queue("q", { VisibilityTimeout: "1" });
    const seen: { event: SQSEvent; context: Context; leftMs: number }[] = [];
    await send(url, "a");
    await poll(url, async (event, context) => {
      seen.push({ event, context, leftMs: context.getRemainingTimeInMillis() });
      return { batchItemFailures: [] };
    });
    await until(() => seen.length === 1);
    expect(seen[0]?.event.Records[0]).toMatchObject({
      body: "a",
      attributes: { ApproximateReceiveCount: "1", SentTimestamp: expect.stringMatching(/^\d{13}$/) },
      messageAttributes: { key: { stringValue: "key of a", dataType: "String" } },
      eventSource: "aws:sqs",
      eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:q",
      awsRegion: "us-east-1",
    });
    expect(seen[0]?.context.functionName).toBe("coordinator");
    expect(seen[0]?.leftMs).toBeGreaterThan(900);
  });

  it("deletes what was not handed back; the rest comes again after the visibility time-out, counted (L2)", async () => {
    const url = await queue("q", { VisibilityTimeout: "1" });
    const seen: [body: string, receiveCount: string, atMs: number][] = [];
    await send(url, "a", "b", "c");
    await poll(url, async (event) => {
      for (const { body, attributes } of event.Records) {
        seen.push([body, attributes.ApproximateReceiveCount, performance.now()]);
      }
      return event.Records[0]?.attributes.ApproximateReceiveCount === "1" ? failing(event, "b") : undefined;
    });
    await until(async () => seen.length === 4 && (await left(url)) === 0);
    expect(seen.map(([body, count]) => `${body}${count}`)).toEqual(["a1", "b1", "c1", "b2"]);
    expect((seen[3]?.[2] ?? 0) - (seen[1]?.[2] ?? 0)).toBeGreaterThan(900);
  });

  it("runs up to its maximum of batches at once, and no more", async () => {
    const url = await queue("q", { VisibilityTimeout: "5" });
    await send(url, ..."abcdefghij");
    let under = 0;
    let most = 0;
    let done = 0;
    const run: BatchFunction = async () => {
      most = Math.max(most, ++under);
      await new Promise((resolve) => setTimeout(resolve, 60));
      under--;
      done++;
      return undefined;
    };
    await poll(url, run, { batchSize: 1, maxConcurrency: 3 });
    await until(() => done === 10);
    expect(most).toBe(3);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("defect")), "threw"],
    ["answers malformed (E2)", async () => ({ batchItemFailures: [{ itemIdentifier: "?" }] }), "malformed"],
    [
      "runs into its time-out",
      () => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 500)),
      "timed-out",
    ],
  ] as const)("keeps the whole batch when the function %s", async (_name, misbehave, kind) => {
    const url = await queue("q", { VisibilityTimeout: "1" });
    const seen: string[] = [];
    await send(url, "a", "b");
    let calls = 0;
    const run: BatchFunction = async (event) => {
      seen.push(...bodies(event));
      return calls++ === 0 ? misbehave() : undefined;
    };
    await poll(url, run, { timeoutMs: 200 });
    await until(async () => seen.length === 4 && (await left(url)) === 0);
    expect(seen).toEqual(["a", "b", "a", "b"]);
    expect(notices).toMatchObject([{ kind, functionName: "coordinator", messages: 2 }]);
  });

  it("abandons an invocation at its time-out and lets it go on as a zombie (L9)", async () => {
    const url = await queue("q", { VisibilityTimeout: "1" });
    const trace: string[] = [];
    await send(url, "a");
    let calls = 0;
    const run: BatchFunction = async (_event, context) => {
      if (calls++ > 0) return void trace.push("second") as undefined;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      trace.push(`zombie with ${context.getRemainingTimeInMillis()} ms`);
      return undefined;
    };
    await poll(url, run, { timeoutMs: 100, maxConcurrency: 1 });
    await until(() => trace.length === 2);
    expect(trace).toEqual(["second", "zombie with 0 ms"]);
  });

  it("leaves the move to the dead-letter queue to the queue's redrive policy", async () => {
    const dead = await queue("dead", {});
    const deadLetterTargetArn = "arn:aws:sqs:us-east-1:000000000000:dead";
    const url = await queue("q", {
      VisibilityTimeout: "1",
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 }),
    });
    await send(url, "a");
    let calls = 0;
    await poll(url, async (event) => {
      calls++;
      return failing(event, "a");
    });
    await until(async () => (await left(dead)) === 1);
    expect(calls).toBe(2);
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl: dead }));
    expect(Messages?.[0]?.Body).toBe("a");
  });

  it("finishes the batches under way when it stops, and takes no more", async () => {
    const url = await queue("q", { VisibilityTimeout: "5" });
    let done = 0;
    const run: BatchFunction = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      done++;
      return undefined;
    };
    await send(url, "a");
    await poll(url, run);
    await until(() => poller?.busy() === 1);
    const stopping = poller?.stop();
    server.releasePolls();
    await stopping;
    await send(url, "b");
    expect([done, await left(url)]).toEqual([1, 1]);
  });

  it("is refused when the queue hides messages for less than the function may run (L5)", async () => {
    const url = await queue("q", { VisibilityTimeout: "1" });
    await expect(poll(url, async () => undefined, { timeoutMs: 2000 })).rejects.toThrow("AWS refuses this mapping");
  });

  it("costs next to nothing while idle", async () => {
    const url = await queue("q", { VisibilityTimeout: "1" });
    await poll(url, async () => undefined);
    const before = process.threadCpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(200);
  });
});
