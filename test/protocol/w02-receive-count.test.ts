import { expect, test } from "vitest";
import { decide } from "../../lib/engine/decide.ts";
import { strikesFrom, strikesKey } from "../../lib/engine/records/strikes.ts";
import { start } from "../../lib/engine/start.ts";
import { workflow } from "../../lib/index.ts";
import type { Delivery } from "../../lib/testing/memory-queue.ts";
import { crash, createStage, input, isEnd, isLoad, isUnstrike, plus, tasks } from "./stage.ts";

const one = workflow("one", { input }, (f, given) => f.run(plus("a"), given));

test("W2: deliveries that nobody processed are no evidence: after two deaths a run still gets its third processing", async () => {
  const stage = createStage([one], { maxReceiveCount: 20 });
  await stage.begin("one");
  let wake = await stage.wake({ why: "watchdog" }, "watch");
  const dies = async () => {
    let loads = 0;
    stage.store.once((call) => isLoad(call) && ++loads === 2, crash);
    void stage.coordinate(wake);
    await stage.pass(200_000);
    wake = stage.again(wake);
  };
  // received and never processed: throttled, or a neighbour in the batch killed the function
  for (let receipt = 0; receipt < 3; receipt++) wake = stage.again(wake);
  await dies();
  await dies();
  expect(stage.strikesOf()?.count).toBe(2);
  for (let receipt = 0; receipt < 3; receipt++) wake = stage.again(wake);
  await stage.coordinate(wake);
  expect(stage.run().phase).toBe("running");
  expect(stage.strikesOf()).toBeUndefined();
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

for (const [order, names] of [
  ["before", ["r1", "r2"]],
  ["behind", ["r2", "r1"]],
] as const) {
  test(`W2: a run whose message stands ${order} one that kills the function has no strike of its neighbour's deaths`, async () => {
    const gate = workflow("gate", { input }, (f) => f.gate("ok"));
    const stage = createStage([one, gate], { maxReceiveCount: 20, visibilityMs: 3_600_000 });
    await stage.begin("one");
    const other = { tenant: "default", runId: "r2" };
    await start(stage.world.engine, { workflow: "gate", runId: "r2", input: { n: 1 } });
    // whoever looks at the first run a second time takes the whole function along
    let loads = 0;
    let isDead = false;
    stage.store.always((call) => {
      if (isLoad(call) && call.op === "list" && call.pk === "default#r1" && ++loads % 2 === 0) isDead = true;
      return isDead;
    }, crash);
    const wakes: Delivery[] = [];
    for (const runId of names) wakes.push(await stage.wake({ runId, runUid: stage.run({ ...other, runId }).runUid }));
    let batch = wakes.map((wake) => stage.again(wake));
    for (let death = 0; death < 6 && stage.run().phase === "running"; death++) {
      void stage.coordinate(...batch);
      await stage.pass(200_000);
      isDead = false;
      expect(strikesFrom(stage.world.store.peek(strikesKey(stage.run(other))))).toBeUndefined();
      if (stage.run().phase === "running") batch = batch.map((wake) => stage.again(wake));
    }
    expect(stage.run()).toMatchObject({ phase: "failed", reason: { code: "stuck" } });
    loads = Number.NaN;
    await decide(stage.world.engine, other, { gate: "ok", approved: true });
    expect(await stage.toEnd(3_600_000, other)).toMatchObject({ phase: "succeeded" });
  });
}

test("W2: after strikesMax deaths the next receipt ends the run before it processes it", async () => {
  const stage = createStage([one], { maxReceiveCount: 20 });
  await stage.begin("one");
  let wake = stage.again(await stage.wake({ why: "watchdog" }, "watch"));
  for (let death = 0; death < 3; death++) {
    let loads = 0;
    stage.store.once((call) => isLoad(call) && ++loads === 2, crash);
    void stage.coordinate(wake);
    await stage.pass(200_000);
    wake = stage.again(wake);
  }
  expect(stage.run().phase).toBe("running");
  const ticks = stage.world.metrics.total("ticks");
  await stage.coordinate(wake);
  expect(stage.run()).toMatchObject({ phase: "failed", reason: { code: "stuck" } });
  expect(stage.world.metrics.total("ticks")).toBe(ticks);
});

test("W2: a task that is received again and finds its attempt in good hands leaves no strike, and those that stood before", async () => {
  const stage = createStage([one], { maxReceiveCount: 20, visibilityMs: 3_600_000, functionMs: 3_600_000 });
  await stage.begin("one");
  const task = stage.only(tasks);
  const result = stage.store.hold(isEnd("ok"));
  const slow = stage.work(task);
  await stage.settle();
  await stage.work(stage.again(task));
  expect(stage.strikesOf()).toBeUndefined();
  // a death of its own makes a strike, which such a task neither removes nor adds to
  const wake = stage.again(await stage.wake());
  let loads = 0;
  stage.store.once((call) => isLoad(call) && ++loads === 2, crash);
  void stage.coordinate(wake);
  await stage.settle();
  expect(stage.strikesOf()?.count).toBe(1);
  stage.world.withEngine({ limits: { ...stage.world.engine.limits, strikeSpacingMs: 1000 } });
  await stage.pass(2000);
  await stage.world.queue.send([{ queue: tasks, body: task.body, group: task.group, taskKey: task.taskKey }]);
  await stage.work(stage.again(stage.only(tasks)));
  expect(stage.strikesOf()?.count).toBe(1);
  result.release();
  await stage.drive(slow);
  expect(stage.run().phase).toBe("succeeded");
});

test("W2: a strike whose removal is lost is no evidence: the removal is asked for again", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  const wake = stage.again(await stage.wake());
  stage.store.once(isUnstrike, { kind: "lose-request" });
  await stage.coordinate(wake);
  expect(stage.strikesOf()).toBeUndefined();
});
