import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { eq, FatalError, gte, orElse, type RefTo, step, workflow } from "../../lib/index.ts";
import { second, tell } from "./story.ts";

const page = {
  input: v.object({ n: v.number(), blob: v.optional(v.string()) }),
  output: v.object({ n: v.number(), blob: v.string() }),
};

interface Options {
  readonly limit?: number;
  readonly factor?: number;
  readonly every?: number;
  readonly longest?: number;
  readonly step?: object;
}

/** Counts up from what it was told last, until three. */
function counting(does: (n: number, iteration: number, attempt: number) => string, options: Options = {}) {
  const called: {
    readonly n: number;
    readonly index: number;
    readonly attempt: number;
    readonly atMs: number;
    readonly key: string;
  }[] = [];
  let clock = () => 0;
  const count = step("count", { ...page, ...options.step }, ({ n }, { index, attempt, idempotencyKey }) => {
    called.push({ n, index, attempt, atMs: clock(), key: idempotencyKey });
    return { n: n + 1, blob: does(n, index, attempt) };
  });
  const counted = workflow("counted", { input: v.object({}) }, (flow) => {
    const last = flow.repeat(count, (last) => ({ n: orZero(last.n), blob: last.blob }), {
      until: (out) => gte(out.n, 3),
      every: options.every ?? 10_000,
      limit: options.limit ?? 10,
      ...(options.factor !== undefined && { factor: options.factor }),
      ...(options.longest !== undefined && { longest: options.longest }),
    });
    return { n: last.n };
  });
  const story = tell(counted);
  clock = () => story.world.clock.nowMs();
  return { story, called, pauses: () => called.slice(1).map(({ atMs }, at) => atMs - (called[at]?.atMs ?? 0)) };
}

const orZero = (n: RefTo<number | undefined>) => orElse(n, 0);

describe("a repeat", () => {
  it("runs its step until the condition over its output holds, and yields the last output", async () => {
    const { story, called, pauses } = counting(() => "");
    await story.begin();
    expect(await story.end()).toMatchObject({ status: "succeeded", output: { n: 3 } });
    expect(called.map(({ n, index, attempt }) => [n, index, attempt])).toEqual([
      [0, 0, 1],
      [1, 1, 1],
      [2, 2, 1],
    ]);
    expect(pauses()).toEqual([10 * second, 10 * second]);
    expect(new Set(called.map(({ key }) => key)).size).toBe(3);
  });

  it("hands the last output on, also one too big for its record", async () => {
    const seen: number[] = [];
    const count = step("count", page, ({ n, blob }) => {
      seen.push(blob?.length ?? 0);
      return { n: n + 1, blob: "x".repeat(500_000) };
    });
    const big = workflow("big", { input: v.object({}) }, (flow) => {
      const last = flow.repeat(count, (last) => ({ n: orZero(last.n), blob: last.blob }), {
        until: (out) => gte(out.n, 3),
        every: 0,
        limit: 5,
      });
      return { size: last.blob };
    });
    const story = tell(big);
    await story.begin();
    expect(((await story.end()).output as { size: string }).size).toHaveLength(500_000);
    expect(seen).toEqual([0, 500_000, 500_000]);
  });

  it("waits longer each time, up to the longest pause", async () => {
    const { story, pauses } = counting(() => "", { every: 100_000, factor: 20, longest: 1_800_000 });
    await story.begin();
    expect((await story.end()).status).toBe("succeeded");
    // longer than a message can be delayed: the row's due sends it
    const [first = 0, long = 0] = pauses();
    expect(first).toBe(100_000);
    expect(long).toBeGreaterThanOrEqual(1_800_000);
    expect(long).toBeLessThan(1_800_000 + 120_000);
  });

  it("fails when its iterations are used up", async () => {
    const { story, called } = counting(() => "", { limit: 2 });
    await story.begin();
    expect(await story.end()).toMatchObject({
      status: "failed",
      reason: "repeat-limit",
      message: "count: the condition did not hold after 2 iterations",
    });
    expect(called).toHaveLength(2);
  });

  it("retries an iteration by the step's policy, and counts its tries anew for each", async () => {
    const retry = { retry: { attempts: 2, firstDelay: 1000, jitter: 0 } };
    const { story, called } = counting(
      (n, _, attempt) => {
        if (n > 0 && attempt === 1) throw new Error("not now");
        return "";
      },
      { step: retry },
    );
    await story.begin();
    expect((await story.end()).output).toEqual({ n: 3 });
    expect(called.map(({ index, attempt }) => `${index}/${attempt}`)).toEqual(["0/1", "1/1", "1/2", "2/1", "2/2"]);
  });

  it("fails with the iteration that fails for good", async () => {
    const { story, called } = counting((n) => {
      if (n === 1) throw new FatalError("gone");
      return "";
    });
    await story.begin();
    expect(await story.end()).toMatchObject({ status: "failed", reason: "fatal", message: "count: gone" });
    expect(called).toHaveLength(2);
  });

  it("survives the deaths of its workers, before and after an iteration was recorded", async () => {
    const { story, called } = counting(() => "");
    const ends = (call: { op: string }) =>
      call.op === "write" && JSON.stringify(call).includes('"ATT#') && JSON.stringify(call).includes('"edit"');
    story.inject(ends, { kind: "crash-after" });
    story.inject(ends, { kind: "crash-before" });
    await story.begin();
    expect((await story.end()).output).toEqual({ n: 3 });
    expect(called.length).toBeGreaterThan(3);
  });

  it("stops between two iterations when its run is cancelled", async () => {
    const { story, called } = counting(() => "", { every: 60_000 });
    await story.begin();
    await story.world.until(() => called.length === 1);
    await story.cancel();
    expect((await story.end()).status).toBe("cancelled");
    expect(called).toHaveLength(1);
  });

  it("is data when it fails and may", async () => {
    const never = step("never", { input: v.object({}), output: v.object({ state: v.string() }) }, () => ({
      state: "no",
    }));
    const tried = workflow("tried", { input: v.object({}) }, (flow) => {
      const asked = flow.repeat(
        never,
        {},
        { until: (out) => eq(out.state, "yes"), every: 0, limit: 3, onFailure: "continue" },
      );
      return { ok: asked.ok, code: asked.error.code };
    });
    const story = tell(tried);
    await story.begin();
    expect((await story.end()).output).toEqual({ ok: false, code: "repeat-limit" });
  });
});
