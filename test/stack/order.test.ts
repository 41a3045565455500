import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ReceiveMessageCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registry } from "../../examples/registry.ts";
import { createDynamodbClient, createS3Client, createSqsClient } from "../../lib/aws/clients.ts";
import { createDynamodbStore } from "../../lib/aws/dynamodb-store.ts";
import { attributeNames, queueUrl } from "../../lib/aws/names.ts";
import { processClock as clock, processRandom as random } from "../../lib/aws/process.ts";
import { createS3Payloads } from "../../lib/aws/s3-payloads.ts";
import { createSqsQueue } from "../../lib/aws/sqs-queue.ts";
import { partitionOf, sk } from "../../lib/core/keys.ts";
import { defaultLimits } from "../../lib/core/limits.ts";
import { deadQueue, wakeQueue } from "../../lib/core/queue-names.ts";
import { isSettled, statusOf } from "../../lib/core/run.ts";
import { decide } from "../../lib/engine/decide.ts";
import { createEngine, type Engine } from "../../lib/engine/engine.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import type { Queue } from "../../lib/ports.ts";
import { concede, deploy, type Emulator, startEmulator } from "./emulator.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const appFile = fileURLToPath(new URL("./order-app.ts", import.meta.url));
const credentials = { accessKeyId: "test", secretAccessKey: "test" };

/** Every message is lost on the way. */
const lossy: Queue = {
  send: async (messages) => messages.map(() => ({ kind: "sent" })),
  isBehind: async () => false,
};

describe("an order on the deployed stack, with IAM enforced", () => {
  let emulator: Emulator;
  let engine: Engine;
  let table: string;
  let queueBase: string;
  let sqs: SQSClient;
  let urlOf: (queue: string) => string;

  beforeAll(async () => {
    emulator = await startEmulator({ isIamEnforced: true });
    const {
      TableName = "",
      QueueBase = "",
      BucketName = "",
    } = deploy(emulator, appFile, { change: concede })["Tickwright"] ?? {};
    [table, queueBase] = [TableName, QueueBase];
    const options = { endpoint: emulator.endpoint, region: "us-east-1", credentials };
    sqs = createSqsClient(options);
    urlOf = (queue) => queueUrl(QueueBase, queue);
    engine = createEngine({
      store: createDynamodbStore({ client: createDynamodbClient(options), tableName: TableName, clock, random }),
      queue: createSqsQueue({ client: sqs, queueBase: QueueBase, clock, random }),
      payloads: createS3Payloads({ client: createS3Client(options), bucket: BucketName, clock }),
      clock,
      random,
      log: { write: () => undefined },
      metrics: { count: () => undefined, flush: async () => undefined },
      registry,
      // a decision whose wake-up is lost is the watchdog's at its next look
      limits: { ...defaultLimits, owedGraceMs: 1 },
      build: "test",
    });
  }, 300_000);
  afterAll(() => emulator?.stop());

  /** More lines than a worker ticks by itself, and more money than goes without approval. */
  function order(runId: string, { address = "street-1", note = "" } = {}) {
    const lines = Array.from({ length: 6 }, (_, index) => ({
      sku: `sku-${index === 2 ? "flaky" : "good"}-${index}${note}`,
      quantity: 1,
      unitCents: 30_000,
    }));
    const input = { orderId: runId, email: "ada@mail.test", address, card: "card-1", lines };
    return start(engine, { workflow: "order", runId, input });
  }
  const refOf = (runId: string) => ({ tenant: "default", runId });
  async function until(what: string, isSo: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
    for (const endsAtMs = performance.now() + timeoutMs; performance.now() < endsAtMs; ) {
      if (await isSo()) return;
      await clock.sleep(250);
    }
    throw new Error(`Not so in ${timeoutMs} ms: ${what}. ${emulator.log().slice(-6000)}`);
  }
  const untilGate = (runId: string) =>
    until(`${runId} waits for approval`, async () => {
      const run = await findRun(engine, refOf(runId));
      return run?.active.some(({ state }) => state === "gate") ?? false;
    });
  const untilSettled = (runId: string, timeoutMs?: number) =>
    until(
      `${runId} has ended`,
      async () => {
        const run = await findRun(engine, refOf(runId));
        return run !== undefined && isSettled(run);
      },
      timeoutMs,
    );
  const approve = (runId: string, queue = engine.queue) =>
    decide({ ...engine, queue }, refOf(runId), { gate: "approval", approved: true, by: "grace" });
  async function expectSuccess(runId: string): Promise<void> {
    const { run, output } = await readResult(engine, refOf(runId));
    expect(statusOf(run), emulator.log().slice(-4000)).toBe("succeeded");
    const value = { receiptId: `receipt-${runId}`, trackingId: `parcel-${runId}`, isTold: true };
    expect(output).toEqual({ ok: true, value });
  }

  it("is reserved, retried where a service failed, approved, paid and shipped by the deployed functions", async () => {
    const { runUid } = await order("o-1");
    await untilGate("o-1");
    await approve("o-1");
    await untilSettled("o-1");
    await expectSuccess("o-1");
    const { items } = await engine.store.list({
      pk: partitionOf("default", "o-1"),
      prefix: sk.attemptsOf(runUid, 1),
      isConsistent: true,
    });
    expect(items).toHaveLength(7);
  }, 120_000);

  it("goes on by a wake-up that somebody sends by hand", async () => {
    await order("o-2");
    await untilGate("o-2");
    await approve("o-2", lossy);
    await sqs.send(new SendMessageCommand({ QueueUrl: urlOf(wakeQueue("standard")), MessageBody: '{"runId":"o-2"}' }));
    await untilSettled("o-2");
    await expectSuccess("o-2");
  }, 120_000);

  it("may have an input that only the payload bucket can hold", async () => {
    await order("o-3", { note: "-".repeat(70_000) });
    await untilGate("o-3");
    await approve("o-3");
    await untilSettled("o-3");
    await expectSuccess("o-3");
  }, 120_000);

  it("passes the test of the example, which is told by its environment where a stack is", () => {
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const args = ["run", "--project", "unit", "examples/order", "--testNamePattern", "on a stack"];
    const told = { TICKWRIGHT_TABLE: table, TICKWRIGHT_QUEUE_BASE: queueBase, NO_COLOR: "1" };
    const env = { ...process.env, ...emulator.env, ...told };
    const { stdout, stderr } = spawnSync(process.execPath, [vitest, ...args], { cwd: root, env, encoding: "utf8" });
    expect(stdout, stderr).toMatch(/^ *Tests +1 passed/m);
  }, 120_000);

  it("leaves a body that nobody can read in the dead-letter queue, with the reason", async () => {
    await sqs.send(new SendMessageCommand({ QueueUrl: urlOf(wakeQueue("standard")), MessageBody: "{run:1}" }));
    let found: { readonly body: string | undefined; readonly reason: string | undefined } | undefined;
    await until("the message is dead", async () => {
      const { Messages: [message] = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: urlOf(deadQueue), MessageAttributeNames: ["All"] }),
      );
      found ??= message && {
        body: message.Body,
        reason: message.MessageAttributes?.[attributeNames.reason]?.StringValue,
      };
      return found !== undefined;
    });
    expect(found?.body).toBe("{run:1}");
    expect(found?.reason).toMatch(/JSON/);
  }, 90_000);

  it("asks for nothing that its roles do not allow, and logs no error", async () => {
    // what a function printed comes after its answer
    await until("the unreadable message is logged", async () => emulator.log().includes("message.unreadable"));
    expect(emulator.log().match(/.*(not authorized|AccessDenied|"level":"error").*/g)).toBeNull();
  }, 90_000);
});
