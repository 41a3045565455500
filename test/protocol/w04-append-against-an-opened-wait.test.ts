import * as v from "valibot";
import { expect, test } from "vitest";
import { signal as sendSignal } from "../../lib/engine/commands.ts";
import { signal, workflow } from "../../lib/index.ts";
import { beforeEach, createStage, input, isCommit, plus, tasks, wakes } from "./stage.ts";

const word = signal("word", v.object({}));
const go = signal("go", v.object({ n: v.number() }));

for (const [kind, extra] of [
  ["remote", {}],
  ["inline", { inline: true }],
] as const) {
  test(`W4: a signal that was looked at and left before a wait opened (after a ${kind} step) is seen by whoever opened it`, async () => {
    const flow = workflow("late", { input }, (f, given) => {
      const done = f.run(plus("a", extra), given);
      return f.signal(go, { after: [done] });
    });
    const stage = createStage([flow]);
    await stage.begin("late");
    let commits = 0;
    const opens = stage.store.hold((call) => isCommit(call) && ++commits === (kind === "inline" ? 2 : 1));
    const job = stage.work(stage.only(tasks));
    await stage.settle();
    expect(opens.isReached).toBe(true);
    // the worker has loaded an empty mailbox; now a signal comes, is looked at, and left, as nobody waits for it yet
    await sendSignal(stage.world.engine, stage.ref, { signal: "go", payload: { n: 7 } });
    await stage.coordinate(stage.only(wakes));
    expect(stage.mailOf()).toMatchObject({ dueAtMs: undefined, signals: [{ name: "go" }] });
    opens.release();
    await stage.drive(job);
    expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 7 } });
  });
}

test("W4: whoever opened the wait has all its tries for what it takes then, however many the opening took", async () => {
  const flow = workflow("late", { input }, (f, given) => {
    const done = f.run(plus("a"), given);
    f.series((s) => {
      for (let at = 0; at < 6; at++) s.signal(word, { name: `word${at}` });
    });
    return f.signal(go, { after: [done] });
  });
  const stage = createStage([flow]);
  await stage.begin("late");
  let commits = 0;
  beforeEach(stage.store, 6, isCommit, async () => {
    commits += 1;
    // the fifth try is let through, with a signal before it that nobody waits for yet; the others meet somebody's commit
    const told = commits === 5 ? { signal: "go", payload: { n: 7 } } : { signal: "word", payload: {} };
    await sendSignal(stage.world.engine, stage.ref, told);
    for (const wake of stage.take(wakes)) await stage.coordinate(wake);
  });
  await stage.drive(stage.work(stage.only(tasks)));
  expect(commits).toBe(6);
  expect(stage.world.metrics.total("requeues")).toBe(0);
  expect(stage.nodeOf(7), "the wait that it opened").toBe("done");
  await sendSignal(stage.world.engine, stage.ref, { signal: "word", payload: {} });
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 7 } });
});
