import { expect, test } from "vitest";
import { step, workflow } from "../../lib/index.ts";
import { crash, createStage, input, isClaim, isEnd, plus, tasks } from "./stage.ts";

/** One step, which may be tried twice; how often its handler ran. */
function twice(extra: object = {}) {
  const ran: number[] = [];
  const pay = plus("pay", { timeout: "60s", retry: { attempts: 2, firstDelay: "1s", jitter: 0 }, ...extra }, (n) => {
    ran.push(n);
    return n + 1;
  });
  const flow = workflow("one", { input }, (f, given) => f.run(pay, given));
  return { ran, stage: createStage([flow]) };
}

test("H1: a lease that ran out ends on the attempt's record, so a second worker cannot claim beside its successor", async () => {
  const { ran, stage } = twice();
  await stage.begin("one");
  const task = stage.only(tasks);
  stage.store.once(isEnd("ok"), crash);
  void stage.work(task);
  await stage.settle();
  expect(ran).toHaveLength(1);
  // a second worker has the same task again and stands before its claim
  const again = stage.again(task);
  await stage.pass(66_000);
  const claim = stage.store.hold(isClaim);
  const second = stage.work(again);
  await stage.settle();
  expect(claim.isReached).toBe(true);
  await stage.coordinate(await stage.wake());
  expect(stage.attemptOf(0)).toMatchObject({ v: "lost" });
  claim.release();
  await second;
  await stage.settle();
  expect(ran).toHaveLength(1);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 2 } });
  expect(ran).toHaveLength(2);
});

test("H1: a result that is recorded while the lease's end is being noticed counts, and the step is not run again", async () => {
  const { ran, stage } = twice();
  await stage.begin("one");
  const task = stage.only(tasks);
  const result = stage.store.hold(isEnd("ok"));
  const slow = stage.work(task);
  await stage.settle();
  await stage.pass(66_000);
  // the coordinator has loaded a dead lease without an outcome; before it can say so the worker records
  const lost = stage.store.hold(isEnd("lost"));
  const noticing = stage.coordinate(await stage.wake());
  await stage.settle();
  result.release();
  await stage.settle();
  lost.release();
  await stage.drive(Promise.all([noticing, slow]));
  expect(stage.attemptOf(0)).toMatchObject({ v: "ok" });
  expect(stage.run().active).toEqual([]);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 2 } });
  expect(ran).toHaveLength(1);
});

test("H1: a heartbeat that comes between the look and the close keeps the attempt alive", async () => {
  let beat: () => void = () => {};
  let end: () => void = () => {};
  const ran: number[] = [];
  const long = step(
    "long",
    { input, output: input, timeout: "600s", heartbeat: "30s", retry: { attempts: 2 } },
    async ({ n }, context) => {
      ran.push(n);
      await new Promise<void>((resolve) => {
        beat = resolve;
      });
      await context.heartbeat();
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return { n: n + 1 };
    },
  );
  const flow = workflow("one", { input }, (f, given) => f.run(long, given));
  const stage = createStage([flow], { functionMs: 900_000 });
  await stage.begin("one");
  const slow = stage.work(stage.only(tasks));
  await stage.settle();
  await stage.pass(36_000);
  const lost = stage.store.hold(isEnd("lost"));
  const noticing = stage.coordinate(await stage.wake());
  await stage.settle();
  expect(lost.isReached).toBe(true);
  beat();
  await stage.settle();
  lost.release();
  await stage.settle();
  expect(stage.attemptOf(0)?.["v"]).toBeUndefined();
  end();
  await stage.drive(Promise.all([noticing, slow]));
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
  expect(ran).toHaveLength(1);
});

test("H1: a worker whose attempt was closed cannot record a result any more: it is late", async () => {
  const { ran, stage } = twice();
  await stage.begin("one");
  const result = stage.store.hold(isEnd("ok"));
  const slow = stage.work(stage.only(tasks));
  await stage.settle();
  await stage.pass(66_000);
  await stage.coordinate(await stage.wake());
  result.release();
  await stage.drive(slow);
  expect(stage.attemptOf(0)).toMatchObject({ v: "lost" });
  expect(stage.world.metrics.total("attempts-late")).toBe(1);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
  expect(ran).toHaveLength(2);
});
