import type { Context, SQSEvent } from "aws-lambda";
import { describe, expect, it, vi } from "vitest";
import { bySource, type Instruments, onBatch, onSchedule } from "../../lib/aws/handler.ts";
import { batchOf, record } from "./events.ts";

const event = (...ids: string[]): SQSEvent => batchOf(...ids.map((id) => record(id)));
const contextOf = (leftMs: number) => ({ getRemainingTimeInMillis: () => leftMs }) as Context;

function instruments() {
  const trace: string[] = [];
  const deps: Instruments = {
    log: { write: (level, name) => void trace.push(`${level} ${name}`) },
    metrics: {
      count: (name, value) => void trace.push(`${name} ${value}`),
      flush: async () => void trace.push("flush"),
    },
  };
  return { trace, deps };
}

describe("the onion of a batch function", () => {
  it("begins its cold start at module load, once, outside of any invocation", async () => {
    let begun = 0;
    const { deps } = instruments();
    const init = () => {
      begun++;
      return deps;
    };
    const handler = onBatch({ init }, async () => []);
    expect(begun).toBe(1);
    await handler(event("m1"), contextOf(1000));
    await handler(event("m2"), contextOf(1000));
    expect(begun).toBe(1);
  });

  it("tries a failed cold start again at the next invocation, and fails the batch until then", async () => {
    let begun = 0;
    const { deps } = instruments();
    const init = async () => {
      begun++;
      if (begun < 3) throw new Error("no table yet");
      return deps;
    };
    const handler = onBatch({ init }, async () => []);
    // Lambda hands over an event after the module was loaded
    await new Promise(setImmediate);
    await expect(handler(event("m1"), contextOf(1000))).rejects.toThrow("no table yet");
    expect(await handler(event("m1"), contextOf(1000))).toEqual({ batchItemFailures: [] });
  });

  it("gives the verb the invocation's time less the reserve, never less than nothing (L10)", async () => {
    const { deps } = instruments();
    const seen: number[] = [];
    const handler = onBatch({ init: () => deps, reserveMs: 400 }, async (_deps, _batch, remaining) => {
      seen.push(remaining());
      return [];
    });
    await handler(event("m1"), contextOf(1000));
    await handler(event("m1"), contextOf(100));
    expect(seen).toEqual([600, 0]);
  });

  it("flushes the metrics after every invocation, also after one whose verb threw", async () => {
    const { deps, trace } = instruments();
    const handler = onBatch({ init: () => deps }, async () => {
      throw new Error("defect");
    });
    expect(await handler(event("m1", "m2"), contextOf(1000))).toEqual({
      batchItemFailures: [{ itemIdentifier: "m1" }, { itemIdentifier: "m2" }],
    });
    expect(trace).toEqual(["error batch-defect", "messages-handed-back 2", "flush"]);
  });

  it("does not hand back what is done because metrics could not be flushed (L3)", async () => {
    const { deps, trace } = instruments();
    const metrics = { ...deps.metrics, flush: () => Promise.reject(new Error("stdout is gone")) };
    const handler = onBatch({ init: () => ({ ...deps, metrics }) }, async () => []);
    expect(await handler(event("m1"), contextOf(1000))).toEqual({ batchItemFailures: [] });
    expect(trace).toEqual(["error layer-defect"]);
  });

  it("lets no layer answer in the verb's place, whatever it returns (M5)", async () => {
    const { deps } = instruments();
    const chatty = () => Promise.resolve({ batchItemFailures: [] } as unknown as undefined);
    const silent = () => null as unknown as undefined;
    const layers = [
      { before: chatty, after: chatty },
      { before: silent, after: silent },
    ];
    const handing = onBatch({ init: () => deps, layers }, async () => ["m1"]);
    expect(await handing(event("m1"), contextOf(1000))).toEqual({ batchItemFailures: [{ itemIdentifier: "m1" }] });
    const failing = onBatch({ init: () => Promise.reject(new Error("no table")), layers }, async () => []);
    await expect(failing(event("m1"), contextOf(1000))).rejects.toThrow("no table");
  });

  it("fails the batch when a layer throws before the verb, and runs the layers like an onion (M5)", async () => {
    const { deps } = instruments();
    const order: string[] = [];
    const layer = (name: string) => ({
      before: () => void order.push(`${name} before`) as undefined,
      after: () => void order.push(`${name} after`) as undefined,
    });
    const layers = [layer("outer"), layer("inner")];
    await onBatch({ init: () => deps, layers }, async () => {
      order.push("verb");
      return [];
    })(event("m1"), contextOf(1000));
    expect(order).toEqual(["outer before", "inner before", "verb", "inner after", "outer after"]);
    const refusing = { before: () => Promise.reject(new Error("not now")) };
    const handler = onBatch({ init: () => deps, layers: [refusing] }, async () => []);
    await expect(handler(event("m1"), contextOf(1000))).rejects.toThrow("not now");
  });
});

describe("the onion of a scheduled function", () => {
  it("throws what the verb throws, after the metrics have left", async () => {
    const { deps, trace } = instruments();
    const handler = onSchedule({ init: () => deps }, () => Promise.reject(new Error("denied")));
    await expect(handler({}, contextOf(1000))).rejects.toThrow("denied");
    expect(trace).toEqual(["flush"]);
  });

  it("shares a function with a queue: batches go one way, everything else the other", async () => {
    const { deps } = instruments();
    const seen: string[] = [];
    const handler = bySource(
      onBatch({ init: () => deps }, async (_deps, batch) => {
        seen.push(...batch.map((message) => message.id));
        return [];
      }),
      onSchedule({ init: () => deps }, async () => void seen.push("tick of the clock")),
    );
    expect(await handler(event("m1"), contextOf(1000))).toEqual({ batchItemFailures: [] });
    expect(await handler({ source: "aws.scheduler" }, contextOf(1000))).toBeUndefined();
    expect(seen).toEqual(["m1", "tick of the clock"]);
  });
});

describe("an invocation that runs out of time", () => {
  it("says what it holds while it still can, and answers as if nothing had been said (M3)", async () => {
    vi.useFakeTimers();
    try {
      const written: unknown[] = [];
      const { deps, trace } = instruments();
      const log = { write: (...line: readonly unknown[]) => void written.push(line) };
      const { promise, resolve } = Promise.withResolvers<readonly string[]>();
      const handler = onBatch({ init: () => ({ ...deps, log }) }, () => promise);
      const answer = handler(event("m1", "m2"), contextOf(30_000));
      await vi.advanceTimersByTimeAsync(24_900);
      expect(written).toEqual([]);
      await vi.advanceTimersByTimeAsync(200);
      expect(written).toEqual([["warn", "time-short", { leftMs: 5_000, holds: ["m1", "m2"] }]]);
      expect(trace).toEqual(["time-short undefined", "flush"]);
      resolve(["m2"]);
      expect(await answer).toEqual({ batchItemFailures: [{ itemIdentifier: "m2" }] });
    } finally {
      vi.useRealTimers();
    }
  });

  it("says nothing once it has answered, also when it threw", async () => {
    vi.useFakeTimers();
    try {
      const { deps, trace } = instruments();
      const verbs = [async () => [], () => Promise.reject(new Error("defect"))];
      for (const verb of verbs) await onBatch({ init: () => deps }, verb)(event("m1"), contextOf(1_000));
      await vi.advanceTimersByTimeAsync(60_000);
      expect(trace.filter((line) => line.includes("time-short"))).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});
