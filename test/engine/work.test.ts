import * as v from "valibot";
import { expect, test } from "vitest";
import { envelopeFrom } from "../../lib/core/envelope.ts";
import { pause, resume, signal as sendSignal } from "../../lib/engine/commands.ts";
import { purge } from "../../lib/engine/purge.ts";
import { RetryableError, signal, step, workflow } from "../../lib/index.ts";
import {
  crash,
  createStage,
  input,
  isCommit,
  isEnd,
  isTrim,
  plus,
  type Stage,
  tasks,
  wakes,
} from "../protocol/stage.ts";

const word = signal("word", v.object({ n: v.number() }));
const one = (extra: object, does: (n: number) => number | Promise<number>) =>
  workflow("one", { input }, (flow, given) => flow.run(plus("a", extra, does), given));

/** Steps side by side: more than one tick takes in place. */
const beside = (name: string, length: number) =>
  workflow(name, { input }, (flow, given) => {
    const all = Array.from({ length }, (_, at) => flow.run(plus(`s${at}`), given));
    return { all: all.map(({ n }) => n) };
  });
const many = beside("many", 6);
const crowd = beside("crowd", 20);

const taskOf = (stage: Stage, attempt: number) => ({
  task: { node: 0, index: 0, attempt, sends: 1 },
  runId: stage.ref.runId,
});

test("a task that comes before its back-off is over is not begun, and is sent again for the rest", async () => {
  let ran = 0;
  const retry = { attempts: 2, firstDelay: "10m", longestDelay: "10m", jitter: 0 };
  const stage = createStage([
    one({ retry }, (n) => {
      if (++ran === 1) throw new Error("not yet");
      return n;
    }),
  ]);
  await stage.begin("one");
  await stage.work(stage.only(tasks));
  expect(stage.entryOf(0)).toMatchObject({ state: "task", attempt: 2 });
  for (const delayed of stage.world.queue.messages(tasks)) stage.world.queue.ack(delayed);
  await stage.pass(200_000);
  await stage.work(await stage.wake(taskOf(stage, 2), tasks));
  expect(ran).toBe(1);
  expect(stage.attemptOf(0, 2)).toBeUndefined();
  expect(stage.world.queue.delayed(tasks)).toBe(1);
  await stage.pass(401_000);
  await stage.work(stage.only(tasks));
  expect(ran).toBe(2);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 1 } });
});

test("a task of a paused run is not begun, and is sent again when the run goes on", async () => {
  let ran = 0;
  const stage = createStage([one({}, () => ++ran)]);
  await stage.begin("one");
  const task = stage.only(tasks);
  await pause(stage.world.engine, stage.ref, "ann");
  await stage.coordinate(stage.only(wakes));
  expect(await stage.work(task)).toEqual([]);
  expect([ran, stage.attemptOf(0)]).toEqual([0, undefined]);
  expect(stage.world.queue.visible(tasks)).toBe(0);
  await resume(stage.world.engine, stage.ref, "ann");
  await stage.coordinate(stage.only(wakes));
  expect(stage.world.queue.visible(tasks)).toBe(1);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded" });
  expect(ran).toBe(1);
});

test("a task that was received again and has to wait says in its next message that nobody knows what was sent", async () => {
  const stage = createStage([one({ timeout: "60s" }, (n) => n)]);
  await stage.begin("one");
  const task = stage.only(tasks);
  stage.store.once(isEnd("ok"), crash);
  void stage.work(task);
  await stage.settle();
  await stage.work(stage.again(task));
  const later = stage.world.queue.messages(tasks).filter(({ id }) => id !== task.id);
  expect(later.map(({ body }) => envelopeFrom(body))).toMatchObject([{ isAll: true, task: { attempt: 1 } }]);
});

test("of many in flight a result is left to a tick that takes several, unless its task was received again", async () => {
  const stage = createStage([many]);
  await stage.begin("many");
  const [first, second, ...others] = stage.take(tasks);
  if (!first || !second) throw new Error("six tasks were sent");
  await stage.work(first);
  expect(stage.nodeOf(0)).toBe("pending");
  expect(stage.world.queue.visible(wakes)).toBe(1);
  // this one may be the last that knows of what its first receiver committed
  const again = stage.again(second);
  await stage.work(again);
  expect(stage.nodeOf(1)).toBe("done");
  for (const task of others) stage.world.queue.release(task);
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded" });
});

test("an inline attempt that was closed before it was taken is never run: the one that is opened instead is", async () => {
  const blocked = Promise.withResolvers<number>();
  const flow = workflow("beside", { input }, (f, given) => {
    f.run(
      plus("bad", { retry: { attempts: 1 } }, () => Promise.reject(new Error("no"))),
      given,
    );
    return f.run(
      plus("kept", { inline: true, timeout: "60s" }, () => blocked.promise),
      given,
    );
  });
  const stage = createStage([flow]);
  await stage.begin("beside");
  const [bad, kept] = stage.take(tasks);
  if (!bad || !kept) throw new Error("two tasks were sent");
  // whoever sees the failure closes what is unclaimed, and dies before its commit
  stage.store.once(isCommit, crash);
  void stage.work(bad);
  await stage.settle();
  expect(stage.attemptOf(1)).toMatchObject({ v: "cancelled" });
  const job = stage.work(kept);
  await stage.settle();
  expect(stage.entryOf(1)).toMatchObject({ state: "held", attempt: 2 });
  blocked.resolve(1);
  await stage.drive(job);
  stage.world.queue.release(bad);
  expect(await stage.toEnd(300_000)).toMatchObject({ phase: "failed" });
});

test("whoever runs an inline chain looks out for nobody's lease of its own, though its task was received again", async () => {
  const flow = workflow("chain", { input }, (f, given) =>
    f.run(plus("b", { inline: true }), f.run(plus("a", { inline: true }), given)),
  );
  const stage = createStage([flow]);
  await stage.begin("chain");
  await stage.drive(stage.work(stage.again(stage.only(tasks))));
  expect(stage.run().phase).toBe("succeeded");
  expect(stage.world.queue.messages()).toEqual([]);
});

test("of many results that come at once the losers take all that are there: there are few commits, and no storm", async () => {
  const stage = createStage([crowd]);
  await stage.begin("crowd");
  const all = stage.take(tasks);
  await stage.drive(Promise.all(all.map((task) => stage.work(task))));
  const hinted = stage.take(wakes);
  expect(hinted).toHaveLength(all.length);
  stage.world.metrics.reset();
  await stage.drive(Promise.all(hinted.map((wake) => stage.coordinate(wake))));
  expect(stage.run().phase).toBe("succeeded");
  expect(stage.world.metrics.total("commits")).toBeLessThan(5);
});

test("what a holder saw beside the row before its first commit is not put in order again after each later one", async () => {
  const flow = workflow("chain", { input }, (f, given) => {
    f.signal(word);
    const [a, b, c] = ["a", "b", "c"].map((name) => plus(name, { inline: true }));
    return f.run(c!, f.run(b!, f.run(a!, given)));
  });
  const stage = createStage([flow]);
  await stage.begin("chain");
  await sendSignal(stage.world.engine, stage.ref, { signal: "word", payload: { n: 1 } });
  let trims = 0;
  stage.store.always((call) => {
    if (isTrim(call)) trims += 1;
    return false;
  }, crash);
  await stage.drive(stage.work(stage.only(tasks)));
  expect(stage.run().phase).toBe("succeeded");
  expect(trims).toBe(1);
});

test("a handler's key is the same in every try of a run, and another in the run that is started in its place", async () => {
  const seen: { key: string; attempt: number }[] = [];
  const again = step(
    "again",
    { input, output: input, retry: { attempts: 2, firstDelay: "1s" } },
    ({ n }, { idempotencyKey, attempt }) => {
      seen.push({ key: idempotencyKey, attempt });
      if (attempt === 1) throw new Error("not yet");
      return { n };
    },
  );
  const stage = createStage([workflow("keyed", { input }, (f, given) => f.run(again, given))]);
  for (let round = 0; round < 2; round++) {
    await stage.begin("keyed");
    expect(await stage.toEnd(120_000)).toMatchObject({ phase: "succeeded" });
    await purge(stage.world.engine, stage.ref);
  }
  expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 1, 2]);
  const keys = seen.map(({ key }) => key);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[2]).toBe(keys[3]);
  expect(keys[0]).not.toBe(keys[2]);
});

test("a delivery that was lost is no try to the handler either", async () => {
  const attempts: number[] = [];
  const counted = step("counted", { input, output: input }, ({ n }, { attempt }) => {
    attempts.push(attempt);
    return { n };
  });
  const stage = createStage([workflow("lost", { input }, (f, given) => f.run(counted, given))]);
  await stage.begin("lost");
  await stage.bury(stage.only(tasks));
  expect(await stage.toEnd(600_000)).toMatchObject({ phase: "succeeded" });
  expect(attempts).toEqual([1]);
});

test("a handler is told to stop in time for its end to be recorded, though its own time-out is farther off", async () => {
  const slow = step(
    "slow",
    { input, output: input, timeout: "10m", retry: { attempts: 1 } },
    async ({ n }, { signal: abort }) => {
      await stage.world.clock.sleep(600_000, abort);
      return { n };
    },
  );
  const stage = createStage([workflow("slow", { input }, (f, given) => f.run(slow, given))], { functionMs: 60_000 });
  await stage.begin("slow");
  const job = stage.work(stage.only(tasks));
  await stage.settle();
  await stage.pass(60_000 - stage.world.engine.limits.reserveMs);
  expect(stage.run()).toMatchObject({ phase: "failed", reason: { code: "timed-out" } });
  expect(await job).toEqual([]);
  // nor is a timer left that would keep the process from its rest
  expect(stage.world.clock.nextWakeAtMs()).toBeUndefined();
});

test("a handler that returns leaves no timer behind", async () => {
  const stage = createStage([one({ timeout: "10m" }, (n) => n)]);
  await stage.begin("one");
  await stage.work(stage.only(tasks));
  expect(stage.run().phase).toBe("succeeded");
  expect(stage.world.clock.nextWakeAtMs()).toBeUndefined();
});

test("a handler that says when to try again is tried again then, whatever the policy's pause is", async () => {
  const atMs: number[] = [];
  const stage = createStage([
    one({ retry: { attempts: 2, firstDelay: "1s", longestDelay: "1s" } }, (n) => {
      atMs.push(stage.nowMs());
      if (atMs.length === 1) throw new RetryableError("busy", { after: "10m" });
      return n;
    }),
  ]);
  await stage.begin("one");
  expect(await stage.toEnd(900_000)).toMatchObject({ phase: "succeeded" });
  expect((atMs[1] ?? 0) - (atMs[0] ?? 0)).toBe(600_000);
});

test("an inline step that is not repeatable is committed before the next one begins, one that is shares its commit", async () => {
  for (const [first, second] of [
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ] as const) {
    const before: string[] = [];
    const chain = workflow("chain", { input }, (f, given) => {
      const done = f.run(plus("a", { inline: true, repeatable: first }), given);
      return f.run(
        plus("b", { inline: true, repeatable: second }, (n) => {
          before.push(stage.nodeOf(0));
          return n;
        }),
        done,
      );
    });
    const stage = createStage([chain]);
    await stage.begin("chain");
    await stage.drive(stage.work(stage.only(tasks)));
    expect(stage.run().phase).toBe("succeeded");
    expect(before).toEqual([first && second ? "pending" : "done"]);
  }
});

test("every end of an attempt is metered with its group and how long it took, remote or inline", async () => {
  for (const inline of [false, true]) {
    const stage = createStage([
      one({ inline }, async (n) => {
        await stage.world.clock.sleep(3000);
        return n;
      }),
    ]);
    await stage.begin("one");
    await stage.drive(stage.work(stage.only(tasks)));
    const { metrics } = stage.world;
    const told = (of: string) => metrics.entries.filter(({ name }) => name === of);
    expect(told("attempts-ended")).toMatchObject([{ value: 1, dimensions: { group: "default", outcome: "ok" } }]);
    expect(told("attempt-ms")).toMatchObject([{ value: 3000, dimensions: { group: "default" } }]);
  }
});
