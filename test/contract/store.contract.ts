import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fault } from "../../lib/core/faults.ts";
import type { Check, Edit, Fields, Key, RunStore } from "../../lib/ports.ts";
import { preflight } from "./preflight.ts";
import { absent, checks, edits, record } from "./store-cases.ts";

export interface OpenStore {
  readonly store: RunStore;
  close(): Promise<void>;
}

let partitions = 0;
/** A key in a partition of its own. */
const newKey = (sk = "STATE"): Key => ({ pk: `t#r${++partitions}`, sk });
const consistent = { isConsistent: true } as const;

const isRefused = (error: unknown) => Fault.is(error, "refused");

/**
 * What every `RunStore` does. `lies`: cases of which it is known that this emulator gets them wrong. They are run like all others, and
 * have to fail: a test that turns red there says that the lie was mended.
 */
export function storeContract(name: string, open: () => Promise<OpenStore>, lies: readonly string[] = []): void {
  const told = lies.filter((lie) => ![...checks, ...edits].some(([what]) => what === lie));
  if (told.length > 0) throw new Error(`no case is called ${told.join(", ")}`);
  const testOf = (what: string) => (lies.includes(what) ? test.fails : test);
  describe(`${name} as a run store`, () => {
    let store: RunStore;
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ store, close } = await open());
      await preflight(store);
    });
    afterAll(() => close());

    const put = (key: Key, fields: Fields, when: readonly Check[] = []) =>
      store.write({ kind: "put", key, fields, when });
    const edit = (key: Key, changes: readonly Edit[], when: readonly Check[] = []) =>
      store.write({ kind: "edit", key, edits: changes, when }, { returns: "all" });
    const read = async (key: Key) => (await store.read([key], consistent))[0];

    test("one of fifty parallel creations is applied (E3)", async () => {
      const key = newKey();
      const written = await Promise.all(Array.from({ length: 50 }, (_, writer) => put(key, { writer }, [absent])));
      expect(written.filter(({ kind }) => kind === "applied")).toHaveLength(1);
      const winner = written.findIndex(({ kind }) => kind === "applied");
      for (const one of written) {
        if (one.kind !== "applied") expect(one).toEqual({ kind: "refused", now: { writer: winner }, isClear: true });
      }
      expect(await read(key)).toEqual({ writer: winner });
    });

    test("one of twenty parallel edits of a version is applied, and no edit is lost (W13)", async () => {
      const key = newKey();
      await put(key, { v: 0 });
      let conflicts = 0;
      const bump = async () => {
        for (;;) {
          const { v } = (await read(key)) as { v: number };
          const written = await edit(
            key,
            [{ kind: "add", path: ["v"], by: 1 }],
            [{ kind: "equals", path: ["v"], value: v }],
          );
          if (written.kind === "applied") return;
          conflicts += 1;
        }
      };
      await Promise.all(Array.from({ length: 20 }, bump));
      expect(await read(key)).toEqual({ v: 20 });
      expect(conflicts).toBeGreaterThan(0);
    });

    test("gives back what was put, without its key, and nothing for what is not there", async () => {
      const [one, other] = [newKey(), newKey()];
      expect(await put(one, record)).toEqual({ kind: "applied", now: undefined, isClear: true });
      expect(await store.read([one, other, one], consistent)).toEqual([record, undefined, record]);
      expect(await store.read([], consistent)).toEqual([]);
    });

    test("reads more keys than one request takes, in their order", async () => {
      const { pk } = newKey();
      const keys = Array.from({ length: 130 }, (_, index) => ({ pk, sk: `A#${index}` }));
      await Promise.all(keys.map((key, index) => put(key, { index })));
      const found = await store.read(keys, consistent);
      expect(found).toEqual(keys.map((_, index) => ({ index })));
    });

    for (const [what, check, isTrue] of checks)
      testOf(what)(`a condition: ${what}`, async () => {
        const key = newKey();
        await put(key, record);
        const written = await edit(key, [{ kind: "set", path: ["hit"], value: 1 }], [check]);
        expect(written).toEqual(
          isTrue
            ? { kind: "applied", now: { ...record, hit: 1 }, isClear: true }
            : { kind: "refused", now: record, isClear: true },
        );
      });

    test("on an absent record every condition but `absent` is false (D15)", async () => {
      for (const [, check] of checks) {
        const isTrue = check.kind === "absent" || (check.kind === "any" && check.of[0]?.[0]?.kind === "absent");
        const written = await put(newKey(), record, [check]);
        expect(written.kind, JSON.stringify(check)).toBe(isTrue ? "applied" : "absent");
      }
    });

    test("all conditions of a list have to hold, and one without an order is invalid", async () => {
      const key = newKey();
      await put(key, record);
      const yes = { kind: "exists", path: ["n"] } as const;
      expect(await put(key, { n: 1 }, [yes, absent])).toMatchObject({ kind: "refused" });
      await expect(put(key, record, [{ kind: "under", path: ["n"], value: true }])).rejects.toSatisfy(isRefused);
      await expect(put(key, record, [{ kind: "any", of: [] }])).rejects.toSatisfy(isRefused);
    });

    for (const [what, changes, now] of edits)
      testOf(what)(`a change: ${what}`, async () => {
        const key = newKey();
        await put(key, record);
        if (now === "refused") {
          await expect(edit(key, changes)).rejects.toSatisfy(isRefused);
          expect(await read(key)).toEqual(record);
        } else {
          expect(await edit(key, changes)).toEqual({ kind: "applied", now, isClear: true });
          expect(await read(key)).toEqual(now);
        }
      });

    test("an edit never creates a record, whatever its condition says (D15)", async () => {
      const key = newKey();
      for (const when of [[], [absent], [{ kind: "exists", path: ["n"] } as const]]) {
        const written = await edit(key, [{ kind: "set", path: ["n"], value: 1 }], when);
        expect(written).toEqual({ kind: "absent", isClear: true });
      }
      expect(await read(key)).toBeUndefined();
    });

    test("a put replaces the whole record and a delete removes it, conditionally", async () => {
      const key = newKey();
      await put(key, record);
      await put(key, { n: 1 });
      expect(await read(key)).toEqual({ n: 1 });
      const remove = (value: number) =>
        store.write({ kind: "delete", key, when: [{ kind: "equals", path: ["n"], value }] }, { returns: "all" });
      expect(await remove(2)).toEqual({ kind: "refused", now: { n: 1 }, isClear: true });
      expect(await remove(1)).toEqual({ kind: "applied", now: undefined, isClear: true });
      expect(await remove(1)).toEqual({ kind: "absent", isClear: true });
      expect(await store.write({ kind: "delete", key, when: [] })).toMatchObject({ kind: "applied" });
    });

    test("names that the service reserves are names like any other (D13)", async () => {
      const key = newKey();
      const words = {
        status: 1,
        state: "s",
        data: { name: 2, value: [3] },
        ttl: 4,
        size: 5,
        count: 6,
        "a.b": 7,
        "#x": 8,
      };
      await put(key, words);
      const written = await edit(
        key,
        [
          { kind: "add", path: ["count"], by: 1 },
          { kind: "set", path: ["data", "name"], value: "n" },
          { kind: "remove", path: ["a.b"] },
        ],
        [
          { kind: "exists", path: ["status"] },
          { kind: "equals", path: ["#x"], value: 8 },
        ],
      );
      const { "a.b": _, ...rest } = words;
      expect(written).toMatchObject({ now: { ...rest, count: 7, data: { name: "n", value: [3] } } });
    });

    test("a record of more than 400 KB is refused by its own name", async () => {
      const [big, grown] = [newKey(), newKey()];
      const isTooBig = (error: unknown) => Fault.is(error, "row-too-big");
      await expect(put(big, { text: "x".repeat(420_000) })).rejects.toSatisfy(isTooBig);
      await put(grown, { text: "x".repeat(300_000), list: [] });
      await expect(edit(grown, [{ kind: "set", path: ["more"], value: "x".repeat(150_000) }])).rejects.toSatisfy(
        isTooBig,
      );
      await expect(edit(grown, [{ kind: "append", path: ["list"], values: ["x".repeat(150_000)] }])).rejects.toSatisfy(
        isTooBig,
      );
    });

    test("an aborted write is unclear", async () => {
      const key = newKey();
      const signal = AbortSignal.abort();
      const written = await store.write({ kind: "put", key, fields: { n: 1 }, when: [] }, { signal });
      expect(written).toMatchObject({ kind: "unclear", fault: { code: "unavailable" } });
    });

    test("lists a partition by prefix, in order, in pages, keys included", async () => {
      const { pk } = newKey();
      const names = ["ATT#1", "STATE", "STATE#MAIL", "STATE#STRIKES", "STATF"];
      await Promise.all(names.map((sk, index) => put({ pk, sk }, { index })));
      const from = { pk, prefix: "STATE", ...consistent };
      const all = await store.list(from);
      expect(all.items).toEqual(["STATE", "STATE#MAIL", "STATE#STRIKES"].map((sk, at) => ({ pk, sk, index: at + 1 })));
      expect(all.next).toBeUndefined();
      const first = await store.list({ ...from, limit: 2 });
      expect(first.items.map(({ sk }) => sk)).toEqual(["STATE", "STATE#MAIL"]);
      const second = await store.list({ ...from, limit: 2, after: first.next ?? "" });
      expect(second).toMatchObject({ items: [{ sk: "STATE#STRIKES" }], next: undefined });
      expect((await store.list({ ...from, prefix: "" })).items).toHaveLength(5);
    });

    test("a page of a list ends at a megabyte", async () => {
      const { pk } = newKey();
      for (let index = 0; index < 4; index++) await put({ pk, sk: `A#${index}` }, { text: "x".repeat(350_000) });
      const first = await store.list({ pk, prefix: "A#", ...consistent });
      expect(first.items.length).toBeLessThan(4);
      const second = await store.list({ pk, prefix: "A#", ...consistent, after: first.next ?? "" });
      expect([...first.items, ...second.items].map(({ sk }) => sk)).toEqual(["A#0", "A#1", "A#2", "A#3"]);
    });

    test("the indexes hold who has both attributes, by the number, from either end, in pages", async () => {
      const { pk } = newKey();
      const partition = `D#${pk}`;
      for (const d of [30, 10, 20]) await put({ pk, sk: `S#${d}` }, { q: partition, d });
      await put({ pk, sk: "S#none" }, { q: partition });
      const find = async (query = {}) => {
        const { items, next } = await store.find("due", { partition, limit: 10, ...query });
        return { ats: items.map(({ at }) => at), items, next };
      };
      expect((await find()).items).toEqual([10, 20, 30].map((at) => ({ pk, sk: `S#${at}`, at })));
      expect((await find({ upTo: 20 })).ats).toEqual([10, 20]);
      expect((await find({ isNewestFirst: true })).ats).toEqual([30, 20, 10]);
      const first = await find({ limit: 2 });
      expect(first.ats).toEqual([10, 20]);
      expect((await find({ limit: 2, after: first.next })).ats).toEqual([30]);
      const newest = await find({ limit: 1, isNewestFirst: true });
      expect((await find({ limit: 1, isNewestFirst: true, after: newest.next })).ats).toEqual([20]);
    });

    test("an index follows its records: moved, removed from it, deleted", async () => {
      const { pk } = newKey();
      const partition = `R#${pk}`;
      const keys = ["A", "B", "C"].map((sk) => ({ pk, sk }));
      const [a, b, c] = keys as [Key, Key, Key];
      await Promise.all(keys.map((key, index) => put(key, { p: partition, o: index })));
      await edit(a, [{ kind: "set", path: ["o"], value: 9 }]);
      await edit(b, [
        { kind: "remove", path: ["p"] },
        { kind: "remove", path: ["o"] },
      ]);
      await store.write({ kind: "delete", key: c, when: [] });
      expect((await store.find("runs", { partition, limit: 10 })).items).toEqual([{ ...a, at: 9 }]);
    });
  });
}
