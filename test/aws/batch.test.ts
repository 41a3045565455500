import type { SQSEvent, SQSRecord } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { runBatch, toReceived } from "../../lib/aws/batch.ts";
import { attributeNames } from "../../lib/aws/names.ts";
import { batchOf, record } from "./events.ts";

const three = batchOf(record("m1"), record("m2"), record("m3"));
const failuresOf = (ids: string[]) => ids.map((itemIdentifier) => ({ itemIdentifier }));

describe("a received message", () => {
  it("carries its id, text, receive count, time and task key", () => {
    const messageAttributes = { [attributeNames.taskKey]: { stringValue: "uid:7:wake", dataType: "String" } };
    expect(toReceived(record("m1", { messageAttributes }))).toEqual({
      id: "m1",
      body: '{"id":"m1"}',
      receiveCount: 2,
      sentAtMs: 1_700_000_000_000,
      taskKey: "uid:7:wake",
    });
  });

  it("carries the trace of the message that it follows from, if there is one", () => {
    const { attributes } = record("m1");
    const traced = record("m1", { attributes: { ...attributes, AWSTraceHeader: "Root=1-5759e988" } });
    expect(toReceived(traced)).toMatchObject({ trace: "Root=1-5759e988" });
    expect(toReceived(record("m1"))).not.toHaveProperty("trace");
  });

  it("was received once at least: without a count that can be, nobody could say whether it is a redelivery", () => {
    const { attributes } = record("m1");
    for (const count of ["0", "-1", "1.5", "many", ""])
      expect(() => toReceived(record("m1", { attributes: { ...attributes, ApproximateReceiveCount: count } }))).toThrow(
        "has no receive count",
      );
  });

  it("needs no task key: a person may have sent it by hand", () => {
    expect(toReceived(record("m1"))).not.toHaveProperty("taskKey");
  });
});

describe("a batch", () => {
  it("is acknowledged whole when nothing is handed back", async () => {
    const { response, defects } = await runBatch(three, async () => []);
    expect(response).toEqual({ batchItemFailures: [] });
    expect(defects).toEqual([]);
  });

  it("hands back exactly what the verb handed back, each once (L2, L3)", async () => {
    const { response, handedBack } = await runBatch(three, async () => ["m2", "m2"]);
    expect(response).toEqual({ batchItemFailures: failuresOf(["m2"]) });
    expect(handedBack).toBe(1);
  });

  it("hands back a record that cannot be mapped, and it alone (L3, M6)", async () => {
    const torn = record("m1", { attributes: undefined as never });
    const seen: string[] = [];
    const { response, defects } = await runBatch(batchOf(torn, record("m2"), record("m3")), async (batch) => {
      seen.push(...batch.map((message) => message.id));
      return [];
    });
    expect(seen).toEqual(["m2", "m3"]);
    expect(response).toEqual({ batchItemFailures: failuresOf(["m1"]) });
    expect(defects).toHaveLength(1);
  });

  it("of which nothing can be read is handed back whole, and no verb is asked", async () => {
    const torn = record("m1", { attributes: undefined as never });
    const { response, defects } = await runBatch(batchOf(torn), () => Promise.reject(new Error("called")));
    expect(response).toEqual({ batchItemFailures: failuresOf(["m1"]) });
    expect(defects.map(({ what }) => what)).toEqual(["a record could not be read"]);
  });

  it("does not throw when the verb does: the whole batch is handed back (L3, L8)", async () => {
    const { response, defects } = await runBatch(three, async () => {
      throw new Error("defect");
    });
    expect(response).toEqual({ batchItemFailures: failuresOf(["m1", "m2", "m3"]) });
    expect(defects[0]?.what).toBe("the verb threw");
  });

  it("never names an id that was not in it: all are handed back, since one of them was meant (L3)", async () => {
    const { response, defects } = await runBatch(three, async () => ["handle-of-m2"]);
    expect(response).toEqual({ batchItemFailures: failuresOf(["m1", "m2", "m3"]) });
    expect(defects[0]?.what).toContain("handle-of-m2");
  });

  it("is refused before anything is done when the event is none of SQS's", async () => {
    const verb = () => Promise.reject(new Error("called"));
    await expect(runBatch({} as SQSEvent, verb)).rejects.toThrow("not a batch of SQS records");
    await expect(runBatch(batchOf({} as SQSRecord), verb)).rejects.toThrow("not a batch of SQS records");
  });
});
