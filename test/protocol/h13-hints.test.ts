import * as v from "valibot";
import { expect, test } from "vitest";
import { cancel, signal as sendSignal } from "../../lib/engine/commands.ts";
import { signal, workflow } from "../../lib/index.ts";
import { crash, createStage, input, isCommit, isEnd, plus, tasks, wakes } from "./stage.ts";

const go = signal("go", v.object({ n: v.number() }));

test("H13: a message that is received again looks at every attempt in flight, not at its hints alone", async () => {
  const both = workflow("both", { input }, (f, given) => {
    const a = f.run(plus("a"), given);
    const b = f.run(plus("b"), given);
    return f.run(plus("c"), { n: a.n }, { after: [b] });
  });
  const stage = createStage([both]);
  await stage.begin("both");
  const [first, second] = stage.take(tasks);
  if (!first || !second) throw new Error("two tasks were sent");
  // the second step's result is recorded; its worker is dead, its message gone
  stage.store.once(isCommit, crash);
  void stage.work(second);
  await stage.settle();
  stage.world.queue.ack(second);
  await stage.work(first);
  await stage.coordinate(stage.again(await stage.wake({ hints: [stage.hint(0)] })));
  expect([stage.nodeOf(0), stage.nodeOf(1)]).toEqual(["done", "done"]);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded" });
});

test("H13: a tick that opens a wait sees a signal that came long before, whatever woke it", async () => {
  const flow = workflow("late", { input }, (f, given) => {
    const done = f.run(plus("a"), given);
    return f.signal(go, { after: [done] });
  });
  const stage = createStage([flow]);
  await stage.begin("late");
  await sendSignal(stage.world.engine, stage.ref, { signal: "go", payload: { n: 7 } });
  await stage.coordinate(stage.only(wakes));
  expect(stage.mailOf()?.signals).toHaveLength(1);
  await stage.work(stage.only(tasks));
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 7 } });
});

test("H13: a run that is overdue is looked at as a whole, whatever woke it", async () => {
  const flow = workflow("beside", { input }, (f, given) => {
    f.signal(go);
    return f.run(plus("a"), given);
  });
  const stage = createStage([flow]);
  await stage.begin("beside");
  for (const task of stage.take(tasks)) stage.world.queue.ack(task);
  await stage.pass(200_000);
  await sendSignal(stage.world.engine, stage.ref, { signal: "go", payload: { n: 7 } });
  await stage.coordinate(stage.only(wakes));
  expect(stage.world.queue.visible(tasks), "the task that was lost is sent again").toBe(1);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded" });
});

test("H13: who takes a command in has looked at all that is in flight: what has ended already is not asked to end", async () => {
  const flow = workflow("pair", { input }, (f, given) => {
    f.run(plus("a"), given);
    f.run(plus("b"), given);
  });
  const stage = createStage([flow]);
  await stage.begin("pair");
  for (const task of stage.take(tasks)) {
    stage.store.once(isCommit, crash);
    void stage.work(task);
  }
  await stage.settle();
  expect([stage.attemptOf(0)?.["v"], stage.attemptOf(1)?.["v"]]).toEqual(["ok", "ok"]);
  let closes = 0;
  stage.store.always((call) => {
    if (isEnd("cancelled")(call)) closes += 1;
    return false;
  }, crash);
  await cancel(stage.world.engine, stage.ref, "ann");
  await stage.coordinate(stage.only(wakes));
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "cancelled" });
  expect(closes).toBe(0);
});
