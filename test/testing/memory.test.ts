import { describe, expect, test } from "vitest";
import { Fault } from "../../lib/core/faults.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import { createMemoryQueue } from "../../lib/testing/memory-queue.ts";
import { createMemoryStore } from "../../lib/testing/memory-store.ts";
import { createRecordingMetrics } from "../../lib/testing/recording.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { createVirtualClock } from "../../lib/testing/virtual-clock.ts";

const key = { pk: "t#r", sk: "STATE" };
const version = (value: number) => [{ kind: "equals", path: ["v"], value } as const];
const bump = { kind: "edit", key, edits: [{ kind: "add", path: ["v"], by: 1 }], when: version(1) } as const;

function storeWith(...injections: readonly (Injection | undefined)[]) {
  const queue = [undefined, ...injections];
  return createMemoryStore({ hooks: { before: () => queue.shift() } });
}

describe("the memory store's faults", () => {
  test("a lost request and a lost reply look alike, and only one was applied (D1)", async () => {
    const lost = storeWith({ kind: "lose-request" });
    await lost.write({ kind: "put", key, fields: { v: 1 }, when: [] });
    expect(await lost.write(bump)).toMatchObject({ kind: "unclear", fault: { code: "unavailable" } });
    expect(lost.peek(key)).toEqual({ v: 1 });

    const applied = storeWith({ kind: "lose-reply" });
    await applied.write({ kind: "put", key, fields: { v: 1 }, when: [] });
    expect(await applied.write(bump)).toMatchObject({ kind: "unclear" });
    expect(applied.peek(key)).toEqual({ v: 2 });
  });

  test("a silent repeat is answered by the second attempt, which meets its own write (D1)", async () => {
    const store = storeWith({ kind: "repeat" });
    await store.write({ kind: "put", key, fields: { v: 1 }, when: [] });
    expect(await store.write(bump)).toEqual({ kind: "refused", now: { v: 2 }, isClear: false });
  });

  test("a fault is thrown and a crash never comes back", async () => {
    const store = storeWith({ kind: "fail", fault: new Fault("throttled", "Slow down.") }, { kind: "crash-after" });
    await store.write({ kind: "put", key, fields: { v: 1 }, when: [] });
    await expect(store.write(bump)).rejects.toSatisfy((error) => Fault.is(error, "throttled"));
    const crashed = store.write(bump).then(() => "answered");
    expect(await Promise.race([crashed, new Promise((resolve) => setTimeout(resolve, 5, "silent"))])).toBe("silent");
    expect(store.peek(key)).toEqual({ v: 2 });
  });

  test("an eventually consistent read may meet the previous version, a consistent one never (D8)", async () => {
    const store = createMemoryStore({ isStale: () => true });
    await store.write({ kind: "put", key, fields: { v: 1 }, when: [] });
    await store.write(bump);
    expect(await store.read([key], { isConsistent: false })).toEqual([{ v: 1 }]);
    expect(await store.read([key], { isConsistent: true })).toEqual([{ v: 2 }]);
  });

  test("an index lags by as much as it is told to (D9)", async () => {
    const clock = createVirtualClock();
    const store = createMemoryStore({ nowMs: clock.nowMs, indexLagMs: () => 50 });
    await store.write({ kind: "put", key, fields: { q: "D00", d: 7 }, when: [] });
    const query = { partition: "D00", limit: 10 };
    expect((await store.find("due", query)).items).toEqual([]);
    await clock.advance(50);
    expect((await store.find("due", query)).items).toEqual([{ ...key, at: 7 }]);
  });

  test("nothing is shared with its callers, bytes included", async () => {
    const store = createMemoryStore();
    const fields = { list: [1], bytes: new Uint8Array([1]) };
    await store.write({ kind: "put", key, fields, when: [] });
    fields.list.push(2);
    fields.bytes[0] = 9;
    const [first] = await store.read([key], { isConsistent: true });
    const read = first as unknown as { readonly list: number[]; readonly bytes: Uint8Array };
    read.bytes[0] = 8;
    expect(() => read.list.push(3)).toThrow(TypeError);
    expect(store.peek(key)).toEqual({ list: [1], bytes: new Uint8Array([1]) });
  });
});

describe("the memory queue", () => {
  const message = (body: string, more = {}) => ({ queue: "wake:standard", body, group: "g", taskKey: body, ...more });

  test("hides what was received, counts, and moves it to its dead-letter queue (Q7)", async () => {
    const clock = createVirtualClock();
    const queue = createMemoryQueue({ clock, visibilityMs: 1000, maxReceiveCount: 2 });
    await queue.send([message("a"), message("b", { delaySeconds: 5 })]);
    expect([queue.visible("wake:standard"), queue.delayed("wake:standard")]).toEqual([1, 1]);
    const [first] = queue.receive("wake:standard");
    expect(first).toMatchObject({ body: "a", receiveCount: 1, sentAtMs: clock.nowMs() });
    expect([queue.visible("wake:standard"), queue.inFlight("wake:standard")]).toEqual([0, 1]);
    await clock.advance(1000);
    const [second] = queue.receive("wake:standard");
    expect(second?.receiveCount).toBe(2);
    if (first) queue.ack(first);
    if (second) queue.release(second);
    expect(queue.receive("wake:standard")).toEqual([]);
    expect(queue.receive("dead")).toMatchObject([{ body: "a", queue: "dead" }]);
    expect(queue.nextVisibleAtMs()).toBe(clock.nowMs() + 1000);
  });

  test("loses, doubles and shuffles as its seed says, and says so to nobody", async () => {
    const random = createSeededRandom("q");
    const queue = createMemoryQueue({ clock: createVirtualClock(), random, lossRate: 0.2, duplicateRate: 0.2 });
    const sent = await queue.send(Array.from({ length: 200 }, (_, index) => message(`${index}`)));
    expect(sent.every(({ kind }) => kind === "sent")).toBe(true);
    const bodies = queue.receive("wake:standard", 1000).map(({ body }) => Number(body));
    expect(new Set(bodies).size).toBeGreaterThan(130);
    expect(new Set(bodies).size).toBeLessThan(185);
    expect(bodies.length).toBeGreaterThan(new Set(bodies).size);
    expect(bodies).not.toEqual(bodies.toSorted((a, b) => a - b));
  });
});

describe("the virtual clock", () => {
  test("wakes sleepers at their own instants, in order", async () => {
    const clock = createVirtualClock(0);
    const woken: string[] = [];
    for (const ms of [30, 10, 20]) void clock.sleep(ms).then(() => woken.push(`${ms}@${clock.nowMs()}`));
    await clock.advance(25);
    expect(woken).toEqual(["10@10", "20@20"]);
    expect([clock.nowMs(), clock.nextWakeAtMs()]).toEqual([25, 30]);
  });

  test("drives work to its end, and says when time cannot", async () => {
    const clock = createVirtualClock(0);
    const work = async () => {
      for (let turn = 0; turn < 3; turn++) await clock.sleep(100);
      return clock.nowMs();
    };
    expect(await clock.drive(work())).toBe(300);
    await expect(clock.drive(new Promise(() => {}))).rejects.toThrow("nobody sleeps");
  });

  test("an aborted sleep rejects with the reason and is forgotten", async () => {
    const clock = createVirtualClock(0);
    const controller = new AbortController();
    const sleep = clock.sleep(100, controller.signal);
    controller.abort(new Error("enough"));
    await expect(sleep).rejects.toThrow("enough");
    expect(clock.nextWakeAtMs()).toBeUndefined();
  });
});

test("seeded randomness repeats, spreads and never gives a token twice", () => {
  const draw = (seed: number) => Array.from({ length: 5 }, createSeededRandom(seed).fraction);
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  const random = createSeededRandom(7);
  const mean = Array.from({ length: 10_000 }, random.fraction).reduce((sum, one) => sum + one, 0) / 10_000;
  expect(mean).toBeGreaterThan(0.49);
  expect(mean).toBeLessThan(0.51);
  const tokens = Array.from({ length: 10_000 }, random.token);
  expect(new Set(tokens).size).toBe(tokens.length);
  expect(tokens.every((token) => /^[0-9a-f]{16}$/.test(token))).toBe(true);
});

test("recorded metrics add up by name and dimension", () => {
  const metrics = createRecordingMetrics();
  metrics.count("commits", 1, { workflow: "a" });
  metrics.count("commits", 2, { workflow: "b" });
  metrics.count("conflicts");
  expect(metrics.total("commits")).toBe(3);
  expect(metrics.total("commits", { workflow: "b" })).toBe(2);
  expect(metrics.totals()).toEqual({ commits: 3, conflicts: 1 });
});
