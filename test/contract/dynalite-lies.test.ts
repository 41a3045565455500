import { PutItemCommand, TransactWriteItemsCommand } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Fault } from "../../lib/core/faults.ts";
import type { Check, Edit, Value, Write } from "../../lib/ports.ts";
import { createMemoryStore } from "../../lib/testing/memory-store.ts";
import { openDynamodb } from "./servers.ts";

let db: Awaited<ReturnType<typeof openDynamodb>>;
beforeAll(async () => {
  db = await openDynamodb();
});
afterAll(() => db.close());

test("a lie: a failed condition brings no record along, so the adapter reads it (E1, D3)", async () => {
  const put = new PutItemCommand({
    TableName: db.tableName,
    Item: { pk: { S: "t#lie" }, sk: { S: "STATE" }, v: { N: "7" } },
    ConditionExpression: "attribute_not_exists(#pk)",
    ExpressionAttributeNames: { "#pk": "pk" },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  await db.client.send(put);
  await expect(db.client.send(put)).rejects.toSatisfy(
    (error: { name: string; Item?: unknown }) =>
      error.name === "ConditionalCheckFailedException" && error.Item === undefined,
  );
});

test("a lie: there are no transactions, so nothing here can meet a conflict with one (E1)", async () => {
  const command = new TransactWriteItemsCommand({ TransactItems: [] });
  await expect(db.client.send(command)).rejects.toMatchObject({ name: "UnknownOperationException" });
});

test("a lie: lists and maps are never equal, whatever is in them", async () => {
  const fields = { l: [1], m: { x: 1 } };
  const at = { pk: "t#lie", sk: "EQUAL" };
  for (const store of [createMemoryStore(), db.store]) {
    await store.write({ kind: "put", key: at, fields, when: [] });
    const isEqual = async (name: "l" | "m") => {
      const when = [{ kind: "equals", path: [name], value: fields[name] } as const];
      return (await store.write({ kind: "edit", key: at, edits: [], when })).kind === "applied";
    };
    expect([await isEqual("l"), await isEqual("m")]).toEqual(store === db.store ? [false, false] : [true, true]);
  }
});

const key = { pk: "t#same", sk: "STATE" };
const path = fc.constantFrom<Edit["path"][]>(
  ["a"],
  ["b"],
  ["l"],
  ["l", 0],
  ["l", 1],
  ["l", 4],
  ["m"],
  ["m", "x"],
  ["m", "l", 0],
);
const value: fc.Arbitrary<Value> = fc.oneof(
  fc.integer({ min: -9, max: 9 }),
  fc.constantFrom<Value[]>("t", true, [], [1, "u", 3], {}, { x: 1 }, { l: ["p", "q"] }, new Uint8Array([1])),
);
const check: fc.Arbitrary<Check> = fc.oneof(
  fc.record({ kind: fc.constantFrom("absent" as const, "exists" as const), path }),
  fc.record({
    kind: fc.constant("equals" as const),
    path,
    value: fc.constantFrom<Value[]>(1, "t", true, "p", new Uint8Array([1])),
  }),
  fc.record({
    kind: fc.constantFrom("atMost" as const, "under" as const),
    path,
    value: fc.integer({ min: -9, max: 9 }),
  }),
  fc.record({
    kind: fc.constant("sized" as const),
    path,
    is: fc.constantFrom("equals" as const, "under" as const),
    count: fc.nat(3),
  }),
);
/**
 * The server copies by reference: a record that is copied into its own inside has no end there, and the server dies of it. Such
 * writes are not put to it; the engine copies numbers only.
 */
const isKnot = (edits: readonly Edit[]): boolean => {
  const inside = edits.flatMap((each) => (each.kind === "copy" && each.path.length > 1 ? [each] : []));
  return inside.some(
    ({ path: [into], from: [of] }) =>
      into === of || inside.some((other) => other.path[0] === of && other.from[0] === into),
  );
};
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constantFrom("set" as const, "setIfAbsent" as const), path, value }),
  fc.record({ kind: fc.constant("add" as const), path, by: fc.integer({ min: -9, max: 9 }) }),
  fc.record({ kind: fc.constant("copy" as const), path, from: path }),
  fc.record({
    kind: fc.constant("append" as const),
    path,
    values: fc.array(fc.constantFrom(7, "z"), { maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant("remove" as const), path }),
);
const when = fc.array(check, { maxLength: 1 });
const write: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      key: fc.constant(key),
      fields: fc.dictionary(fc.constantFrom("a", "b", "l", "m"), value),
      when,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("edit" as const),
      key: fc.constant(key),
      edits: fc.array(edit, { maxLength: 3 }).filter((edits) => !isKnot(edits)),
      when,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), key: fc.constant(key), when }) },
);

test("memory and the server answer any sequence of writes alike", async () => {
  const run = fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 12 }), async (writes) => {
    const memory = createMemoryStore();
    await db.store.write({ kind: "delete", key, when: [] });
    for (const one of writes) {
      const [here, there] = await Promise.all(
        [memory, db.store].map((store) =>
          store.write(one, { returns: "all" }).catch((error) => (Fault.is(error) ? error.code : error)),
        ),
      );
      expect(here).toEqual(there);
    }
  });
  await fc.assert(run, { numRuns: 200 });
});
