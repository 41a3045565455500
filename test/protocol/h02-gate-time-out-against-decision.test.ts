import { expect, test } from "vitest";
import { decide } from "../../lib/engine/decide.ts";
import { workflow } from "../../lib/index.ts";
import { createStage, input, isEnd, wakes } from "./stage.ts";

const flow = workflow("ask", { input }, (f) => f.gate("ok", { timeout: "1m", onTimeout: "continue" }));

test("H2: a person who was answered with success has decided, also when the time-out was being noticed", async () => {
  const stage = createStage([flow]);
  await stage.begin("ask");
  await stage.pass(60_000);
  const timeOut = stage.store.hold(isEnd("timed-out"));
  const noticing = stage.coordinate(stage.only(wakes));
  await stage.settle();
  expect(timeOut.isReached).toBe(true);
  await decide(stage.world.engine, stage.ref, { gate: "ok", approved: true, by: "ann" });
  timeOut.release();
  await stage.drive(noticing);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { approved: true, by: "ann" } });
});

test("H2: a time-out that came first is the winner that a later person is told of", async () => {
  const stage = createStage([flow]);
  await stage.begin("ask");
  await stage.pass(60_000);
  const commit = stage.store.hold((call) => call.op === "write" && call.write.key.sk === "STATE");
  const noticing = stage.coordinate(stage.only(wakes));
  await stage.settle();
  expect(commit.isReached).toBe(true);
  const late = decide(stage.world.engine, stage.ref, { gate: "ok", approved: true, by: "ann" });
  await expect(late).rejects.toMatchObject({ code: "gate-decided", details: { winner: { timedOut: true } } });
  commit.release();
  await stage.drive(noticing);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { approved: false, timedOut: true } });
});

test("H2: of two people the first has decided, and the other is told how", async () => {
  const stage = createStage([flow]);
  await stage.begin("ask");
  await decide(stage.world.engine, stage.ref, { gate: "ok", approved: false, by: "ann", id: "1" });
  const second = decide(stage.world.engine, stage.ref, { gate: "ok", approved: true, by: "bob", id: "2" });
  await expect(second).rejects.toMatchObject({ details: { winner: { approved: false, by: "ann" } } });
  const repeat = await decide(stage.world.engine, stage.ref, { gate: "ok", approved: false, by: "ann", id: "1" });
  expect(repeat.isRepeat).toBe(true);
  expect(await stage.toEnd()).toMatchObject({ phase: "failed", reason: { code: "rejected" } });
});
