import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it } from "vitest";
import { toReceived } from "../../lib/aws/batch.ts";
import { deadQueue, taskQueue, wakeQueue, watchQueue } from "../../lib/core/queue-names.ts";
import { type Stack, type StackFunctions, type StackOptions, startStack } from "../../lib/local/stack.ts";
import { awsCommand, nodeCommand } from "../../lib/local/wake-command.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const idle: StackFunctions = {
  coordinator: async () => undefined,
  workers: { default: async () => undefined },
  watchdog: async () => undefined,
  deadTasks: async () => undefined,
};
async function started(options: Partial<StackOptions> = {}): Promise<Stack> {
  const stack = await startStack({ functions: () => idle, ...options });
  cleanups.push(() => stack.stop());
  return stack;
}
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickwright-stack-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
const send = (stack: Stack, queue: string, body: string) =>
  stack.clients.sqs.send(new SendMessageCommand({ QueueUrl: stack.queueUrl(queue), MessageBody: body }));
const item = (id: string) => ({ pk: { S: id }, sk: { S: "STATE" } });

describe("the embedded stack", () => {
  it("carries a wake-up to the coordinator, a task to the group's worker, and meters both", async () => {
    const seen: string[] = [];
    const stack = await started({
      groups: ["default", "mail"],
      functions: ({ clients, queueBase, tableName }) => ({
        ...idle,
        coordinator: async (event) => {
          for (const { body } of event.Records) {
            seen.push(`woken by ${body}`);
            await clients.dynamodb.send(
              new PutItemCommand({ TableName: tableName, Item: item(body), ReturnConsumedCapacity: "TOTAL" }),
            );
            await clients.sqs.send(
              new SendMessageCommand({ QueueUrl: `${queueBase}task-mail`, MessageBody: `task of ${body}` }),
            );
          }
          return { batchItemFailures: [] };
        },
        workers: {
          default: async () => undefined,
          mail: async (event) => void seen.push(...event.Records.map(({ body }) => body)) as undefined,
        },
      }),
    });
    await send(stack, wakeQueue("standard"), "run-1");
    await send(stack, watchQueue, "run-2");
    expect(await stack.drain(10_000)).toBe(true);
    expect(seen.sort()).toEqual(["task of run-1", "task of run-2", "woken by run-1", "woken by run-2"]);
    const { sqs, dynamodb, invocations } = stack.meters();
    expect(sqs).toMatchObject({ sent: 4, received: 4, deleted: 4, sendRequests: 4 });
    expect(dynamodb).toMatchObject({ writes: 2, writeUnits: 2, refused: 0 });
    expect(invocations).toEqual({ coordinator: 2, "worker:mail": 2 });
  });

  it("keeps everything in its folder, and lets one stack at a time use it", async () => {
    const dataFolder = temporaryFolder();
    const first = await startStack({ functions: () => idle, dataFolder });
    await expect(startStack({ functions: () => idle, dataFolder })).rejects.toThrow("Another stack");
    await first.clients.dynamodb.send(new PutItemCommand({ TableName: first.tableName, Item: item("run-1") }));
    await first.clients.s3.send(new PutObjectCommand({ Bucket: first.bucket, Key: "k", Body: "payload" }));
    const delayed = { QueueUrl: first.queueUrl(wakeQueue("standard")), MessageBody: "later", DelaySeconds: 1 };
    await first.clients.sqs.send(new SendMessageCommand(delayed));
    await first.stop();

    const seen: string[] = [];
    const second = await started({
      dataFolder,
      scale: { visibilityS: 40, timeoutMs: 35_000 },
      functions: () => ({
        ...idle,
        coordinator: async (event) => void seen.push(...event.Records.map(({ body }) => body)) as undefined,
      }),
    });
    const { Item } = await second.clients.dynamodb.send(
      new GetItemCommand({ TableName: second.tableName, Key: item("run-1") }),
    );
    expect(Item).toEqual(item("run-1"));
    const { Body } = await second.clients.s3.send(new GetObjectCommand({ Bucket: second.bucket, Key: "k" }));
    expect(await Body?.transformToString()).toBe("payload");
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).toEqual(["later"]);
  });

  it("moves what no worker takes to the dead tasks' function, and other dead letters to a queue that nobody consumes", async () => {
    const seen: string[] = [];
    const stack = await started({
      scale: { maxReceiveCount: 1, visibilityS: 1, timeoutMs: 1000 },
      functions: () => ({
        ...idle,
        coordinator: () => Promise.reject(new Error("defect")),
        workers: { default: () => Promise.reject(new Error("defect")) },
        deadTasks: async (event) => void seen.push(...event.Records.map(({ body }) => body)) as undefined,
      }),
    });
    await send(stack, taskQueue("default"), "task");
    await send(stack, wakeQueue("standard"), "wake");
    expect(await stack.drain(10_000)).toBe(true);
    expect(seen).toEqual(["task"]);
    expect(stack.depth(deadQueue).ready).toBe(1);
  });

  it("calls the watchdog at its interval and on demand, and tells when it failed", async () => {
    let calls = 0;
    const notices: unknown[] = [];
    const stack = await started({
      scale: { watchIntervalMs: 50 },
      onNotice: (notice) => notices.push(notice),
      functions: () => ({
        ...idle,
        watchdog: async () => {
          if (++calls === 1) throw new Error("denied");
        },
      }),
    });
    await stack.watch();
    expect(notices).toMatchObject([{ kind: "schedule", functionName: "watchdog" }]);
    while (calls < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  it("leaves nothing behind when it cannot start", async () => {
    const dataFolder = temporaryFolder();
    const broken = () => Promise.reject(new Error("no such module"));
    await expect(startStack({ functions: broken, dataFolder })).rejects.toThrow("no such module");
    const groups = ["missing"];
    await expect(startStack({ functions: () => idle, groups, dataFolder })).rejects.toThrow(
      "worker:missing is missing",
    );
    const taken = await started({ dataFolder });
    const ports = { sqs: Number(new URL(taken.endpoints.sqs).port) };
    await expect(startStack({ functions: () => idle, ports })).rejects.toThrow("is taken by another process");
  });
});

describe("a wake-up by hand", () => {
  it("is sent by the Node command as printed, quotes and all", async () => {
    const seen: unknown[] = [];
    const stack = await started({
      functions: () => ({
        ...idle,
        coordinator: async (event) => void seen.push(...event.Records.map(toReceived)) as undefined,
      }),
    });
    const body = `{"who":"it's \\"me\\" $HOME"}`;
    const message = {
      endpoint: stack.endpoints.sqs,
      queueUrl: stack.queueUrl(wakeQueue("standard")),
      body,
      taskKey: "by-hand",
    };
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", nodeCommand(message)]);
    expect(stdout).toMatch(/^sent [0-9a-f-]{36}\n$/);
    await stack.drain(10_000);
    expect(seen).toMatchObject([{ body, taskKey: "by-hand", receiveCount: 1 }]);
    const echoed = await promisify(execFile)("/bin/sh", [
      "-c",
      `aws() { printf '%s\\n' "$@"; }; ${awsCommand(message)}`,
    ]);
    expect(echoed.stdout).toContain(`--message-body\n${body}\n`);
  });
});
