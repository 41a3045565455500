import { expect, test } from "vitest";
import { workflow } from "../../lib/index.ts";
import { createStage, input, isEnd, plus, tasks } from "./stage.ts";

const one = workflow("one", { input }, (f, given) => f.run(plus("a"), given));

test("H3: a task that always ends in the dead-letter queue is closed as lost, and its node fails after a few", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  for (let lost = 0; lost < 3; lost++) {
    // received as often as it may be, by workers that die at import
    let task = stage.only(tasks);
    for (let receipt = 1; receipt < 5; receipt++) task = stage.again(task);
    stage.world.queue.release(task);
    expect(stage.take(tasks)).toEqual([]);
    await stage.bury(stage.only("dead-task"));
    for (const wake of stage.take("wake:standard")) await stage.coordinate(wake);
  }
  const { phase, reason } = await stage.toEnd(1_000);
  expect({ phase, code: reason?.code }).toEqual({ phase: "failed", code: "never-claimed" });
});

test("H3: a dead task stays where it is while nobody can say that it was closed", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  const task = stage.only(tasks);
  stage.store.once(isEnd("lost"), { kind: "lose-request" });
  expect(await stage.bury(task)).toEqual([task.id]);
  expect(await stage.bury(stage.only(tasks))).toEqual([]);
  expect(stage.attemptOf(0)).toMatchObject({ v: "lost" });
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded" });
});
