import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { createSqsClient } from "../../lib/aws/clients.ts";
import { queueName, queueSuffix, queueUrl } from "../../lib/aws/names.ts";
import { createSqsQueue } from "../../lib/aws/sqs-queue.ts";
import { toDelaySeconds } from "../../lib/core/delay.ts";
import type { Clock, Message } from "../../lib/ports.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { type Asked, error, ok, type Reply, startScripted } from "./scripted-server.ts";

let stop: (() => Promise<void>) | undefined;
afterEach(() => stop?.());

async function queueOn(...script: readonly Reply[]) {
  const server = await startScripted(...script);
  const clock: Clock = { nowMs: () => 0, sleep: async () => undefined };
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  const client = createSqsClient({
    endpoint: server.url,
    region: "us-east-1",
    credentials,
    requestTimeoutMs: 20_000,
  });
  stop = async () => {
    client.destroy();
    await server.stop();
  };
  const queueBase = `${server.url}/000000000000/tw-`;
  const queue = createSqsQueue({ client, queueBase, clock, random: createSeededRandom(1) });
  const ids = () => server.asked.map(({ input }) => (input["Entries"] as { Id: string }[]).map(({ Id }) => Id));
  return { queue, asked: server.asked, ids };
}

const messages = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    queue: "wake:standard",
    body: `${index}`,
    group: "g",
    taskKey: `k${index}`,
  }));
/** As the service puts it: the client compares the digest of the body, which here is the id. */
const taken = (...ids: readonly string[]) =>
  ids.map((Id) => ({ Id, MessageId: `m${Id}`, MD5OfMessageBody: createHash("md5").update(Id).digest("hex") }));
const allTaken = ({ input }: Asked) =>
  ok({ Successful: taken(...(input["Entries"] as { Id: string }[]).map(({ Id }) => Id)) });

describe("the SQS queue", () => {
  test("sends again what failed and what the answer does not name, and nothing else (Q3)", async () => {
    const { queue, ids } = await queueOn(
      ok({ Successful: taken("0"), Failed: [{ Id: "1", SenderFault: false, Code: "InternalError", Message: "?" }] }),
      ok({ Successful: taken("1", "2") }),
    );
    expect(await queue.send(messages(3))).toEqual([{ kind: "sent" }, { kind: "sent" }, { kind: "sent" }]);
    expect(ids()).toEqual([
      ["0", "1", "2"],
      ["1", "2"],
    ]);
  });

  test("gives up on what the sender did wrong at once, and on the rest in the end (Q3)", async () => {
    const failed = (Id: string, SenderFault: boolean) => ({ Id, SenderFault, Code: "Odd", Message: "no" });
    const { queue, ids } = await queueOn(ok({ Failed: [failed("0", true), failed("1", false)] }));
    expect(await queue.send(messages(2))).toMatchObject([
      { kind: "failed", fault: { code: "refused" } },
      { kind: "failed", fault: { code: "unavailable" } },
    ]);
    expect(ids()).toEqual([["0", "1"], ["1"], ["1"], ["1"]]);
  });

  test("never throws for what the service lost or denied", async () => {
    const lost = await queueOn("hang-up");
    expect(await lost.queue.send(messages(1))).toMatchObject([{ kind: "failed", fault: { code: "unavailable" } }]);
    await stop?.();
    const denied = await queueOn(error("AccessDeniedException"));
    expect(await denied.queue.send(messages(2))).toMatchObject(messages(2).map(() => ({ fault: { code: "denied" } })));
    expect(denied.asked).toHaveLength(1);
  });

  test("one batch that fails does not fail another, nor are its neighbours sent again (Q3)", async () => {
    const { queue, ids } = await queueOn(error("InternalError", {}, 500), allTaken);
    const sent = await queue.send(messages(12));
    expect(sent.filter(({ kind }) => kind === "sent")).toHaveLength(12);
    expect(ids()).toHaveLength(3);
    expect(new Set(ids().map((batch) => batch.join())).size).toBe(2);
  });

  test("carries group, delay, task key and reason where SQS has them (Q10)", async () => {
    const { queue, asked } = await queueOn(ok({ Successful: taken("0", "1") }));
    const [one, other] = messages(2) as [Message, Message];
    await queue.send([
      { ...one, delaySeconds: 2000, reason: "late" },
      { ...other, group: "é".repeat(200) },
    ]);
    const entries = asked[0]?.input["Entries"] as Record<string, unknown>[];
    expect(entries[0]).toMatchObject({
      DelaySeconds: 900,
      MessageGroupId: "g",
      MessageAttributes: { taskKey: { StringValue: "k0" }, reason: { StringValue: "late" } },
    });
    expect(entries[1]?.["MessageGroupId"]).toMatch(/^[0-9a-f]{32}$/);
    expect(entries[1]).not.toHaveProperty("DelaySeconds");
  });
});

test("a delay is whole seconds from 0 to 900, never short (Q1)", () => {
  const asked = [0, 1, 100, 999, 1000, 1001, 10_000, 899_999, 900_000, 900_001, -5, Number.POSITIVE_INFINITY];
  expect(asked.map(toDelaySeconds)).toEqual([0, 1, 1, 1, 1, 2, 10, 900, 900, 900, 0, 900]);
  expect(() => toDelaySeconds(Number.NaN)).toThrow(RangeError);
});

test("queue names are distinct and valid, however a group is called", () => {
  expect(queueName("prod", "wake:standard")).toBe("prod-wake-standard");
  expect(queueUrl("https://sqs/1/prod-", "dead-task")).toBe("https://sqs/1/prod-dead-task");
  const groups = ["a.b", "a-b", "a_b", "A.b", "x".repeat(64), `${"x".repeat(63)}y`].map((group) =>
    queueSuffix(`task:${group}`),
  );
  expect(new Set(groups).size).toBe(groups.length);
  for (const suffix of groups) expect(suffix).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
});
