import { expect, test } from "vitest";
import { childRunId } from "../../lib/engine/child-id.ts";
import { decide } from "../../lib/engine/decide.ts";
import { forceFail } from "../../lib/engine/force-fail.ts";
import { snapshot } from "../../lib/engine/load.ts";
import { start } from "../../lib/engine/start.ts";
import { Fault, workflow } from "../../lib/index.ts";
import { createStage, input, isClaim, isEnd, isForceFail, isSendTo, isStrike, plus, tasks } from "./stage.ts";

const repeat = { kind: "repeat" } as const;

function counted() {
  const ran: number[] = [];
  const step = plus("a", { once: true }, (n) => {
    ran.push(n);
    return n + 1;
  });
  const one = workflow("one", { input }, (f, given) => f.run(step, given));
  const gate = workflow("gate", { input }, (f) => f.gate("ok"));
  const outer = workflow("outer", { input }, (f, given) => f.child(one, given));
  return { ran, stage: createStage([one, gate, outer]) };
}

test("H10: a claim whose reply was lost is this worker's own: the attempt runs", async () => {
  const { ran, stage } = counted();
  await stage.begin("one");
  stage.store.once(isClaim, repeat);
  await stage.work(stage.only(tasks));
  expect(ran).toHaveLength(1);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 2 } });
});

for (const kind of ["lose-reply", "lose-request"] as const) {
  test(`H10: a claim that gets no answer (${kind}) is asked again, and burns no attempt`, async () => {
    const { ran, stage } = counted();
    await stage.begin("one");
    stage.store.once(isClaim, { kind });
    await stage.world.clock.drive(stage.work(stage.only(tasks)));
    expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 2 } });
    expect(ran).toHaveLength(1);
  });
}

test("H10: a result whose reply was lost is this worker's own: the run goes on at once", async () => {
  const { ran, stage } = counted();
  await stage.begin("one");
  stage.store.once(isEnd("ok"), repeat);
  await stage.work(stage.only(tasks));
  expect(stage.world.metrics.total("attempts-late")).toBe(0);
  expect(stage.nodeOf(0)).toBe("done");
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 2 } });
  expect(ran).toHaveLength(1);
});

test("H10: whoever force-fails a run knows that it was them, and tells the parent", async () => {
  const { stage } = counted();
  await stage.begin("outer");
  const child = { tenant: "default", runId: childRunId(stage.run(), { node: 0, index: 0, attempt: 1 }) };
  const seen = await snapshot(stage.world.engine, child);
  if (!seen) throw new Error("there is no child");
  stage.store.once(isForceFail, repeat);
  expect(await forceFail(stage.world.engine, seen, "stuck", "it did not end")).toBe("ended");
  expect(stage.attemptOf(0)).toMatchObject({ v: "failed" });
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "failed", reason: { code: "child-failed" } });
});

test("H10: a strike whose reply was lost is removed like any other when its processing ends normally", async () => {
  const { stage } = counted();
  await stage.begin("one");
  stage.store.once(isStrike, repeat);
  await stage.coordinate(stage.again(await stage.wake()));
  expect(stage.strikesOf()).toBeUndefined();
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("H10: a strike whose reply was lost is removed before its message is handed back for a fault of the platform", async () => {
  const { stage } = counted();
  await stage.begin("one");
  stage.store.once(isStrike, repeat);
  stage.queue.once(isSendTo(tasks), { kind: "fail", fault: new Fault("unavailable", "no answer") });
  const wake = stage.again(await stage.wake());
  expect(await stage.coordinate(wake)).toEqual([wake.id]);
  expect(stage.strikesOf()).toBeUndefined();
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("H10: a decision and a start whose replies were lost are the caller's own", async () => {
  const { stage } = counted();
  stage.store.once((call) => call.op === "write" && call.write.key.sk === "STATE", repeat);
  const started = await start(stage.world.engine, { workflow: "gate", runId: "r1", input: { n: 1 } });
  expect(started.isNew).toBe(true);
  stage.store.once(isEnd("decided"), repeat);
  await decide(stage.world.engine, stage.ref, { gate: "ok", approved: true });
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { approved: true } });
});
