import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RunStore } from "../../lib/ports.ts";
import { createMemoryStore } from "../../lib/testing/memory-store.ts";
import { preflight } from "./preflight.ts";

/** A store that looks, waits, and then writes whatever it has seen: what an emulator without a lock does. */
function hasty(kind: "put" | "edit"): RunStore {
  const store = createMemoryStore();
  return {
    ...store,
    async write(write, options) {
      if (write.kind !== kind) return await store.write(write, options);
      const [seen] = await store.read([write.key], { isConsistent: true });
      await turn();
      const isFree = write.kind === "put" ? seen === undefined : seen?.["v"] === 0;
      return await store.write(isFree ? { ...write, when: [] } : write, options);
    },
  };
}

describe("the pre-flight of a store (E3)", () => {
  test("lets a store pass whose conditional writes have one winner, and leaves nothing behind", async () => {
    const written: string[] = [];
    const store = createMemoryStore();
    await preflight({
      ...store,
      async write(write, options) {
        written.push(write.key.pk);
        return await store.write(write, options);
      },
    });
    expect(written.length).toBe(101);
    expect((await store.list({ pk: String(written[0]), prefix: "", isConsistent: true })).items).toEqual([]);
  });

  test.each([
    ["put", /^emulator unsafe: of 50 parallel creations of one record 50 were applied and 0 refused/],
    ["edit", /^emulator unsafe: of 50 parallel edits of one version 50 were applied and 0 refused/],
  ] as const)("stops everything where a conditional %s looks first and writes later", async (kind, reason) => {
    await expect(preflight(hasty(kind))).rejects.toThrow(reason);
  });

  test("stops everything where the condition is not looked at, or what was written is not read", async () => {
    const store = createMemoryStore();
    const deaf: RunStore = { ...store, write: (write, options) => store.write({ ...write, when: [] }, options) };
    await expect(preflight(deaf)).rejects.toThrow(/^emulator unsafe/);
    const blind: RunStore = { ...store, read: async (keys) => keys.map(() => undefined) };
    await expect(preflight(blind)).rejects.toThrow(/writer undefined$/);
  });
});
