import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { beat, complete, fail } from "../../lib/engine/external.ts";
import { call, external, Fault, type StepContext, step, workflow } from "../../lib/index.ts";
import type { StoreCall } from "../../lib/testing/memory-store.ts";
import { hour, minute, second, tell } from "./story.ts";

const done = { url: "https://x.test" };
const note = step("note", { input: v.object({ url: v.string() }) }, () => {});

/** A film that is rendered outside, and how its beginnings went. */
function rendering(options: object = {}, begin: (context: StepContext) => unknown = () => {}, isUndone = false) {
  const begun: StepContext[] = [];
  const undone: string[] = [];
  const render = external(
    "render",
    {
      input: v.object({ film: v.string() }),
      output: v.object({ url: v.string() }),
      completeWithin: "2h",
      retry: { attempts: 2, firstDelay: 1000, jitter: 0 },
      ...options,
    },
    async (_, context) => {
      begun.push(context);
      await begin(context);
    },
  );
  const remove = step("remove", { input: v.object({ url: v.string() }) }, ({ url }) => void undone.push(url));
  const film = workflow("film", { input: v.object({}) }, (flow) => {
    const made = flow.external(
      render,
      { film: "f" },
      isUndone ? { compensate: (out) => call(remove, { url: out.url }) } : {},
    );
    flow.run(note, { url: made.url });
    return { url: made.url };
  });
  const story = tell(film);
  const token = (at = begun.length - 1) => begun[at]?.token ?? "";
  return { story, begun, undone, token, begins: (count = 1) => story.world.until(() => begun.length === count) };
}

async function faultOf(job: Promise<unknown>) {
  try {
    await job;
    return undefined;
  } catch (error) {
    if (!Fault.is(error)) throw error;
    return error.code;
  }
}

const isEnd = (call: StoreCall) =>
  call.op === "write" &&
  call.write.kind === "edit" &&
  call.write.key.sk.startsWith("ATT#") &&
  call.write.edits.length > 1;

describe("work that is completed from outside", () => {
  it("ends when it is completed, long after the function that began it is gone", async () => {
    const { story, token, begins, begun } = rendering();
    await story.begin();
    await begins();
    await story.world.advance(hour);
    expect(await complete(story.engine, token(), done)).toEqual({ isRepeat: false });
    expect(await story.end()).toMatchObject({ status: "succeeded", output: done });
    expect(begun).toHaveLength(1);
  });

  it("is no reason for a message to send itself for days: a copy of the task leaves it to the row's due", async () => {
    const { story, token, begins, begun } = rendering({ completeWithin: "5d" });
    await story.begin();
    await begins();
    const { world } = story;
    const copy = { queue: "task:default", group: "default", taskKey: "copy" };
    await world.queue.send([
      { ...copy, body: JSON.stringify({ runId: "r1", task: "0/0/1" }) },
      { ...copy, body: JSON.stringify({ runId: "r1", task: "0/0/1" }) },
    ]);
    const sent = world.metrics.total("messages-sent");
    await world.advance(4 * 24 * hour);
    // the watchdog's few looks, and nothing else
    expect(world.metrics.total("messages-sent") - sent).toBeLessThan(10);
    await complete(story.engine, token(), done);
    expect(await story.end()).toMatchObject({ status: "succeeded", output: done });
    expect(begun).toHaveLength(1);
  });

  it("may be completed before the function that begins it has returned", async () => {
    const { story, begun } = rendering({}, async ({ token }) => await complete(story.engine, token, done));
    await story.begin();
    expect(await story.end()).toMatchObject({ status: "succeeded", output: done });
    expect(begun).toHaveLength(1);
  });

  it("counts the first completion; the same again is a repeat, also after the run has ended", async () => {
    const { story, token, begins } = rendering();
    await story.begin();
    await begins();
    await complete(story.engine, token(), done);
    expect(await complete(story.engine, token(), { url: "another" })).toEqual({ isRepeat: true });
    expect((await story.end()).output).toEqual(done);
    expect(await complete(story.engine, token(), done)).toEqual({ isRepeat: true });
    expect(await faultOf(fail(story.engine, token(), { message: "no" }))).toBe("run-ended");
    expect(await faultOf(beat(story.engine, token()))).toBe("run-ended");
  });

  it("takes big outputs, and never mixes two of them", async () => {
    const { story, token, begins } = rendering();
    await story.begin();
    await begins();
    const big = { url: "y".repeat(500_000) };
    story.inject(isEnd, { kind: "lose-request" });
    expect(await faultOf(complete(story.engine, token(), { url: "x".repeat(500_000) }))).toBe("unavailable");
    await complete(story.engine, token(), big);
    expect((await story.end()).output).toEqual(big);
  });

  it("refuses an output that does not fit, and takes the next", async () => {
    const { story, token, begins } = rendering();
    await story.begin();
    await begins();
    expect(await faultOf(complete(story.engine, token(), { url: 5 }))).toBe("bad-output");
    await complete(story.engine, token(), done);
    expect((await story.end()).output).toEqual(done);
  });

  it("is begun anew when nobody completes it in time, and the old token is worth nothing then", async () => {
    const { story, token, begins, begun } = rendering();
    await story.begin();
    await begins(2);
    expect(begun.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(begun.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(await faultOf(complete(story.engine, token(0), done))).toBe("attempt-ended");
    expect(await faultOf(beat(story.engine, token(0)))).toBe("attempt-ended");
    await complete(story.engine, token(1), done);
    expect((await story.end()).output).toEqual(done);
  });

  it("fails when all its attempts ran out of time", async () => {
    const { story } = rendering();
    await story.begin();
    const { reason, message, tookMs } = await story.end();
    expect([reason, message]).toEqual(["timed-out", "render: attempt 2 was not completed in time"]);
    expect(tookMs).toBeGreaterThan(4 * hour);
    expect(tookMs).toBeLessThan(4 * hour + 10 * minute);
  });

  it("notices within the longest pause that nobody is heard of any more", async () => {
    const { story, begins, begun } = rendering({ beat: "5m" });
    await story.begin();
    await begins();
    const fromMs = story.world.clock.nowMs();
    await begins(2);
    expect(story.world.clock.nowMs() - fromMs).toBeLessThan(10 * minute);
    expect(begun).toHaveLength(2);
  });

  it("lives on by heartbeats from outside, and no longer than the completion may take", async () => {
    const { story, token, begins, begun } = rendering({ beat: "5m" });
    await story.begin();
    await begins();
    const first = token();
    let beats = 0;
    const fromMs = story.world.clock.nowMs();
    while ((await faultOf(beat(story.engine, first))) === undefined && beats < 100) {
      beats += 1;
      await story.world.advance(4 * minute);
    }
    const livedMs = story.world.clock.nowMs() - fromMs;
    expect(livedMs).toBeGreaterThan(2 * hour - 5 * minute);
    expect(livedMs).toBeLessThan(2 * hour + 10 * minute);
    expect(begun.length).toBeGreaterThan(1);
  });

  it("fails as it is told to, and is retried unless that is final", async () => {
    const { story, token, begins } = rendering();
    await story.begin();
    await begins();
    await fail(story.engine, token(), { message: "the farm is full" });
    expect(await fail(story.engine, token(), { message: "the farm is full" })).toEqual({ isRepeat: true });
    expect(await faultOf(complete(story.engine, token(), done))).toBe("attempt-ended");
    await begins(2);
    await fail(story.engine, token(), { message: "the film is broken", isFatal: true });
    expect(await story.end()).toMatchObject({
      status: "failed",
      reason: "fatal",
      message: "render: the film is broken",
    });
  });

  it("is not completed by a token whose attempt had failed inside", async () => {
    const { story, token, begun, begins } = rendering({}, ({ attempt }) => {
      if (attempt === 1) throw new Error("the connection broke");
    });
    await story.begin();
    await begins(2);
    expect(begun).toHaveLength(2);
    expect(await faultOf(complete(story.engine, token(0), done))).toBe("attempt-ended");
    await complete(story.engine, token(1), done);
    expect((await story.end()).output).toEqual(done);
  });

  it("survives a worker that dies right after it has begun it", async () => {
    let isFirst = true;
    const { story, token, begun, begins } = rendering({ timeout: "10s" }, () => {
      if (!isFirst) return undefined;
      isFirst = false;
      return new Promise(() => {});
    });
    story.inject(isEnd, { kind: "crash-before" });
    await story.begin();
    await begins(2);
    expect(begun).toHaveLength(2);
    await complete(story.engine, token(), done);
    expect((await story.end()).output).toEqual(done);
  });

  it("is not begun twice because the table was away when the function returned", async () => {
    const { story, token, begun } = rendering({ timeout: "10s" });
    const isExtension = (each: StoreCall) =>
      each.op === "write" &&
      each.write.kind === "edit" &&
      each.write.key.sk.startsWith("ATT#") &&
      each.write.edits.length === 1;
    story.inject(isExtension, { kind: "fail", fault: new Fault("throttled", "slow down") }, 3);
    await story.begin();
    await story.world.advance(hour);
    expect(begun).toHaveLength(1);
    await complete(story.engine, token(), done);
    expect((await story.end()).output).toEqual(done);
  });

  it("completes though the wake-up that says so is lost", async () => {
    let isDown = false;
    const { story, token, begins } = rendering();
    await story.begin();
    await begins();
    const { queue } = story.engine;
    story.world.withEngine({
      queue: {
        ...queue,
        send: (messages) => (isDown ? Promise.reject(new Fault("unavailable", "down")) : queue.send(messages)),
      },
    });
    isDown = true;
    expect(await faultOf(complete(story.engine, token(), done))).toBe("unavailable");
    isDown = false;
    const { output, tookMs } = await story.end();
    expect(output).toEqual(done);
    expect(tookMs).toBeLessThan(5 * minute);
  });

  it("waits for what runs outside when its run is cancelled, and undoes it, if it has a compensation", async () => {
    const { story, token, begins, undone } = rendering({}, () => {}, true);
    await story.begin();
    await begins();
    await story.cancel();
    await story.world.advance(10 * second);
    expect((await story.run()).phase).toBe("cancelling");
    await complete(story.engine, token(), done);
    expect((await story.end()).status).toBe("cancelled");
    expect(undone).toEqual([done.url]);
  });

  it("is told that nobody wants it when its run was cancelled", async () => {
    const { story, token, begins } = rendering();
    await story.begin();
    await begins();
    await story.cancel();
    expect((await story.end()).status).toBe("cancelled");
    expect(await faultOf(complete(story.engine, token(), done))).toBe("run-ended");
  });

  it("refuses what is no token, and the token of a run that was started anew", async () => {
    const { story } = rendering();
    await story.begin();
    for (const text of ["", "x", "ÄÖ", btoa("default#r1#u#0#0#1#t")]) {
      expect(["bad-input", "run-not-found"]).toContain(await faultOf(complete(story.engine, text, done)));
    }
  });
});
