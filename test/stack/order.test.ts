import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { order as orders } from "../../examples/order/workflow.ts";
import { workflows } from "../../examples/registry.ts";
import { attributeNames } from "../../lib/aws/names.ts";
import { partitionOf, sk } from "../../lib/core/keys.ts";
import { deadQueue, wakeQueue } from "../../lib/core/queue-names.ts";
import { isSettled, statusOf } from "../../lib/core/run.ts";
import { decide } from "../../lib/engine/decide.ts";
import { readResult } from "../../lib/engine/inspect.ts";
import { concede, deploy, type Emulator, startEmulator } from "./emulator.ts";
import { lossy, type Touring, touring } from "./touring.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const appFile = fileURLToPath(new URL("./order-app.ts", import.meta.url));

/** What anything may take that a test waits for. */
const patienceMs = 60_000;

describe("an order on the deployed stack, with IAM enforced", () => {
  let emulator: Emulator;
  let here: Touring;

  beforeAll(async () => {
    emulator = await startEmulator({ isIamEnforced: true });
    here = touring(emulator, deploy(emulator, appFile, { change: concede }), workflows);
  }, 300_000);
  afterAll(async () => {
    here?.close();
    await emulator?.stop();
  });

  /** More lines than a worker ticks by itself, and more money than goes without approval. */
  function order(runId: string, { address = "street-1", note = "" } = {}) {
    const lines = Array.from({ length: 6 }, (_, index) => ({
      sku: `sku-${index === 2 ? "flaky" : "good"}-${index}${note}`,
      quantity: 1,
      unitCents: 30_000,
    }));
    const input = { orderId: runId, email: "ada@mail.test", address, card: "card-1", lines };
    return here.begin(orders, runId, input);
  }
  const untilGate = (runId: string) => here.untilWaits(runId, "gate", patienceMs);
  const untilSettled = (runId: string) =>
    here.until(
      `${runId} has ended`,
      async () => {
        const run = await here.look(runId);
        return run !== undefined && isSettled(run);
      },
      patienceMs,
    );
  const approve = (runId: string, queue = here.engine.queue) =>
    decide({ ...here.engine, queue }, here.refOf(runId), { gate: "approval", approved: true, by: "grace" });
  async function expectSuccess(runId: string): Promise<void> {
    const { run, output } = await readResult(here.engine, here.refOf(runId));
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
    const { items } = await here.engine.store.list({
      pk: partitionOf("default", "o-1"),
      prefix: sk.attemptsOf(runUid, 1),
      isConsistent: true,
    });
    expect(items).toHaveLength(7);
  }, 120_000);

  it("goes on by a wake-up that somebody sends by hand", async () => {
    await order("o-2");
    await untilGate("o-2");
    await approve("o-2", lossy());
    await here.send(wakeQueue("standard"), '{"runId":"o-2"}');
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
    const told = { TICKWRIGHT_TABLE: here.tableName, TICKWRIGHT_QUEUE_BASE: here.queueBase, NO_COLOR: "1" };
    const env = { ...process.env, ...emulator.env, ...told };
    const { stdout, stderr } = spawnSync(process.execPath, [vitest, ...args], { cwd: root, env, encoding: "utf8" });
    expect(stdout, stderr).toMatch(/^ *Tests +1 passed/m);
  }, 120_000);

  it("leaves a body that nobody can read in the dead-letter queue, with the reason", async () => {
    await here.send(wakeQueue("standard"), "{run:1}");
    let found: { readonly body: string | undefined; readonly reason: string | undefined } | undefined;
    await here.until(
      "the message is dead",
      async () => {
        const { Messages: [message] = [] } = await here.sqs.send(
          new ReceiveMessageCommand({ QueueUrl: here.urlOf(deadQueue), MessageAttributeNames: ["All"] }),
        );
        found ??= message && {
          body: message.Body,
          reason: message.MessageAttributes?.[attributeNames.reason]?.StringValue,
        };
        return found !== undefined;
      },
      patienceMs,
    );
    expect(found?.body).toBe("{run:1}");
    expect(found?.reason).toMatch(/JSON/);
  }, 90_000);

  it("asks for nothing that its roles do not allow, and logs no error", async () => {
    // what a function printed comes after its answer
    await here.until(
      "the unreadable message is logged",
      async () => emulator.log().includes("message.unreadable"),
      patienceMs,
    );
    expect(emulator.log().match(/.*(not authorized|AccessDenied|"level":"error").*/g)).toBeNull();
  }, 90_000);
});
