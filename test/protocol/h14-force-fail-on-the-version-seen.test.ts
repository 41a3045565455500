import { expect, test } from "vitest";
import { childRunId } from "../../lib/engine/child-id.ts";
import { start } from "../../lib/engine/start.ts";
import { workflow } from "../../lib/index.ts";
import { createStage, input, isForceFail, plus, tasks, wakes } from "./stage.ts";

const one = workflow("one", { input }, (f, given) => f.run(plus("a"), given));

test("H14: a run that somebody processed normally after the last strike is not force-failed", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  for (const task of stage.take(tasks)) stage.world.queue.ack(task);
  stage.poison();
  let wake = await stage.wake({ why: "watchdog" }, "watch");
  for (let round = 0; round < 2; round++) {
    await stage.coordinate(wake);
    await stage.pass(200_000);
    wake = stage.again(wake);
  }
  // the third throw is enough; before the end is written, another process moves the run: the same transition, a later version
  const end = stage.store.hold(isForceFail);
  const killing = stage.coordinate(wake);
  await stage.settle();
  expect(end.isReached).toBe(true);
  const { recordVersion, transitionSeq } = stage.run();
  stage.world.withEngine({ build: "mended" });
  await stage.coordinate(await stage.wake());
  expect(stage.run()).toMatchObject({ recordVersion: recordVersion + 1, transitionSeq });
  end.release();
  await stage.drive(killing);
  expect(stage.run().phase).toBe("running");
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 2 } });
});

test("H14: many runs that fail at once are a deploy's fault: after so many in a minute the others are kept", async () => {
  const limits = { forceFailsMax: 2, strikesMax: 1, stuckAfterMs: 0 };
  const stage = createStage([one], { limits });
  await stage.begin("one");
  const refs = ["r1", "r2", "r3", "r4"].map((runId) => ({ tenant: "default", runId }));
  for (const { runId } of refs.slice(1)) await start(stage.world.engine, { workflow: "one", runId, input: { n: 1 } });
  stage.poison();
  const handedBack: number[] = [];
  for (const ref of refs) {
    const { runUid } = stage.run(ref);
    handedBack.push((await stage.coordinate(await stage.wake({ ...ref, runUid }))).length);
  }
  expect(refs.map((ref) => stage.run(ref).phase)).toEqual(["failed", "failed", "running", "running"]);
  expect(handedBack, "who is kept keeps its message").toEqual([0, 0, 1, 1]);
  stage.world.withEngine({ build: "mended" });
  expect(await stage.toEnd(3_600_000, refs[2])).toMatchObject({ phase: "succeeded" });
  expect(await stage.toEnd(3_600_000, refs[3])).toMatchObject({ phase: "succeeded" });
});

test("H14: a force-fail leaves the index of what is due, and says what the run waited for", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  await endByForce(stage);
  expect(stage.run()).toMatchObject({ phase: "failed", due: { kind: "ended-badly" }, reason: { code: "stuck" } });
  expect(stage.run().reason?.message).toContain("a defect of this build");
});

test("H14: a run that is ended by force leaves no child behind: what it started is cancelled", async () => {
  const long = workflow("long", { input }, (f) => ({ nap: f.sleep("nap", "30d") }));
  const parent = workflow("parent", { input }, (f, given) => {
    f.child(long, given);
    return f.run(plus("a"), given);
  });
  const stage = createStage([parent, long]);
  await stage.begin("parent");
  const child = { tenant: "default", runId: childRunId(stage.run(), { node: 0, index: 0, attempt: 1 }) };
  expect(stage.run(child).phase).toBe("running");
  await endByForce(stage);
  expect(stage.run()).toMatchObject({ phase: "failed", reason: { code: "stuck" } });
  for (const each of stage.take(wakes)) await stage.coordinate(each);
  expect(stage.run(child).phase).toBe("cancelled");
});

/** From now on this build throws at the run; three receipts of one wake-up of the watchdog, each a spacing after the last. */
async function endByForce(stage: ReturnType<typeof createStage>): Promise<void> {
  stage.poison();
  let wake = await stage.wake({ why: "watchdog" }, "watch");
  for (let round = 0; round < 3; round++) {
    await stage.coordinate(wake);
    await stage.pass(200_000);
    if (round < 2) wake = stage.again(wake);
  }
}
