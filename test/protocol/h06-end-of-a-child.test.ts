import { expect, test } from "vitest";
import { childRunId } from "../../lib/engine/child-id.ts";
import { command } from "../../lib/engine/commands.ts";
import { step, call as use, workflow } from "../../lib/index.ts";
import type { StoreCall } from "../../lib/testing/memory-store.ts";
import { crash, createStage, input, isEnd, plus, tasks, wakes } from "./stage.ts";

const inner = workflow("inner", { input }, (f, given) => f.run(plus("work"), given));
const outer = workflow("outer", { input }, (f, given) => f.child(inner, given));

/** A parent, its child, and the child's task in hand. */
async function family() {
  const stage = createStage([inner, outer]);
  await stage.begin("outer");
  const child = { tenant: "default", runId: childRunId(stage.run(), { node: 0, index: 0, attempt: 1 }) };
  return { stage, child, task: stage.only(tasks) };
}

const isNotice = (call: Parameters<ReturnType<typeof isEnd>>[0]) =>
  isEnd("ok")(call) && call.op === "write" && call.write.key.pk === "default#r1";

test("H6: a child's end that was committed and not yet told is told by whoever receives the message again", async () => {
  const { stage, child, task } = await family();
  stage.store.once(isNotice, crash);
  void stage.work(task);
  await stage.settle();
  expect(stage.run(child).phase).toBe("succeeded");
  await stage.work(stage.again(task));
  await stage.coordinate(stage.only(wakes));
  expect(stage.run()).toMatchObject({ phase: "succeeded" });
  expect(stage.run(child).due).toBeUndefined();
  expect(await stage.toEnd(1_000)).toMatchObject({ output: { n: 2 } });
});

test("H6: a terminal child keeps its due until its parent was told, so the watchdog finds it", async () => {
  const { stage, child, task } = await family();
  stage.store.once(isNotice, crash);
  void stage.work(task);
  await stage.settle();
  stage.world.queue.ack(task);
  expect(stage.run(child).due?.kind).toBe("at");
  await stage.pass(61_000);
  const found = await stage.world.store.find("due", {
    partition: String(stage.world.store.peek({ pk: `default#${child.runId}`, sk: "STATE" })?.["q"]),
    upTo: stage.nowMs(),
    limit: 10,
  });
  expect(found.items.map(({ pk }) => pk)).toContain(`default#${child.runId}`);
});

test("H6: a parent reads its child's row by itself, in case nobody told it", async () => {
  const { stage, task } = await family();
  stage.store.once(isNotice, crash);
  void stage.work(task);
  await stage.settle();
  stage.world.queue.ack(task);
  await stage.pass(61_000);
  await stage.coordinate(await stage.wake());
  await stage.coordinate(stage.only(wakes));
  expect(stage.run()).toMatchObject({ phase: "succeeded" });
  expect(await stage.toEnd(1_000)).toMatchObject({ output: { n: 2 } });
});

test("H6: cancelling a child that does not exist yet creates it cancelled, so a slow starter cannot bring it to life", async () => {
  const ran: number[] = [];
  const working = workflow("working", { input }, (f, given) =>
    f.run(
      plus("work", {}, (n) => {
        ran.push(n);
        return n;
      }),
      given,
    ),
  );
  const starting = workflow("starting", { input }, (f, given) => f.child(working, f.run(plus("a"), given)));
  const stage = createStage([working, starting]);
  await stage.begin("starting");
  const creation = stage.store.hold(
    (call) => call.op === "write" && call.write.kind === "put" && call.write.key.pk.startsWith("default#child-"),
  );
  const slow = stage.work(stage.only(tasks));
  await stage.settle();
  expect(creation.isReached).toBe(true);
  await command(stage.world.engine, stage.ref, { kind: "cancel", by: "ann" });
  await stage.coordinate(...stage.take(wakes));
  creation.release();
  await stage.drive(slow);
  expect(await stage.toEnd()).toMatchObject({ phase: "cancelled" });
  await stage.world.advance(600_000);
  expect(ran).toEqual([]);
});

test("H6: a child that was created cancelled, by a function that died before it told the parent, is told of by the next look", async () => {
  const giveBack = step("give-back", { input }, () => {});
  const working = workflow("working", { input }, (f, given) => f.run(plus("work"), given));
  const starting = workflow("starting", { input }, (f, given) =>
    f.child(working, f.run(plus("a"), given), { compensate: () => use(giveBack, given) }),
  );
  const stage = createStage([working, starting]);
  await stage.begin("starting");
  const isOfChild = (call: StoreCall) =>
    call.op === "write" && call.write.kind === "put" && call.write.key.pk.startsWith("default#child-");
  const creation = stage.store.hold(isOfChild);
  const slow = stage.work(stage.only(tasks));
  await stage.settle();
  await command(stage.world.engine, stage.ref, { kind: "cancel", by: "ann" });
  // the child stands there cancelled, and nobody has said so
  stage.store.once(isEnd("cancelled"), { kind: "lose-request" });
  const wakeUps = stage.take(wakes);
  expect(await stage.coordinate(...wakeUps)).toHaveLength(1);
  expect(stage.run().active.map(({ state }) => state)).toEqual(["unwanted"]);
  creation.release();
  await stage.drive(slow);
  expect(await stage.toEnd()).toMatchObject({ phase: "cancelled" });
});
