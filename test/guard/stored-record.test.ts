import { expect, test } from "vitest";
import { Fault } from "../../lib/core/faults.ts";
import { tokensKept, whose, withToken } from "../../lib/guard/mine.ts";
import { createStoredRecord, storedRecord } from "../../lib/guard/stored-record.ts";
import { pauseBefore } from "../../lib/guard/windows.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import { createMemoryStore } from "../../lib/testing/memory-store.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";

const key = { pk: "p", sk: "s" };
const random = createSeededRandom(1);

test("the first creation wins and the others see it", async () => {
  const store = createMemoryStore();
  const created = await Promise.all([1, 2, 3].map((n) => createStoredRecord(store, key, { n }, random)));
  expect(created.map(({ kind }) => kind).toSorted()).toEqual(["created", "exists", "exists"]);
  expect(created.find(({ kind }) => kind === "exists")).toMatchObject({ current: { n: 1 }, version: 1 });
});

test("a creation whose reply was lost is its own (D1)", async () => {
  for (const kind of ["repeat", "lose-reply"] as const) {
    const store = createMemoryStore({
      hooks: { before: (call): Injection | undefined => (call.op === "write" ? { kind } : undefined) },
    });
    expect(await createStoredRecord(store, key, { n: 1 }, random)).toEqual({ kind: "created", version: 1 });
  }
  const lost = createMemoryStore({
    hooks: { before: (call) => (call.op === "write" ? { kind: "lose-request" } : undefined) },
  });
  expect(await createStoredRecord(lost, key, { n: 1 }, random)).toMatchObject({ kind: "unclear" });
});

test("a record keeps its fields apart from what guards it, under names of its own", async () => {
  const store = createMemoryStore();
  const names = { version: "rev", tokens: "by" };
  await createStoredRecord(store, key, { version: "user's own" }, random, names);
  expect(await storedRecord(store, key, names).load()).toMatchObject({ record: { version: "user's own" }, version: 1 });
  expect(store.peek(key)).toMatchObject({ rev: 1, by: [expect.any(String)] });
  await expect(storedRecord(store, key).load()).rejects.toSatisfy((error) => Fault.is(error, "bad-row"));
});

test("whose a write is: the token says so, or its absence, or nobody can tell", () => {
  expect(whose(["a"], ["c", "a"], 1, 3, false)).toBe("mine");
  expect(whose(["a", "b"], ["b"], 1, 2, true)).toBe("mine");
  expect(whose(["a"], ["c", "d"], 1, 1 + tokensKept, false)).toBe("theirs");
  expect(whose(["a"], ["c", "d"], 1, 2 + tokensKept, false)).toBe("unknown");
  expect(whose(["a"], ["c", "d"], 1, 2 + tokensKept, true)).toBe("theirs");
  expect(withToken("e", ["d", "c", "b", "a"])).toEqual(["e", "d", "c", "b"]);
});

test("pauses are whole, within their windows, spread over them, and end", () => {
  const windowsMs = [0, 20, 20, 40, 1000];
  for (const [index, windowMs] of windowsMs.entries()) {
    const pauses = Array.from({ length: 500 }, () => pauseBefore(index + 1, random) ?? -1);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(windowMs);
    expect(Math.max(...pauses)).toBeGreaterThanOrEqual(windowMs * 0.9);
    expect(pauses.every(Number.isInteger)).toBe(true);
  }
  expect(pauseBefore(6, random)).toBeUndefined();
});
