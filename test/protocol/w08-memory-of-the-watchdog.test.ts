import { expect, test } from "vitest";
import { watch } from "../../lib/engine/watch.ts";
import { workflow } from "../../lib/index.ts";
import { createStage, input, plus, tasks } from "./stage.ts";

const one = workflow("one", { input }, (f, given) => f.run(plus("a"), given));

test("W8: strikes are removed without the memory of what the watchdog sent beside them", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  await stage.pass(200_000);
  await watch(stage.world.engine, () => 60_000);
  const wake = stage.again(stage.only("watch"));
  const sent = stage.sentOf();
  expect(sent).toBeDefined();
  await stage.coordinate(wake);
  expect(stage.strikesOf()).toBeUndefined();
  expect(stage.sentOf()).toEqual(sent);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("W8: the watchdog sends nothing while what it sent before still waits, so an outage is no flood", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  for (const task of stage.take(tasks)) stage.world.queue.ack(task);
  await stage.pass(200_000);
  for (let minute = 0; minute < 60; minute++) {
    await watch(stage.world.engine, () => 60_000);
    await stage.pass(60_000);
  }
  expect(stage.world.queue.visible("watch")).toBe(1);
  await stage.coordinate(stage.only("watch"));
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("W8: what is overdue is told again after an interval that doubles: neither once only, nor every minute", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  for (const task of stage.take(tasks)) stage.world.queue.ack(task);
  await stage.pass(200_000);
  const sentAtMinutes: number[] = [];
  for (let minute = 0; minute < 40; minute++) {
    if ((await watch(stage.world.engine, () => 60_000)).sent > 0) sentAtMinutes.push(minute);
    // every message is lost
    for (const wake of stage.take("watch")) stage.world.queue.ack(wake);
    await stage.pass(60_000);
  }
  expect(sentAtMinutes).toEqual([0, 2, 6, 14, 29]);
  await watch(stage.world.engine, () => 60_000);
  stage.world.queue.ack(stage.take("watch")[0] ?? (await stage.wake()));
  await stage.coordinate(await stage.wake({ why: "watchdog" }, "watch"));
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("W8: a sweep says how long the oldest has been overdue, and counts itself only when it was done", async () => {
  const stage = createStage([one]);
  const { engine, metrics } = stage.world;
  await watch(engine, () => 60_000);
  expect(metrics.totals()).toMatchObject({ "watchdog-sweeps": 1, "watchdog-overdue-age-ms": 0 });
  await stage.begin("one");
  for (const task of stage.take(tasks)) stage.world.queue.ack(task);
  await stage.pass(1_000_000);
  metrics.reset();
  const { oldestMs } = await watch(engine, () => 60_000);
  const dispatchedForMs = 90_000; // what a task not known to be claimed is given: a minute and the lease of its step
  expect(oldestMs).toBeGreaterThan(1_000_000 - dispatchedForMs - 10_000);
  expect(oldestMs).toBeLessThan(1_000_000);
  expect(metrics.totals()).toMatchObject({ "watchdog-sweeps": 1, "watchdog-overdue-age-ms": oldestMs });
  // its wake-up still waits: this one is held back
  metrics.reset();
  expect(await watch(engine, () => 60_000)).toMatchObject({ isHeld: true });
  expect(metrics.total("watchdog-sweeps")).toBe(0);
  expect(metrics.total("watchdog-held")).toBe(1);
});
