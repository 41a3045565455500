import * as v from "valibot";
import { expect, test } from "vitest";
import { signal as sendSignal } from "../../lib/engine/commands.ts";
import { signal, workflow } from "../../lib/index.ts";
import { crash, createStage, input, isCommit, plus, tasks, wakes } from "./stage.ts";

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
