import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateTableCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it } from "vitest";
import { type DynamodbRequest, startDynamodbServer } from "../../lib/local/dynamodb-server.ts";
import { credentials, region } from "../../lib/local/endpoint.ts";
import { type SqsRequest, startSqsServer } from "../../lib/local/sqs-server.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickwright-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function sqs(folder: string | undefined, port = 0) {
  const requests: SqsRequest[] = [];
  const server = await startSqsServer({ port, folder, onRequest: (request) => requests.push(request) });
  const client = new SQSClient({ endpoint: server.url, region, credentials });
  return { server, client, requests };
}

async function dynamodb(folder: string | undefined, port = 0) {
  const requests: DynamodbRequest[] = [];
  const server = await startDynamodbServer({ port, folder, onRequest: (request) => requests.push(request) });
  const client = new DynamoDBClient({ endpoint: server.url, region, credentials });
  return { server, client, requests };
}

const createTable = new CreateTableCommand({
  TableName: "table",
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
});

describe("the embedded SQS server", () => {
  it("keeps messages over a restart, with their receive counts, at another port too", async () => {
    const folder = temporaryFolder();
    const first = await sqs(folder);
    const { QueueUrl } = await first.client.send(
      new CreateQueueCommand({ QueueName: "q", Attributes: { VisibilityTimeout: "1" } }),
    );
    await first.client.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "a", MessageBody: "a" },
          { Id: "b", MessageBody: "b", DelaySeconds: 1 },
        ],
      }),
    );
    await first.client.send(new ReceiveMessageCommand({ QueueUrl }));
    await first.server.stop();
    const second = await sqs(folder);
    cleanups.push(() => second.server.stop());
    const bodies = new Map<string | undefined, string | undefined>();
    while (bodies.size < 2) {
      const { Messages = [] } = await second.client.send(
        new ReceiveMessageCommand({
          QueueUrl: `${second.server.url}/000000000000/q`,
          WaitTimeSeconds: 2,
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ["ApproximateReceiveCount"],
        }),
      );
      for (const { Body, Attributes } of Messages) bodies.set(Body, Attributes?.ApproximateReceiveCount);
    }
    expect(Object.fromEntries(bodies)).toEqual({ a: "2", b: "1" });
  });

  it("gives a message back at once when asked to, and keeps it", async () => {
    const { server, client } = await sqs(temporaryFolder());
    cleanups.push(() => server.stop());
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: "q" }));
    await client.send(new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: "a", MessageBody: "a" }] }));
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl,
        ReceiptHandle: Messages?.[0]?.ReceiptHandle,
        VisibilityTimeout: 0,
      }),
    );
    const again = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    expect(again.Messages).toHaveLength(1);
  });

  it("meters what crosses the wire, in requests and messages", async () => {
    const { server, client, requests } = await sqs(undefined);
    cleanups.push(() => server.stop());
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: "q" }));
    await client.send(
      new SendMessageBatchCommand({ QueueUrl, Entries: ["a", "b"].map((Id) => ({ Id, MessageBody: Id })) }),
    );
    await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    await client.send(new ReceiveMessageCommand({ QueueUrl }));
    expect(requests.map(({ operation, messages }) => [operation, messages])).toEqual([
      ["CreateQueue", 0],
      ["SendMessageBatch", 2],
      ["ReceiveMessage", 2],
      ["ReceiveMessage", 0],
    ]);
  });

  it("releases long polls when the stack stops, so that nobody leaves with a message in hand", async () => {
    const { server, client } = await sqs(undefined);
    cleanups.push(() => server.stop());
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: "q" }));
    const polling = client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }));
    const startedAtMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 50));
    server.releasePolls();
    await polling;
    expect(performance.now() - startedAtMs).toBeLessThan(5000);
  });
});

describe("the embedded DynamoDB server", () => {
  it("keeps tables over a restart", async () => {
    const folder = temporaryFolder();
    const first = await dynamodb(folder);
    await first.client.send(createTable);
    await first.client.send(new PutItemCommand({ TableName: "table", Item: { pk: { S: "a" }, n: { N: "1" } } }));
    await first.server.stop();
    const second = await dynamodb(folder);
    cleanups.push(() => second.server.stop());
    const { Item } = await second.client.send(new GetItemCommand({ TableName: "table", Key: { pk: { S: "a" } } }));
    expect(Item).toEqual({ pk: { S: "a" }, n: { N: "1" } });
  });

  it("meters requests, refused conditions and size-true capacity", async () => {
    const { server, client, requests } = await dynamodb(undefined);
    cleanups.push(() => server.stop());
    await client.send(createTable);
    const put = new PutItemCommand({
      TableName: "table",
      Item: { pk: { S: "a" }, text: { S: "x".repeat(1500) } },
      ConditionExpression: "attribute_not_exists(pk)",
      ReturnConsumedCapacity: "TOTAL",
    });
    await client.send(put);
    await expect(client.send(put)).rejects.toThrow();
    expect(requests).toEqual([
      { operation: "CreateTable", isRefused: false, capacityUnits: 0 },
      { operation: "PutItem", isRefused: false, capacityUnits: 2 },
      { operation: "PutItem", isRefused: true, capacityUnits: 0 },
    ]);
  });

  it("lets exactly one of fifty racing creations win (E3)", async () => {
    const { server, client } = await dynamodb(undefined);
    cleanups.push(() => server.stop());
    await client.send(createTable);
    const race = Array.from({ length: 50 }, (_, n) =>
      client.send(
        new PutItemCommand({
          TableName: "table",
          Item: { pk: { S: "a" }, n: { N: `${n}` } },
          ConditionExpression: "attribute_not_exists(pk)",
        }),
      ),
    );
    const settled = await Promise.allSettled(race);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("survives a client that hangs up in the middle of a request (L11)", async () => {
    const { server, client } = await dynamodb(undefined);
    cleanups.push(() => server.stop());
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
        setTimeout(() => socket.resetAndDestroy(), 50);
      });
      socket.once("close", () => resolve());
    });
    await client.send(createTable);
  });
});

describe("a taken port", () => {
  it("is named, with what to do about it", async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => squatter.close());
    const { port } = squatter.address() as { port: number };
    await expect(sqs(undefined, port)).rejects.toThrow(`Port ${port} for SQS is taken by another process`);
    await expect(dynamodb(undefined, port)).rejects.toThrow(`Port ${port} for DynamoDB is taken by another process`);
  });
});
