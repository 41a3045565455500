import { afterEach, describe, expect, test } from "vitest";
import { createEventBridgeClient } from "../../lib/aws/clients.ts";
import { createEventBus, entriesMax, entryOf, eventSource } from "../../lib/aws/event-bus.ts";
import { utf8 } from "../../lib/core/bytes.ts";
import { fixed } from "../../lib/core/limits.ts";
import type { RunEvent } from "../../lib/core/run-events.ts";
import type { Clock } from "../../lib/ports.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { type Asked, error, ok, type Reply, startScripted } from "./scripted-server.ts";

let stop: (() => Promise<void>) | undefined;
afterEach(() => stop?.());

async function busOn(...script: readonly Reply[]) {
  const server = await startScripted(...script);
  const clock: Clock = { nowMs: () => 0, sleep: async () => undefined };
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  const client = createEventBridgeClient({
    endpoint: server.url,
    region: "us-east-1",
    credentials,
    requestTimeoutMs: 200,
  });
  stop = async () => {
    client.destroy();
    await server.stop();
  };
  const bus = createEventBus({ client, busName: "the-bus", clock, random: createSeededRandom(1) });
  const ids = () => server.asked.map((asked) => entriesOf(asked).map(({ Detail }) => JSON.parse(Detail).id));
  return { bus, asked: server.asked, ids };
}

const entriesOf = ({ input }: Asked) => input["Entries"] as { Detail: string }[];
const event = (id: string, more: Partial<RunEvent> = {}): RunEvent => ({
  id,
  kind: "run-finished",
  tenant: "acme",
  runId: "o-1",
  runUid: "0123456789abcdef",
  workflow: "order",
  definitionHash: "0".repeat(32),
  status: "succeeded",
  atMs: 1_800_000_000_000,
  isChild: false,
  ...more,
});
const events = (count: number) => Array.from({ length: count }, (_, at) => event(`e${at}`));
const taken = { EventId: "id" };
const failed = (ErrorCode: string) => ({ ErrorCode, ErrorMessage: "no" });
const allTaken = (asked: Asked) => ok({ FailedEntryCount: 0, Entries: entriesOf(asked).map(() => taken) });

describe("the event bus", () => {
  test("puts an event with its kind as its type, its instant, and everything in its detail", async () => {
    const { bus, asked } = await busOn(allTaken);
    const one = event("e", { kind: "gate-opened", node: "review" });
    expect(await bus.send([one])).toEqual([{ kind: "sent" }]);
    expect(asked).toEqual([
      {
        operation: "PutEvents",
        input: {
          Entries: [
            {
              EventBusName: "the-bus",
              Source: eventSource,
              DetailType: "gate-opened",
              Time: 1_800_000_000,
              Detail: JSON.stringify(one),
            },
          ],
        },
      },
    ]);
  });

  test("sends again what failed or went unnamed beside what was taken, and only that", async () => {
    const { bus, ids } = await busOn(
      ok({ FailedEntryCount: 1, Entries: [taken, failed("InternalFailure")] }),
      ok({ FailedEntryCount: 1, Entries: [taken, failed("ThrottlingException")] }),
      allTaken,
    );
    expect(await bus.send(events(3))).toEqual([{ kind: "sent" }, { kind: "sent" }, { kind: "sent" }]);
    expect(ids()).toEqual([["e0", "e1", "e2"], ["e1", "e2"], ["e2"]]);
  });

  test("gives up at once on what is malformed for good, and in the end on the rest", async () => {
    const { bus, ids } = await busOn(
      ok({ FailedEntryCount: 2, Entries: [failed("MalformedDetail"), failed("InternalFailure")] }),
      ok({ FailedEntryCount: 1, Entries: [failed("InternalFailure")] }),
    );
    expect(await bus.send(events(2))).toMatchObject([
      { kind: "failed", fault: { code: "refused" } },
      { kind: "failed", fault: { code: "unavailable" } },
    ]);
    expect(ids().slice(1)).toEqual([["e1"], ["e1"], ["e1"]]);
  });

  test("takes ten at a time, and even ten of the largest are far below 256 KB", async () => {
    const { bus, ids } = await busOn(allTaken);
    expect(await bus.send(events(23))).toHaveLength(23);
    expect(ids().map((each) => each.length)).toEqual([10, 10, 3]);
    const longest = "x".repeat(64);
    const largest = event(longest, {
      tenant: longest,
      runId: longest,
      workflow: longest,
      node: longest,
      reason: { code: "handler-failed", message: "\u0001".repeat(fixed.reasonBytesMax) },
      isUncompensated: true,
      untilMs: 1_800_000_000_000,
    });
    const bytes = utf8(JSON.stringify(entryOf("b".repeat(1600), largest))).length;
    expect(bytes * entriesMax).toBeLessThan(256 * 1024);
  });

  test.each<[string, Reply, string, number]>([
    ["a denied permission", error("AccessDeniedException"), "denied", 1],
    ["an invalid request", error("ValidationException"), "refused", 1],
    ["throttling", error("ThrottlingException"), "throttled", 4],
    ["an outage", error("InternalException", {}, 500), "unavailable", 4],
    ["a cut connection", "hang-up", "unavailable", 4],
    ["silence", "silence", "unavailable", 4],
  ])("answers %s with a value, and no error of the SDK leaves it", async (_, reply, code, asks) => {
    const { bus, asked } = await busOn(reply);
    expect(await bus.send(events(2))).toMatchObject([
      { kind: "failed", fault: { code } },
      { kind: "failed", fault: { code } },
    ]);
    expect(asked).toHaveLength(asks);
  });
});
