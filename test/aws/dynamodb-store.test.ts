import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, test } from "vitest";
import { createDynamodbClient } from "../../lib/aws/clients.ts";
import { createDynamodbStore } from "../../lib/aws/dynamodb-store.ts";
import { Fault } from "../../lib/core/faults.ts";
import type { Clock, Write } from "../../lib/ports.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { error, ok, type Reply, startScripted } from "./scripted-server.ts";

const key = { pk: "t#r", sk: "STATE" };
const bump: Write = {
  kind: "edit",
  key,
  edits: [{ kind: "add", path: ["v"], by: 1 }],
  when: [{ kind: "equals", path: ["v"], value: 1 }],
};
const rawItem = {
  pk: { S: "t#r" },
  sk: { S: "STATE" },
  v: { N: "2" },
  c: { B: Buffer.from([7, 8]).toString("base64") },
  m: { M: { x: { BOOL: false }, y: { L: [{ S: "" }, { N: "0" }] } } },
};
const plainItem = { v: 2, c: new Uint8Array([7, 8]), m: { x: false, y: ["", 0] } };

const credentials = { accessKeyId: "a", secretAccessKey: "b" };
let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

const storeOn = (...script: readonly Reply[]) => storeAsking(1, ...script);

/** A store whose client asks so often by itself. Production's asks once; whoever brings a client of their own may not know. */
async function storeAsking(maxAttempts: number, ...script: readonly Reply[]) {
  const server = await startScripted(...script);
  const pauses: number[] = [];
  const clock: Clock = { nowMs: () => 0, sleep: async (ms) => void pauses.push(ms) };
  const made = createDynamodbClient({
    endpoint: server.url,
    region: "us-east-1",
    credentials,
    // long enough for a busy machine, unless the server is not going to answer at all
    requestTimeoutMs: script.includes("silence") ? 100 : 20_000,
  });
  const client =
    maxAttempts === 1
      ? made
      : new DynamoDBClient({ endpoint: server.url, region: "us-east-1", credentials, maxAttempts });
  stop = async () => {
    client.destroy();
    await server.stop();
  };
  const store = createDynamodbStore({ client, tableName: "tw", clock, random: createSeededRandom(1) });
  return { store, asked: server.asked, pauses, url: server.url };
}

const isFault = (code: string) => (thrown: unknown) => Fault.is(thrown) && thrown.code === code;

describe("the DynamoDB store", () => {
  test("takes the record that a failed condition brings, in wire form, and reads nothing (D1, D3)", async () => {
    const { store, asked } = await storeOn(error("ConditionalCheckFailedException", { Item: rawItem }));
    expect(await store.write(bump)).toEqual({ kind: "refused", now: plainItem, isClear: true });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.input).toMatchObject({
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      ConditionExpression: "attribute_exists(#n0) AND #n1 = :v0",
      UpdateExpression: "SET #n1 = #n1 + :v1",
    });
  });

  test("reads consistently when no record came, and so tells refused from absent (D3, D15)", async () => {
    const there = await storeOn(error("ConditionalCheckFailedException"), ok({ Item: rawItem }));
    expect(await there.store.write(bump)).toEqual({ kind: "refused", now: plainItem, isClear: true });
    expect(there.asked[1]).toMatchObject({ operation: "GetItem", input: { ConsistentRead: true } });
    await stop?.();
    const gone = await storeOn(error("ConditionalCheckFailedException"), ok());
    expect(await gone.store.write(bump)).toEqual({ kind: "absent", isClear: true });
  });

  test("a transaction in the way is a conflict (D4)", async () => {
    const { store } = await storeOn(error("TransactionConflictException"), ok({ Item: rawItem }));
    expect(await store.write(bump)).toMatchObject({ kind: "refused", now: { v: 2 } });
  });

  test("a lost reply is unclear, and is not repeated behind the caller's back (D1, D2)", async () => {
    for (const reply of ["hang-up", error("InternalServerError", {}, 500), error("Brand-New", {}, 400)] as const) {
      const { store, asked } = await storeOn(reply);
      expect(await store.write(bump)).toMatchObject({ kind: "unclear", fault: { code: "unavailable" } });
      expect(asked).toHaveLength(1);
      await stop?.();
    }
  });

  test("a server that takes a request and never answers ends it as unclear, in time (L11)", async () => {
    const { store, asked } = await storeOn("silence");
    // nothing but the client's own time-out ends it
    expect(await store.write(bump)).toMatchObject({
      kind: "unclear",
      fault: { message: expect.stringContaining("requestTimeout") },
    });
    expect(asked).toHaveLength(1);
  });

  test("an answer to anything but the first request is not clear: an earlier one may have been applied", async () => {
    const broken = error("InternalServerError", {}, 500);
    const applied = await storeAsking(2, broken, ok());
    expect(await applied.store.write(bump)).toEqual({ kind: "applied", now: undefined, isClear: false });
    await stop?.();
    const refused = await storeAsking(2, broken, error("ConditionalCheckFailedException", { Item: rawItem }));
    expect(await refused.store.write(bump)).toEqual({ kind: "refused", now: plainItem, isClear: false });
    await stop?.();
    const denied = await storeAsking(2, broken, error("AccessDeniedException"));
    await expect(denied.store.write(bump)).resolves.toMatchObject({ kind: "unclear" });
  });

  test("a throttled write is tried again after jittered pauses and stays clear (D10)", async () => {
    const throttled = error("ProvisionedThroughputExceededException");
    const { store, asked, pauses } = await storeOn(throttled, error("ThrottlingException"), throttled, ok());
    expect(await store.write(bump)).toEqual({ kind: "applied", now: undefined, isClear: true });
    expect(asked).toHaveLength(4);
    expect(new Set(asked.map(({ input }) => JSON.stringify(input))).size).toBe(1);
    expect(pauses).toHaveLength(3);
    expect(pauses.every((ms, index) => ms <= [50, 100, 200][index]!)).toBe(true);
  });

  test("throttled without end, denied, and nobody there are faults that say that nothing was applied (D4)", async () => {
    for (const [name, code] of [
      ["ThrottlingException", "throttled"],
      ["AccessDeniedException", "denied"],
      ["ResourceNotFoundException", "denied"],
      ["ValidationException", "refused"],
    ] as const) {
      const { store } = await storeOn(error(name), ok());
      if (code === "throttled") await stop?.();
      const { store: hopeless } = code === "throttled" ? await storeOn(error(name)) : { store };
      await expect(hopeless.write(bump)).rejects.toSatisfy(isFault(code));
      await stop?.();
    }
    const { store } = await storeOn(ok());
    await stop?.();
    await expect(store.write(bump)).rejects.toSatisfy(isFault("unavailable"));
  });

  test("reads again what a batch left unread, and only that", async () => {
    const keyed = (sk: string) => ({ pk: { S: "t" }, sk: { S: sk } });
    const { store, asked } = await storeOn(
      ok({ Responses: { tw: [{ ...keyed("A"), n: { N: "1" } }] }, UnprocessedKeys: { tw: { Keys: [keyed("B")] } } }),
      ok({ Responses: { tw: [{ ...keyed("B"), n: { N: "2" } }] } }),
    );
    const keys = ["A", "B", "C"].map((sk) => ({ pk: "t", sk }));
    expect(await store.read(keys, { isConsistent: true })).toEqual([{ n: 1 }, { n: 2 }, undefined]);
    expect(asked[1]?.input).toMatchObject({ RequestItems: { tw: { Keys: [keyed("B")] } } });
  });

  test("a read is asked again after a broken connection, and gives up as unavailable", async () => {
    const { store } = await storeOn("hang-up", error("InternalServerError", {}, 500), ok({ Item: rawItem }));
    expect(await store.read([key], { isConsistent: true })).toEqual([plainItem]);
    await stop?.();
    const { store: gone, asked } = await storeOn("hang-up");
    await expect(gone.list({ pk: "t", prefix: "S", isConsistent: true })).rejects.toSatisfy(isFault("unavailable"));
    expect(asked).toHaveLength(4);
  });

  test("every load before a guarded write is consistent if it says so (D8)", async () => {
    const { store, asked } = await storeOn(ok());
    await store.read([key], { isConsistent: true });
    await store.list({ pk: "t", prefix: "S", isConsistent: true });
    await store.list({ pk: "t", prefix: "S", isConsistent: false });
    expect(asked.map(({ input }) => input["ConsistentRead"])).toEqual([true, true, false]);
  });
});
