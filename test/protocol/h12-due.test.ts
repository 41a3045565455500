import * as v from "valibot";
import { expect, test } from "vitest";
import { signal as sendSignal } from "../../lib/engine/commands.ts";
import { signal, workflow } from "../../lib/index.ts";
import { createStage, input, plus, tasks, wakes } from "./stage.ts";

const go = signal("go", v.object({ n: v.number() }));

test("H12: a run that comes from a long wait to a step is due for the step, not for the wait", async () => {
  const flow = workflow("wait", { input }, (f) => f.run(plus("a"), f.signal(go)));
  const stage = createStage([flow], { hasWatchdog: true });
  await stage.begin("wait");
  expect(stage.run().due).toEqual({ kind: "at", atMs: stage.nowMs() + stage.world.engine.limits.heartbeatMs });
  await sendSignal(stage.world.engine, stage.ref, { signal: "go", payload: { n: 1 } });
  await stage.coordinate(stage.only(wakes));
  // its task is lost, and nothing else will ever come
  for (const task of stage.take(tasks)) stage.world.queue.ack(task);
  expect(stage.world.queue.messages()).toEqual([]);
  expect(await stage.toEnd(300_000)).toMatchObject({ phase: "succeeded", output: { n: 2 } });
});

test("H12: a due that is early enough stays, so a short run never moves its index", async () => {
  const chain = workflow("chain", { input }, (f, given) => f.run(plus("b"), f.run(plus("a"), given)));
  const stage = createStage([chain]);
  await stage.begin("chain");
  const due = stage.run().due;
  await stage.pass(1_000);
  await stage.work(stage.only(tasks));
  expect(stage.run().due).toEqual(due);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded" });
});
