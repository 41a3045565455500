import * as v from "valibot";
import { expect, test } from "vitest";
import { signal as sendSignal } from "../../lib/engine/commands.ts";
import { signal, workflow } from "../../lib/index.ts";
import type { RunStore } from "../../lib/ports.ts";
import type { MemoryStore } from "../../lib/testing/memory-store.ts";
import { createStage, input, isCommit, plus, type Stage, tasks, wakes } from "./stage.ts";

const more = signal("more", v.object({ n: v.number() }));

const chain = (extra: object = {}, does: (n: number) => number = (n) => n + 1) =>
  workflow("chain", { input }, (f, given) => {
    f.signal(more);
    return f.run(plus("b", extra, does), f.run(plus("a", extra, does), given));
  });

async function somebodyElseCommits(stage: Stage) {
  await sendSignal(stage.world.engine, stage.ref, { signal: "more", payload: { n: 1 } });
  for (const wake of stage.take(wakes)) await stage.coordinate(wake);
}

test("H5: after a commit whose reply was lost everything owed is sent, also when somebody has committed on top", async () => {
  const stage = createStage([chain()]);
  await stage.begin("chain");
  stage.store.once(isCommit, { kind: "lose-reply" });
  const job = stage.work(stage.only(tasks));
  await stage.settle();
  expect(stage.world.metrics.total("commits-ambiguous")).toBe(1);
  await somebodyElseCommits(stage);
  await stage.drive(job);
  expect(stage.take(tasks).map(({ body }) => JSON.parse(body).task)).toEqual([stage.hint(2)]);
  await stage.pass(120_000);
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("H5: a commit that was repeated and refused by its own success is no conflict", async () => {
  const stage = createStage([chain()]);
  await stage.begin("chain");
  stage.store.once(isCommit, { kind: "repeat" });
  await stage.drive(stage.work(stage.only(tasks)));
  expect(stage.world.metrics.total("conflicts")).toBe(0);
  expect(stage.world.metrics.total("commits-ambiguous")).toBe(1);
  expect(stage.world.queue.visible(tasks)).toBe(1);
  await somebodyElseCommits(stage);
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("H5: a requeue carries on that nobody knows what was sent", async () => {
  const stage = createStage([chain()], { functionMs: 20_000 });
  await stage.begin("chain");
  const commit = stage.store.hold(isCommit);
  const job = stage.work(stage.only(tasks));
  await stage.settle();
  await stage.pass(19_000);
  commit.release({ kind: "lose-reply" });
  await stage.drive(job);
  expect(stage.nodeOf(1)).toBe("done");
  expect(stage.take(tasks)).toEqual([]);
  await stage.pass(10_000);
  await stage.coordinate(stage.only(wakes));
  expect(stage.world.queue.visible(tasks)).toBe(1);
  await somebodyElseCommits(stage);
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("H5: an inline holder knows itself by its token on the row, not by whose commit is the last", async () => {
  const ran: number[] = [];
  const inline = chain({ inline: true }, (n) => {
    ran.push(n);
    return n + 1;
  });
  const stage = createStage([inline]);
  await stage.begin("chain");
  stage.store.once(isCommit, { kind: "lose-reply" });
  const job = stage.work(stage.only(tasks));
  await stage.settle();
  await somebodyElseCommits(stage);
  await stage.drive(job);
  expect(ran).toEqual([1, 2]);
  expect(stage.run().phase).toBe("succeeded");
  expect(await stage.toEnd(1_000)).toMatchObject({ output: { n: 3 } });
});

test("H5: of a commit that was repeated, with somebody's on top of it, the row goes on as it stands and not as it was written", async () => {
  let isArmed = false;
  /** A commit whose reply is lost and that the client silently repeats, after somebody else has committed. */
  const overtaken = (inner: MemoryStore): RunStore => ({
    ...inner,
    async write(write, options) {
      if (!isArmed || !isCommit({ op: "write", write })) return await inner.write(write, options);
      isArmed = false;
      await inner.write(write, options);
      await somebodyElseCommits(stage);
      const repeated = await inner.write(write, options);
      return repeated.kind === "unclear" ? repeated : { ...repeated, isClear: false };
    },
  });
  const stage = createStage([chain({ inline: true })], { store: overtaken });
  await stage.begin("chain");
  isArmed = true;
  await stage.drive(stage.work(stage.only(tasks)));
  expect(stage.nodeOf(0), "the signal that was taken in between").toBe("done");
  expect(stage.run().mail.signals).toBe(1);
  expect(await stage.toEnd(120_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});
