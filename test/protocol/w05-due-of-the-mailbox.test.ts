import * as v from "valibot";
import { expect, test } from "vitest";
import { signal as sendSignal } from "../../lib/engine/commands.ts";
import { undelivered } from "../../lib/engine/mailbox.ts";
import { watch } from "../../lib/engine/watch.ts";
import { signal, workflow } from "../../lib/index.ts";
import { crash, createStage, input, isAppend, isCommit, isTrim, plus, type Stage, tasks, wakes } from "./stage.ts";

const a = signal("a", v.object({ n: v.number() }));
const b = signal("b", v.object({ n: v.number() }));
/** Waits for b; a is known, and wanted by nobody before. */
const flow = workflow("waits", { input }, (f) => {
  const got = f.signal(b);
  f.signal(a, { after: [got], timeout: "1s", onTimeout: "continue" });
  return got;
});
const one = workflow("one", { input }, (f, given) => {
  const done = f.run(plus("step"), given);
  f.signal(a, { after: [done], when: false, name: "never" });
  return done;
});

const send = (stage: Stage, name: string, n = 1) =>
  sendSignal(stage.world.engine, stage.ref, { signal: name, payload: { n } });

async function overdue(stage: Stage): Promise<number> {
  return (await watch(stage.world.engine, () => 60_000)).overdue;
}

test("W5: a signal that nobody wants is looked at once and left; the mailbox is due no more", async () => {
  const stage = createStage([flow]);
  await stage.begin("waits");
  await send(stage, "a");
  expect(stage.mailOf()?.dueAtMs).toBeDefined();
  await stage.coordinate(stage.only(wakes));
  expect(stage.mailOf()?.dueAtMs).toBeUndefined();
  await stage.pass(600_000);
  expect(await overdue(stage)).toBe(0);
  await send(stage, "b");
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("W5: a due stays if something was appended since the look", async () => {
  const stage = createStage([flow]);
  await stage.begin("waits");
  await send(stage, "a");
  await appendedWhileTidying(stage, wakes);
  await stage.pass(61_000);
  expect(await overdue(stage)).toBe(1);
  await stage.coordinate(stage.only("watch"));
  expect(stage.nodeOf(0)).toBe("done");
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("W5: a due stays if something was appended since the look, also where the watchdog was the one who looked", async () => {
  const stage = createStage([flow]);
  await stage.begin("waits");
  await send(stage, "a");
  for (const wake of stage.take(wakes)) stage.world.queue.ack(wake);
  await stage.pass(61_000);
  expect(await overdue(stage)).toBe(1);
  await appendedWhileTidying(stage, "watch");
  await stage.pass(180_000);
  expect(await overdue(stage)).toBe(1);
  await stage.coordinate(stage.only("watch"));
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

/** A run whose last commit is about to be written, and a signal that was appended meanwhile by a call in progress. */
async function lateSignal() {
  const stage = createStage([one]);
  await stage.begin("one");
  const last = stage.store.hold(isCommit);
  const job = stage.work(stage.only(tasks));
  await stage.settle();
  const append = stage.store.hold(isAppend);
  const call = send(stage, "a");
  await stage.settle();
  expect([last.isReached, append.isReached]).toEqual([true, true]);
  return { stage, last, job, append, call };
}

test("W5b: a signal that lost against the run's end is refused by its own call, and is undelivered, sealed or not", async () => {
  const { stage, last, job, append, call } = await lateSignal();
  last.release();
  await stage.drive(job);
  append.release();
  await expect(call).rejects.toMatchObject({ code: "run-ended" });
  expect(stage.isSealed()).toBe(false);
  expect(await undelivered(stage.world.engine, stage.ref)).toMatchObject([{ name: "a" }]);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded" });
});

test("W5b: whoever finds mail on an ended run seals it, and it is due no more", async () => {
  const { stage, last, job, append, call } = await lateSignal();
  last.release();
  await stage.drive(job);
  stage.queue.once(() => true, crash);
  call.catch(() => undefined);
  append.release();
  await stage.settle();
  await stage.pass(61_000);
  expect(await overdue(stage)).toBe(1);
  await stage.coordinate(stage.only("watch"));
  expect(stage.isSealed()).toBe(true);
  expect(stage.world.metrics.total("signals-undelivered")).toBe(1);
  await stage.pass(3_600_000);
  expect(await overdue(stage)).toBe(0);
  expect(await undelivered(stage.world.engine, stage.ref)).toHaveLength(1);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded" });
});

/** The wake-up of this queue is processed; before it trims, a signal is appended whose sender dies before its own: only the due tells of it. */
async function appendedWhileTidying(stage: ReturnType<typeof createStage>, queue: string): Promise<void> {
  const tidy = stage.store.hold(isTrim);
  const job = stage.coordinate(stage.only(queue));
  await stage.settle();
  expect(tidy.isReached).toBe(true);
  stage.queue.once(() => true, crash);
  void send(stage, "b");
  await stage.settle();
  tidy.release();
  await stage.drive(job);
  expect(stage.mailOf()?.dueAtMs).toBeDefined();
}
