import { expect, test } from "vitest";
import { Fault, workflow } from "../../lib/index.ts";
import { createStage, input, isSendTo, isUnstrike, plus, tasks, wakes } from "./stage.ts";

const one = workflow("one", { input }, (f, given) => f.run(plus("a"), given));
const fail = { kind: "fail", fault: new Fault("unavailable", "the queue does not answer") } as const;

test("W1: sends that fail for long kill nobody: their processing removes its strike before it hands the message back", async () => {
  const stage = createStage([one], { maxReceiveCount: 20 });
  await stage.begin("one");
  const outage = stage.queue.always(isSendTo(tasks), fail);
  let wake = await stage.wake({ why: "watchdog" }, "watch");
  for (let receipt = 0; receipt < 8; receipt++) {
    expect(await stage.coordinate(wake)).toEqual([wake.id]);
    await stage.pass(130_000);
    wake = stage.again(wake);
  }
  expect(stage.strikesOf()).toBeUndefined();
  expect(stage.run().phase).toBe("running");
  outage.stop();
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("W1: if the table refuses even that, the message goes on as a new one, which is nobody's redelivery", async () => {
  const stage = createStage([one]);
  await stage.begin("one");
  const sends = stage.queue.always(isSendTo(tasks), fail);
  stage.store.once(isUnstrike, fail);
  expect(await stage.coordinate(stage.again(await stage.wake()))).toEqual([]);
  sends.stop();
  await stage.pass(5_000);
  const next = stage.only(wakes);
  expect(next.receiveCount).toBe(1);
  await stage.coordinate(next);
  expect(stage.strikesOf()).toBeUndefined();
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});
