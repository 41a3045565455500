import { type GuardedUpdateOptions, guardedUpdate } from "../../lib/guard/guarded-update.ts";
import { createStoredRecord, storedRecord } from "../../lib/guard/stored-record.ts";
import type { Fields } from "../../lib/ports.ts";
import { createMemoryStore, type MemoryStoreOptions } from "../../lib/testing/memory-store.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { createVirtualClock } from "../../lib/testing/virtual-clock.ts";

export type Counter = { readonly n: number };
export const key = { pk: "counters", sk: "one" };

/** A counter at 0 in a store with these options, and an update that adds one. */
export async function setUp(options: MemoryStoreOptions = {}, seed = 1) {
  const clock = createVirtualClock();
  const random = createSeededRandom(seed);
  const writes: Fields[] = [];
  let isReady = false;
  const store = createMemoryStore({
    ...options,
    hooks: { before: (call) => (isReady ? options.hooks?.before?.(call) : undefined) },
    onApplied: (_, __, now) => void (now && writes.push(now)),
  });
  await createStoredRecord(store, key, { n: 0 }, random);
  isReady = true;
  const record = storedRecord<Counter>(store, key);
  const add = (more: Partial<GuardedUpdateOptions<Counter>> = {}) =>
    guardedUpdate<Counter>({ record, decide: ({ n }) => ({ n: n + 1 }), clock, random, ...more });
  return { clock, random, store, record, add, writes };
}
