import * as v from "valibot";
import { expect, test } from "vitest";
import { signal as sendSignal } from "../../lib/engine/commands.ts";
import { signal, workflow } from "../../lib/index.ts";
import { crash, createStage, input, isCommit, isEnd, plus, tasks, wakes } from "./stage.ts";

const more = signal("more", v.object({ n: v.number() }));
const chain = (first: object = {}, second: object = {}) =>
  workflow("chain", { input }, (f, given) => f.run(plus("b", second), f.run(plus("a", first), given)));
const sleeper = workflow("sleeper", { input }, (f, given) => {
  f.signal(more);
  const slept = f.sleep("nap", "10m");
  return f.run(plus("a"), given, { after: [slept] });
});

test("H9: a task whose result is recorded and was never looked at ticks when it is received again", async () => {
  const stage = createStage([chain()]);
  await stage.begin("chain");
  const task = stage.only(tasks);
  stage.store.once(isCommit, crash);
  void stage.work(task);
  await stage.settle();
  expect(stage.attemptOf(0)).toMatchObject({ v: "ok" });
  await stage.work(stage.again(task));
  expect(stage.nodeOf(0)).toBe("done");
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("H9: a task that meets the live lease of a worker which is dead is sent again for the lease's end", async () => {
  const stage = createStage([chain({ timeout: "60s" })]);
  await stage.begin("chain");
  const task = stage.only(tasks);
  stage.store.once(isEnd("ok"), crash);
  void stage.work(task);
  await stage.settle();
  await stage.work(stage.again(task));
  expect(stage.world.queue.delayed(tasks)).toBe(1);
  expect(await stage.toEnd(200_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("H9: a message that meets the live inline lease of a function which is dead is followed by a look at its end", async () => {
  const stage = createStage([chain({}, { inline: true, timeout: "60s" })]);
  await stage.begin("chain");
  const task = stage.only(tasks);
  let commits = 0;
  stage.store.once((call) => isCommit(call) && ++commits === 2, crash);
  void stage.work(task);
  await stage.settle();
  expect(stage.entryOf(1)).toMatchObject({ state: "held" });
  await stage.work(stage.again(task));
  expect(stage.world.queue.delayed(wakes)).toBe(1);
  expect(await stage.toEnd(200_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("H9: a look at the end of an inline lease that comes early is sent again for the rest", async () => {
  const stage = createStage([chain({}, { inline: true, timeout: "60s" })]);
  await stage.begin("chain");
  const task = stage.only(tasks);
  let commits = 0;
  stage.store.once((call) => isCommit(call) && ++commits === 2, crash);
  void stage.work(task);
  await stage.settle();
  stage.world.queue.ack(task);
  await stage.pass(30_000);
  await stage.coordinate(await stage.wake({ why: "timer", hints: [stage.hint(1)] }));
  expect(stage.world.queue.delayed(wakes)).toBe(1);
  expect(await stage.toEnd(200_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("H9: a timer that comes early is sent again for the rest", async () => {
  const stage = createStage([sleeper]);
  await stage.begin("sleeper");
  expect(stage.world.queue.delayed(wakes)).toBe(1);
  await stage.pass(595_000);
  await stage.coordinate(await stage.wake({ why: "timer", hints: [stage.hint(1)] }));
  expect(stage.world.queue.delayed(wakes)).toBe(2);
  await sendSignal(stage.world.engine, stage.ref, { signal: "more", payload: { n: 1 } });
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded" });
});

test("H9: an early timer is sent again also when its tick commits something else, and when it shares a batch", async () => {
  const stage = createStage([sleeper]);
  await stage.begin("sleeper");
  await stage.pass(595_000);
  await sendSignal(stage.world.engine, stage.ref, { signal: "more", payload: { n: 1 } });
  const early = await stage.wake({ why: "timer", hints: [stage.hint(1)] });
  const mail = await stage.wake({ hints: ["mail"] });
  const before = stage.run().recordVersion;
  await stage.coordinate(early, mail);
  expect(stage.run().recordVersion).toBe(before + 1);
  expect(stage.world.queue.delayed(wakes)).toBe(2);
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded" });
});

test("H9: a deploy's word that parked nodes may be tried again is not lost in a batch", async () => {
  const stage = createStage([chain()]);
  await stage.begin("chain");
  const { registry } = stage.world.engine;
  stage.world.withEngine({ registry: { ...registry, handler: () => undefined } });
  await stage.work(stage.only(tasks));
  expect(stage.entryOf(0)).toMatchObject({ state: "parked" });
  stage.world.withEngine({ registry });
  await stage.coordinate(await stage.wake({ hints: ["mail"] }), await stage.wake({ why: "unpark", isAll: true }));
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("H9: a result that is recorded counts also where a build without the handler receives its task", async () => {
  const stage = createStage([chain()]);
  await stage.begin("chain");
  const task = stage.only(tasks);
  stage.store.once(isCommit, crash);
  void stage.work(task);
  await stage.settle();
  const { registry } = stage.world.engine;
  stage.world.withEngine({ registry: { ...registry, handler: () => undefined } });
  await stage.work(stage.again(task));
  expect(stage.nodeOf(0)).toBe("done");
  stage.world.withEngine({ registry });
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("H9: a message is handed back while what it carries could not be sent", async () => {
  const stage = createStage([chain()]);
  await stage.begin("chain");
  const task = stage.only(tasks);
  stage.queue.once(() => true, { kind: "lose-request" });
  expect(await stage.work(task)).toEqual([task.id]);
  expect(stage.world.metrics.total("sends-failed")).toBe(1);
  const [again] = stage.take(tasks);
  expect(await stage.work(again ?? task)).toEqual([]);
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});
