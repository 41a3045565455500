import * as v from "valibot";
import { expect, test } from "vitest";
import { cancel, pause, resume, signal as sendSignal } from "../../lib/engine/commands.ts";
import { signal, workflow } from "../../lib/index.ts";
import type { RunStore, Write } from "../../lib/ports.ts";
import type { MemoryStore } from "../../lib/testing/memory-store.ts";
import { beforeEach, crash, createStage, input, isCommit, isForceFail, plus, tasks, wakes } from "./stage.ts";

const more = signal("more", v.object({ n: v.number() }));

/** A step beside signals that are taken one after the other. */
const hot = workflow("hot", { input }, (f, given) => {
  const done = f.run(plus("a"), given);
  f.series((s) => {
    for (let at = 0; at < 6; at++) s.signal(more, { name: `more${at}` });
  });
  return done;
});

test("H4: a run that takes signal after signal is hot, and no livelock, however often one wake-up loses", async () => {
  const stage = createStage([hot]);
  await stage.begin("hot");
  const task = stage.only(tasks);
  // the result is recorded, its tick did not happen
  stage.store.once(isCommit, crash);
  void stage.work(task);
  await stage.settle();
  const last = { requeues: stage.world.engine.limits.requeuesMax, requeuesAtSeq: stage.run().transitionSeq };
  const loser = await stage.wake({ hints: [stage.hint(0)], ...last });
  beforeEach(stage.store, 5, isCommit, async () => {
    await sendSignal(stage.world.engine, stage.ref, { signal: "more", payload: { n: 1 } });
    for (const wake of stage.take(wakes)) await stage.coordinate(wake);
  });
  await stage.drive(stage.coordinate(loser));
  expect(stage.run().mail.signals).toBe(5);
  expect(stage.run().phase).toBe("running");
  expect(stage.world.metrics.total("force-fails")).toBe(0);
  await sendSignal(stage.world.engine, stage.ref, { signal: "more", payload: { n: 1 } });
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 2 } });
});

test("H4: a command that is taken is progress too", async () => {
  const stage = createStage([hot]);
  await stage.begin("hot");
  const seqs = [stage.run().transitionSeq];
  for (const verb of [pause, resume]) {
    await verb(stage.world.engine, stage.ref, "ann");
    for (const wake of stage.take(wakes)) await stage.coordinate(wake);
    seqs.push(stage.run().transitionSeq);
  }
  expect(new Set(seqs).size).toBe(3);
  await cancel(stage.world.engine, stage.ref, "ann");
  expect(await stage.toEnd()).toMatchObject({ phase: "cancelled" });
});

/** A store that refuses every commit but those let through, as if somebody else had been first, although nobody was. */
const refusing =
  (isLetThrough: (write: Write) => boolean) =>
  (inner: MemoryStore): RunStore => ({
    ...inner,
    async write(write, options) {
      const stored = inner.peek(write.key);
      const isRefused = write.kind === "edit" && write.key.sk === "STATE" && !isLetThrough(write);
      return isRefused && stored ? { kind: "refused", now: stored, isClear: true } : inner.write(write, options);
    },
  });

test("H4: commits that are refused again and again although the run does not move end it, with a reason", async () => {
  const store = refusing((write) => isForceFail({ op: "write", write }));
  const stage = createStage([hot], { store });
  await stage.begin("hot");
  const result = await stage.toEnd();
  expect(result).toMatchObject({ phase: "failed", reason: { code: "livelock" } });
  const { requeuesMax } = stage.world.engine.limits;
  expect(result.reason?.message).toContain(`${requeuesMax} requeues without progress`);
  expect(stage.world.metrics.total("requeues")).toBe(requeuesMax);
});

test("H4: a table that answers no write is an outage, and no evidence against any run", async () => {
  const stage = createStage([hot]);
  await stage.begin("hot");
  const outage = stage.store.always((call) => isCommit(call) && !isForceFail(call), { kind: "lose-request" });
  await stage.world.advance(600_000);
  expect(stage.world.metrics.total("requeues")).toBeGreaterThan(stage.world.engine.limits.requeuesMax);
  expect(stage.run().phase).toBe("running");
  outage.stop();
  for (let at = 0; at < 6; at++) await sendSignal(stage.world.engine, stage.ref, { signal: "more", payload: { n: 1 } });
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});
