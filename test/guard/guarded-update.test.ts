import { describe, expect, test } from "vitest";
import { storedRecord } from "../../lib/guard/stored-record.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import type { MemoryStoreOptions } from "../../lib/testing/memory-store.ts";
import { type Counter, key, setUp } from "./counter.ts";

/** Injects into writes, in their order. */
function intoWrites(...injections: readonly (Injection | undefined)[]): MemoryStoreOptions {
  const queue = [...injections];
  return { hooks: { before: (call) => (call.op === "write" ? queue.shift() : undefined) } };
}

describe("a guarded update", () => {
  test("loads, recomputes and writes the next version with its token", async () => {
    const { clock, store, add } = await setUp();
    expect(await clock.drive(add())).toEqual({ kind: "applied", record: { n: 1 }, version: 2, wasUnclear: false });
    expect(store.peek(key)).toMatchObject({ n: 1, version: 2, lastTokens: [expect.any(String), expect.any(String)] });
  });

  test("writes nothing when there is nothing to do (W14)", async () => {
    const { add, writes } = await setUp();
    expect(await add({ decide: (current) => current })).toEqual({ kind: "unchanged", record: { n: 0 }, version: 1 });
    expect(writes).toHaveLength(1);
  });

  test("finds no record where there is none, and creates none (D15)", async () => {
    const { store, add } = await setUp();
    const gone = storedRecord<Counter>(store, { pk: "counters", sk: "none" });
    expect(await add({ record: gone })).toEqual({ kind: "not-found" });
    const removing = add({
      decide: ({ n }) => {
        void store.write({ kind: "delete", key, when: [] });
        return { n: n + 1 };
      },
    });
    expect(await removing).toEqual({ kind: "not-found" });
    expect(store.snapshot()).toEqual([]);
  });

  test("an own write behind a lost reply is no conflict, and is applied once (D1)", async () => {
    for (const kind of ["repeat", "lose-reply"] as const) {
      const conflicts: unknown[] = [];
      const { clock, store, add } = await setUp(intoWrites({ kind }));
      const outcome = await clock.drive(add({ onConflict: (conflict) => conflicts.push(conflict) }));
      expect(outcome).toMatchObject({ kind: "applied", record: { n: 1 }, version: 2, wasUnclear: true });
      expect(store.peek(key)).toMatchObject({ n: 1, version: 2 });
      expect(conflicts).toEqual([]);
    }
  });

  test("somebody else's token is a conflict, and the next attempt loads afresh (D1, W12)", async () => {
    let rival: (() => Promise<unknown>) | undefined;
    const { clock, store, add } = await setUp({
      hooks: { before: async (call) => void (call.op === "write" && (await rival?.())) },
    });
    rival = async () => {
      rival = undefined;
      await add();
    };
    const seen: [Counter, number][] = [];
    const conflicts: unknown[] = [];
    const decide = (current: Counter, version: number) => {
      seen.push([current, version]);
      return { n: current.n + 1 };
    };
    const outcome = await clock.drive(add({ decide, onConflict: (conflict) => conflicts.push(conflict) }));
    expect(outcome).toMatchObject({ kind: "applied", record: { n: 2 }, version: 3, wasUnclear: false });
    expect(conflicts).toEqual([{ attempt: 1, expected: 1, actual: 2 }]);
    expect(seen).toEqual([
      [{ n: 0 }, 1],
      [{ n: 1 }, 2],
    ]);
    expect(store.peek(key)).toMatchObject({ n: 2, version: 3 });
  });

  test("a lost request is sent again; one that never gets through is unclear", async () => {
    const once = await setUp(intoWrites({ kind: "lose-request" }));
    expect(await once.clock.drive(once.add())).toMatchObject({ kind: "applied", version: 2 });
    const never = await setUp({
      hooks: { before: (call) => (call.op === "write" ? { kind: "lose-request" } : undefined) },
    });
    expect(await never.clock.drive(never.add())).toMatchObject({ kind: "unclear", fault: { code: "unavailable" } });
    const last = await setUp(
      intoWrites(...Array.from({ length: 4 }, () => ({ kind: "lose-request" }) as const), { kind: "lose-reply" }),
    );
    expect(await last.clock.drive(last.add())).toMatchObject({ kind: "applied", version: 2, wasUnclear: true });
  });

  test("a request that arrives late, after its repeat, is refused by the version", async () => {
    let release: (() => void) | undefined;
    let writes = 0;
    const { clock, store, add } = await setUp({
      hooks: {
        before: (call) => {
          if (call.op !== "write" || ++writes !== 1) return undefined;
          return new Promise((resolve) => {
            release = () => resolve(undefined);
          });
        },
      },
    });
    const record = storedRecord<Counter>(store, key);
    let late: Promise<unknown> | undefined;
    const impatient: typeof record = {
      load: record.load,
      async save(next, current, token) {
        const saved = record.save(next, current, token);
        if (late !== undefined) return saved;
        late = saved;
        return { kind: "unclear", fault: { code: "unavailable", message: "No answer in time." } };
      },
    };
    expect(await clock.drive(add({ record: impatient }))).toMatchObject({ kind: "applied", version: 2 });
    release?.();
    expect(await late).toMatchObject({ kind: "refused" });
    expect(store.peek(key)).toMatchObject({ n: 1, version: 2 });
  });

  test("when too many have written since a lost reply, it says that it cannot tell", async () => {
    const { clock, store, add } = await setUp(intoWrites({ kind: "lose-reply" }));
    const record = storedRecord<Counter>(store, key);
    let isFirst = true;
    const slow: typeof record = {
      load: record.load,
      async save(next, current, token) {
        const saved = await record.save(next, current, token);
        if (isFirst) {
          isFirst = false;
          for (let other = 0; other < 4; other++) await add();
        }
        return saved;
      },
    };
    expect(await clock.drive(add({ record: slow }))).toMatchObject({ kind: "unclear" });
    expect(store.peek(key)).toMatchObject({ n: 5, version: 6 });
  });

  test("a person's decision is never taken again: a conflict goes back to them (W20)", async () => {
    const { clock, add, writes } = await setUp();
    await add();
    const decide = ({ n }: Counter) => ({ n: n + 100 });
    const stale = await clock.drive(add({ decide, policy: { kind: "decided-by-a-person", expected: 1 } }));
    expect(stale).toEqual({ kind: "conflict", current: { n: 1 }, expected: 1, actual: 2 });
    expect(writes).toHaveLength(2);
    const both = [2, 2].map((expected) => add({ decide, policy: { kind: "decided-by-a-person", expected } }));
    const kinds = (await clock.drive(Promise.all(both))).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(["applied", "conflict"]);
  });

  test("gives up when a pause does not fit into the time that is left", async () => {
    const { clock, store, record, add } = await setUp();
    const busy: typeof record = {
      load: record.load,
      async save(next, current, token) {
        await add();
        return record.save(next, current, token);
      },
    };
    const startMs = clock.nowMs();
    const remainingMs = () => 100 - (clock.nowMs() - startMs);
    expect(await clock.drive(add({ record: busy, remainingMs }))).toMatchObject({ kind: "conflict" });
    expect(clock.nowMs() - startMs).toBeLessThan(100);
    expect(store.peek(key)).toMatchObject({ version: 5 });
  });

  test("reads consistently: two writers need two attempts at most (D8)", async () => {
    const conflicts: unknown[] = [];
    const { clock, add } = await setUp({ isStale: () => true });
    const both = [1, 2].map(() => add({ onConflict: (conflict) => conflicts.push(conflict) }));
    const outcomes = await clock.drive(Promise.all(both));
    expect(outcomes.map((outcome) => outcome.kind === "applied" && outcome.version).toSorted()).toEqual([2, 3]);
    expect(conflicts).toHaveLength(1);
  });

  test("a stale load after a refusal costs a moment and no attempt (D8)", async () => {
    const { clock, record, add } = await setUp();
    const first = await record.load();
    let stale = 0;
    const conflicts: unknown[] = [];
    const lagging: typeof record = {
      async load() {
        if (stale === 0 && conflicts.length === 0) {
          await add();
          return first;
        }
        return ++stale <= 2 ? first : record.load();
      },
      save: record.save,
    };
    const outcome = await clock.drive(add({ record: lagging, onConflict: (conflict) => conflicts.push(conflict) }));
    expect(outcome).toMatchObject({ kind: "applied", version: 3 });
    expect(conflicts).toHaveLength(1);
  });
});
