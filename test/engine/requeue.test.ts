import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Envelope, envelopeFrom, envelopeText } from "../../lib/core/envelope.ts";
import { defaultLimits } from "../../lib/core/limits.ts";
import { coordinate } from "../../lib/engine/coordinate.ts";
import { decide } from "../../lib/engine/decide.ts";
import { envelope, queues } from "../../lib/engine/messages.ts";
import { requeueDelaySeconds } from "../../lib/engine/requeue.ts";
import { start } from "../../lib/engine/start.ts";
import type { MemoryStore } from "../../lib/testing/memory-store.ts";
import { createWorld } from "../../lib/testing/world.ts";
import { stepNode } from "../core/fixture.ts";
import { definitionOf, rawRegistry, refOf, runOf } from "./raw.ts";

describe("the pause before a requeue", () => {
  test("is 1 to 10 whole seconds, grows with n, and is never without spread (Q1, W14)", () => {
    const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fraction, (n, chance) => {
        const delay = requeueDelaySeconds(n, chance);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(1);
        expect(delay).toBeLessThanOrEqual(10);
        expect(requeueDelaySeconds(n, 0)).toBe(1);
        expect(requeueDelaySeconds(n, 0.999)).toBeGreaterThan(1);
        expect(requeueDelaySeconds(n + 1, chance)).toBeGreaterThanOrEqual(delay);
      }),
    );
  });
});

describe("a requeue", () => {
  /** One wake-up for a run whose commits are all refused; gives the message that carries on. */
  async function requeued(fields: (seq: number) => Partial<Envelope>) {
    let isStuck = false;
    const world = createWorld({
      registry: rawRegistry([definitionOf("w", [{ kind: "gate", name: "g" }, stepNode("z", ["g"])])]),
      hasWatchdog: false,
      store: (inner: MemoryStore) => ({
        ...inner,
        write: async (write, options) =>
          isStuck && write.kind === "edit" && write.key.sk === "STATE"
            ? { kind: "refused", now: inner.peek(write.key)!, isClear: true }
            : await inner.write(write, options),
      }),
    });
    const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null, tier: "bulk" });
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    for (const each of world.queue.receive(queues.wake("bulk"))) world.queue.ack(each);
    isStuck = true;
    const body = envelopeText(envelope(run, fields(run.transitionSeq)));
    const received = { id: "m1", body, receiveCount: 1, sentAtMs: 0 };
    expect(await world.clock.drive(coordinate(world.engine, [received], () => 900_000, queues.wake("bulk")))).toEqual(
      [],
    );
    const [next, ...more] = world.queue.messages();
    expect(more).toEqual([]);
    expect(world.queue.delayed(queues.wake("bulk")), "it waits before it is received").toBe(1);
    return { next: next!, envelope: envelopeFrom(next!.body), run };
  }

  test("carries the hints, the count and the transition at which it was counted, in its run's own tier", async () => {
    const { next, envelope: carried, run } = await requeued(() => ({ hints: ["0/0/1"], firstAtMs: 77 }));
    expect(next.queue).toBe(queues.wake("bulk"));
    expect(next.taskKey).toBe(`${run.runUid}:${run.transitionSeq}:requeue-1`);
    expect(carried).toMatchObject({ hints: ["0/0/1"], requeues: 1, requeuesAtSeq: run.transitionSeq, firstAtMs: 77 });
  });

  test("counts on while the run stands still, and begins anew when it has moved since", async () => {
    const same = await requeued((seq) => ({ hints: ["0/0/1"], requeues: 4, requeuesAtSeq: seq }));
    expect(same.envelope.requeues).toBe(5);
    expect(same.next.taskKey).toMatch(/:requeue-5$/);
    const moved = await requeued((seq) => ({ hints: ["0/0/1"], requeues: 4, requeuesAtSeq: seq - 1 }));
    expect(moved.envelope.requeues).toBe(1);
  });

  test("stays a timer's or a deploy's word, which no other message makes up for; of a watchdog's the flags are carried", async () => {
    const why = async (fields: Partial<Envelope>) => (await requeued(() => ({ hints: ["0/0/1"], ...fields }))).envelope;
    expect(await why({ why: "unpark" })).toMatchObject({ why: "unpark" });
    expect(await why({ why: "timer" })).toMatchObject({ why: "timer" });
    expect(await why({ why: "watchdog" })).toMatchObject({ why: "hint", isAll: true });
  });

  test("of an inline task that could not be taken is that task again: a coordinator would not run it, and nobody else carries it", async () => {
    const nodes = [stepNode("a", [], { isInline: true }), stepNode("b", ["a"])];
    let refusals = 1;
    const world = createWorld({
      registry: rawRegistry([definitionOf("w", nodes)], { "work@1": () => ({}) }),
      hasWatchdog: false,
      limits: { ...defaultLimits, commitWindowsMs: [0] },
      store: (inner: MemoryStore) => ({
        ...inner,
        write: async (write, options) =>
          write.kind === "edit" && write.key.sk === "STATE" && refusals-- > 0
            ? { kind: "refused", now: inner.peek(write.key)!, isClear: true }
            : await inner.write(write, options),
      }),
    });
    await start(world.engine, { workflow: "w", runId: "r", input: null });
    const [task] = world.queue.messages();
    await world.advance(10);
    const [next, ...more] = world.queue.messages();
    expect(more).toEqual([]);
    expect(next?.queue).toBe(task?.queue);
    expect(envelopeFrom(next!.body)).toMatchObject({ task: envelopeFrom(task!.body).task, requeues: 1 });
    await world.advance(20_000);
    expect(await runOf(world, "r")).toMatchObject({ phase: "succeeded", active: [], reason: undefined });
  });

  test("forgets the doubts of before when the run has moved since: they were about another state", async () => {
    const same = await requeued((seq) => ({ hints: ["0/0/1"], requeues: 4, doubts: 2, requeuesAtSeq: seq }));
    expect(same.envelope.doubts).toBe(2);
    const moved = await requeued((seq) => ({ hints: ["0/0/1"], requeues: 4, doubts: 2, requeuesAtSeq: seq - 1 }));
    expect(moved.envelope.doubts ?? 0).toBe(0);
  });
});
