import { expect, test } from "vitest";
import { decide } from "../../lib/engine/decide.ts";
import { watch } from "../../lib/engine/watch.ts";
import { workflow } from "../../lib/index.ts";
import { crash, createStage, input, isSendTo, plus, tasks } from "./stage.ts";

const one = workflow("one", { input }, (f, given) => f.run(plus("a"), given));
const gate = workflow("gate", { input }, (f) => f.gate("ok"));
const overdue = { why: "watchdog", sk: "STATE" } as const;

test("H3 (a): a run whose task waits in a long queue is not killed, however often its wake-ups are received twice", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  for (let look = 0; look < 8; look++) {
    await stage.pass(180_000);
    // received once and throttled, then received again and processed: a queued burst, an outage that ends
    await stage.coordinate(stage.again(await stage.wake(overdue, "watch")));
    expect(stage.strikesOf(), `strikes after look ${look}`).toBeUndefined();
  }
  expect(stage.entryOf(0)?.sends, "sendings into a queue that is behind").toBe(1);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
  expect(stage.world.metrics.total("force-fails")).toBe(0);
});

test("H3 (a): looks at a task in a long queue grow rarer, so that two hours of backlog are not filled with its copies", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  for (let minute = 0; minute < 120; minute++) {
    await stage.pass(60_000);
    await watch(stage.world.engine, () => 60_000);
    for (const wake of stage.take("watch")) await stage.coordinate(wake);
  }
  expect(stage.world.queue.visible(tasks)).toBeGreaterThan(1);
  expect(stage.world.queue.visible(tasks)).toBeLessThan(15);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("H3 (a): duplicates of one message count once, as strikes have a spacing", async () => {
  const stage = createStage([one], { maxReceiveCount: 20 });
  await stage.begin("one");
  stage.poison();
  let wake = await stage.wake(overdue, "watch");
  await stage.pass(400_000);
  for (let copy = 0; copy < 6; copy++) {
    await stage.coordinate(wake);
    wake = stage.again(wake);
  }
  expect(stage.strikesOf()?.count).toBe(1);
  expect(stage.run().phase).toBe("running");
  stage.world.withEngine({ build: "mended" });
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("H3 (b): a run that waits for a person for months is not killed by its heartbeats", async () => {
  const stage = createStage([gate]);
  await stage.begin("gate", { deadlineMs: 400 * 86_400_000 });
  for (let week = 0; week < 12; week++) {
    await stage.pass(7 * 86_400_000 + 60_000);
    expect(await watch(stage.world.engine, () => 60_000)).toMatchObject({ sent: 1 });
    await stage.coordinate(stage.only("watch"));
  }
  expect(stage.run().phase).toBe("running");
  await decide(stage.world.engine, stage.ref, { gate: "ok", approved: true });
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { approved: true } });
});

test("H3 (c): a run whose every processing commits something and then dies is ended, although its version moves", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  stage.queue.always(isSendTo(tasks), crash);
  const versions = new Set<number>();
  for (let round = 0; round < 12 && stage.run().phase === "running"; round++) {
    versions.add(stage.run().recordVersion);
    await stage.pass(1_000_000);
    let wake = await stage.wake(overdue, "watch");
    void stage.coordinate(wake);
    await stage.pass(130_000);
    wake = stage.again(wake);
    void stage.coordinate(wake);
    await stage.settle();
    stage.world.queue.ack(wake);
  }
  expect(versions.size).toBeGreaterThan(2);
  expect(stage.run()).toMatchObject({ phase: "failed", reason: { code: "stuck" } });
});

test("H3: strikes that stand from another build do not count, so a mended deploy tries first", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  stage.poison();
  let wake = await stage.wake(overdue, "watch");
  for (let round = 0; round < 2; round++) {
    await stage.coordinate(wake);
    await stage.pass(200_000);
    wake = stage.again(wake);
  }
  // the third begins and does not end
  stage.store.once((call) => call.op === "list" && call.prefix === "STATE" && isThird(), crash);
  let loads = 0;
  const isThird = () => ++loads === 2;
  void stage.coordinate(wake);
  await stage.pass(200_000);
  expect(stage.strikesOf()).toMatchObject({ count: 3, build: "build-1" });
  stage.world.withEngine({ build: "mended" });
  await stage.coordinate(stage.again(wake));
  expect(stage.run().phase).toBe("running");
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});
