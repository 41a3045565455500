import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Edit, Fields, RunStore, Value } from "../../lib/ports.ts";
import { createMemoryStore } from "../../lib/testing/memory-store.ts";
import { createUnitModel, recordPrefix } from "../../lib/testing/unit-model.ts";
import { openDynamodb } from "./servers.ts";

const consistent = { isConsistent: true } as const;

describe("the unit model against the capacity that a server reports", () => {
  let db: Awaited<ReturnType<typeof openDynamodb>>;
  const metered: number[] = [];
  beforeAll(async () => {
    db = await openDynamodb(({ capacityUnits }) => metered.push(capacityUnits));
  });
  afterAll(() => db.close());

  // the server counts a text's characters where DynamoDB counts its bytes, so texts here are ASCII
  const text = fc.integer({ min: 0, max: 3000 }).map((length) => "x".repeat(length));
  const scalar: fc.Arbitrary<Value> = fc.oneof(
    text,
    fc.boolean(),
    fc.maxSafeInteger(),
    fc
      .tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: -40, max: 6 }))
      .map(([n, power]) => Number(`${n}e${power}`)),
    fc.uint8Array({ maxLength: 900 }).map((bytes) => new Uint8Array(bytes)),
  );
  const value: fc.Arbitrary<Value> = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 4 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), scalar, { maxKeys: 4 }),
  );
  const fields: fc.Arbitrary<Fields> = fc.dictionary(fc.constantFrom("a", "bb", "ccc", "name", "list"), value, {
    maxKeys: 5,
  });

  test("writes and reads of any record cost the same", async () => {
    let index = 0;
    const property = fc.asyncProperty(fields, fields, value, async (first, second, set) => {
      const key = { pk: "t#run", sk: `A#${++index}` };
      const edits: Edit[] = [{ kind: "set", path: ["set"], value: set }];
      const program: ((store: RunStore) => Promise<unknown>)[] = [
        (store) => store.read([key], consistent),
        (store) => store.write({ kind: "put", key, fields: first, when: [] }),
        (store) => store.write({ kind: "put", key, fields: second, when: [] }),
        (store) => store.write({ kind: "edit", key, edits, when: [] }),
        (store) => store.read([key], consistent),
        (store) => store.read([key], { isConsistent: false }),
        (store) => store.write({ kind: "delete", key, when: [] }),
      ];
      const model = createUnitModel(createMemoryStore());
      for (const step of program) {
        model.reset();
        metered.length = 0;
        await step(model);
        await step(db.store);
        const { write, read, requests } = model.units();
        expect({ units: write + read, requests }).toEqual({ units: metered[0], requests: metered.length });
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("over the wire it counts as over memory", async () => {
    const models = [createUnitModel(createMemoryStore()), createUnitModel(db.store)];
    const key = { pk: "t#wire", sk: "STATE" };
    for (const model of models) {
      await model.write({ kind: "put", key, fields: { v: 1, q: "D1", d: 5, text: "x".repeat(1500) }, when: [] });
      const bump = { kind: "edit", key, edits: [{ kind: "set", path: ["d"], value: 6 }], when: [] } as const;
      expect(await model.write(bump)).toMatchObject({ now: undefined });
      await model.write({ ...bump, when: [{ kind: "equals", path: ["v"], value: 9 }] });
      await model.list({ pk: "t#wire", prefix: "STATE", ...consistent });
      await model.find("due", { partition: "D1", limit: 5 });
    }
    expect(models[0]?.units()).toEqual(models[1]?.units());
    expect(models[0]?.units()).toMatchObject({ write: 2 + 1 + 2 + 2 + 2, index: 3, read: 1.5, requests: 5 });
  });
});

describe("the unit model by the published rules", () => {
  const key = { pk: "t#r", sk: "STATE" };
  const open = async (record: Fields) => {
    const model = createUnitModel(createMemoryStore());
    await model.write({ kind: "put", key, fields: record, when: [] });
    model.reset();
    const edit = (...edits: Edit[]) => model.write({ kind: "edit", key, edits, when: [] });
    return { model, edit };
  };

  test("a write costs by the larger of before and after", async () => {
    const { model, edit } = await open({ text: "x".repeat(3000) });
    await edit({ kind: "set", path: ["text"], value: "" });
    expect(model.units().write).toBe(3);
    await edit({ kind: "set", path: ["text"], value: "" });
    expect(model.units().write).toBe(4);
  });

  test("a refused condition costs by the stored record, at least one (D10)", async () => {
    const { model } = await open({ text: "x".repeat(3000) });
    const when = [{ kind: "absent", path: ["pk"] } as const];
    await model.write({ kind: "put", key, fields: { text: "x".repeat(9000) }, when });
    expect(model.units().write).toBe(3);
    await model.write({ kind: "edit", key: { pk: "none", sk: "STATE" }, edits: [], when: [] });
    expect(model.units().write).toBe(4);
  });

  test("an index costs one to enter, one to leave, two to move, nothing to stay", async () => {
    const { model, edit } = await open({ v: 1 });
    const index = async (...edits: Edit[]) => {
      model.reset();
      await edit(...edits);
      return model.units().index;
    };
    const set = (name: string, to: Value): Edit => ({ kind: "set", path: [name], value: to });
    expect(await index(set("q", "D1"))).toBe(0);
    expect(await index(set("d", 1))).toBe(1);
    expect(await index(set("v", 2))).toBe(0);
    expect(await index(set("d", 2))).toBe(2);
    expect(await index(set("p", "t"), set("o", 7))).toBe(1);
    expect(await index({ kind: "remove", path: ["d"] })).toBe(1);
    model.reset();
    await model.write({ kind: "delete", key, when: [] });
    expect(model.units()).toMatchObject({ write: 2, index: 1 });
  });

  test("a query costs by the sum of its records, a batch read by each", async () => {
    const model = createUnitModel(createMemoryStore());
    const keys = [0, 1, 2].map((index) => ({ pk: "t", sk: `ATT#${index}` }));
    for (const one of keys) await model.write({ kind: "put", key: one, fields: { text: "x".repeat(1000) }, when: [] });
    model.reset();
    await model.list({ pk: "t", prefix: "ATT#", ...consistent });
    await model.list({ pk: "t", prefix: "OUT#", isConsistent: false });
    await model.read([...keys, ...keys], consistent);
    expect(model.units()).toEqual({
      write: 0,
      index: 0,
      read: 1 + 0.5 + 3,
      requests: 3,
      byRecord: {
        ATT: { write: 0, index: 0, read: 4, requests: 2 },
        OUT: { write: 0, index: 0, read: 0.5, requests: 1 },
      },
    });
  });

  test("a write whose reply is lost has its price", async () => {
    const model = createUnitModel(createMemoryStore({ hooks: { before: () => ({ kind: "lose-reply" }) } }));
    await model.write({ kind: "put", key, fields: {}, when: [] });
    expect(model.units()).toMatchObject({ write: 1, requests: 1 });
  });

  test("records are told apart by how their sort keys begin", () => {
    const keys = ["STATE", "STATE#MAIL#0a", "STATE#STRIKES#0a", "ATT#0a#0001", "IN#0a", "OUT#0a#P#1", "DEF"];
    expect(keys.map(recordPrefix)).toEqual(["STATE", "STATE#MAIL", "STATE#STRIKES", "ATT", "IN", "OUT", "DEF"]);
  });
});
