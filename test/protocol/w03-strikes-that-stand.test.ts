import { expect, test } from "vitest";
import { attemptKey } from "../../lib/engine/records/attempt.ts";
import { workflow } from "../../lib/index.ts";
import { createStage, input, plus } from "./stage.ts";

const one = workflow("one", { input }, (f, given) => f.run(plus("a"), given));

test("W3: throws and redeliveries count together, so a run that always throws is ended although no message is received often", async () => {
  const stage = createStage([one], { maxReceiveCount: 2 });
  await stage.begin("one");
  stage.poison();
  for (let message = 0; message < 6 && stage.run().phase === "running"; message++) {
    let wake = await stage.wake({ why: "watchdog" }, "watch");
    for (let receipt = 1; receipt <= 2 && stage.run().phase === "running"; receipt++) {
      await stage.coordinate(wake);
      await stage.pass(200_000);
      if (receipt < 2 && stage.run().phase === "running") wake = stage.again(wake);
    }
    stage.world.queue.ack(wake);
  }
  expect(stage.run()).toMatchObject({ phase: "failed", reason: { code: "stuck" } });
});

test("W3b: a hinted wake-up that never met what is poisonous leaves the strikes; one that loaded everything removes them", async () => {
  const stage = createStage([one], { maxReceiveCount: 20 });
  await stage.begin("one");
  // a record that no build can read: every processing that loads it throws
  const key = attemptKey(stage.run(), { node: 0, index: 0, attempt: 1 });
  const fields = { u: stage.run().runUid, v: "decided", g: "{" };
  await stage.world.store.write({ kind: "put", key, fields, when: [] });
  await stage.coordinate(await stage.wake());
  expect(stage.strikesOf()?.count).toBe(1);
  await stage.coordinate(await stage.wake({ hints: ["mail"] }));
  expect(stage.strikesOf()?.count).toBe(1);
  await stage.world.store.write({ kind: "delete", key, when: [] });
  await stage.coordinate(await stage.wake());
  expect(stage.strikesOf()).toBeUndefined();
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});
