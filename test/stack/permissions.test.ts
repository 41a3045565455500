import { fileURLToPath } from "node:url";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDynamodbClient, createSqsClient } from "../../lib/aws/clients.ts";
import { createDynamodbStore } from "../../lib/aws/dynamodb-store.ts";
import { queueUrl } from "../../lib/aws/names.ts";
import { processClock as clock, processRandom as random } from "../../lib/aws/process.ts";
import { deadTaskQueue, taskQueue, wakeQueue } from "../../lib/core/queue-names.ts";
import type { RunStore } from "../../lib/ports.ts";
import { type Ask, createApiClient } from "../../stack/api-client.ts";
import { concede, deploy, type Emulator, startEmulator } from "./emulator.ts";

const appFile = fileURLToPath(new URL("./probe-app.ts", import.meta.url));
const credentials = { accessKeyId: "test", secretAccessKey: "test" };

/** What everyone who ticks may do. */
const ticking = ["put", "edit", "refused put", "read one", "read two", "list"];
const sendingTo = (...queues: string[]) => queues.flatMap((queue) => [`send to ${queue}`, `look at ${queue}`]);
const payloads = ["put payload", "get payload", "miss payload"];
const worker = [...ticking, ...payloads, ...sendingTo("wake:standard", "task:default", "task:mail", "dead")];

describe("the deployed stack, with IAM enforced", () => {
  let emulator: Emulator;
  let store: RunStore;
  let send: (queue: string, body: string) => Promise<unknown>;
  let ask: Ask;

  beforeAll(async () => {
    emulator = await startEmulator({ isIamEnforced: true });
    const {
      TableName = "",
      QueueBase = "",
      ApiUrl = "",
    } = deploy(emulator, appFile, { change: concede })["Tickwright"] ?? {};
    const options = { endpoint: emulator.endpoint, region: "us-east-1", credentials };
    store = createDynamodbStore({ client: createDynamodbClient(options), tableName: TableName, clock, random });
    ask = createApiClient(ApiUrl, emulator.port);
    const sqs = createSqsClient(options);
    send = (queue, body) =>
      sqs.send(new SendMessageCommand({ QueueUrl: queueUrl(QueueBase, queue), MessageBody: body }));
  }, 300_000);
  afterAll(() => emulator?.stop());

  async function allowedTo(role: string, timeoutMs = 30_000): Promise<string[]> {
    for (const endsAtMs = performance.now() + timeoutMs; performance.now() < endsAtMs; ) {
      const [found] = await store.read([{ pk: "probes", sk: role }], { isConsistent: true });
      if (found) {
        const can = JSON.parse(String(found["can"])) as Record<string, string>;
        const verdicts = new Set(Object.values(can));
        expect(verdicts).toEqual(new Set(["yes", "denied"]));
        return Object.keys(can).filter((what) => can[what] === "yes");
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error(`No probe of ${role}: ${emulator.log().slice(-4000)}`);
  }

  it.each([
    [
      "coordinator",
      wakeQueue("standard"),
      [...worker, ...sendingTo("watch"), "take from wake:standard", "take from watch"],
    ],
    ["worker of mail", taskQueue("mail"), [...worker, "take from task:mail"]],
    [
      "dead tasks' function",
      deadTaskQueue,
      [...ticking, ...sendingTo("wake:standard", "dead-task", "dead"), "take from dead-task"],
    ],
  ])("lets the %s do what its verb does, and no more", async (role, queue, expected) => {
    await send(queue, `as ${role}`);
    const allowed = await allowedTo(role);
    // Looking at a queue comes with taking from it.
    expect(allowed.filter((what) => what !== `look at ${queue}`).sort()).toEqual(
      expected.filter((what) => what !== `look at ${queue}`).sort(),
    );
  });

  it("lets the api start, show and wake runs, and neither look at queues nor take from them", async () => {
    expect((await ask("POST", "/probe", { body: {} })).status).toBe(204);
    const sending = ["wake:standard", "task:default", "task:mail"].map((queue) => `send to ${queue}`);
    expect((await allowedTo("api")).sort()).toEqual([...ticking, ...payloads, ...sending].sort());
  });

  it("lets nobody in who does not sign", async () => {
    expect((await ask("GET", "/runs/any", { isSigned: false })).status).toBe(403);
  });

  it("calls the watchdog on its schedule", async () => {
    const expected = [...ticking, "find the due", ...sendingTo("wake:standard", "watch")];
    expect((await allowedTo("scheduled", 110_000)).sort()).toEqual(expected.sort());
  }, 120_000);
});
