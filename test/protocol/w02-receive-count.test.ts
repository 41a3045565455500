import { expect, test } from "vitest";
import { workflow } from "../../lib/index.ts";
import { crash, createStage, input, isLoad, plus } from "./stage.ts";

const one = workflow("one", { input }, (f, given) => f.run(plus("a"), given));

test("W2: deliveries that nobody processed are no evidence: after two deaths a run still gets its third processing", async () => {
  const stage = createStage([one], { maxReceiveCount: 20 });
  await stage.begin("one");
  let wake = await stage.wake({ why: "watchdog" }, "watch");
  const dies = async () => {
    let loads = 0;
    stage.store.once((call) => isLoad(call) && ++loads === 2, crash);
    void stage.coordinate(wake);
    await stage.pass(200_000);
    wake = stage.again(wake);
  };
  // received and never processed: throttled, or a neighbour in the batch killed the function
  for (let receipt = 0; receipt < 3; receipt++) wake = stage.again(wake);
  await dies();
  await dies();
  expect(stage.strikesOf()?.count).toBe(2);
  for (let receipt = 0; receipt < 3; receipt++) wake = stage.again(wake);
  await stage.coordinate(wake);
  expect(stage.run().phase).toBe("running");
  expect(stage.strikesOf()).toBeUndefined();
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});

test("W2: after strikesMax deaths the next receipt ends the run before it processes it", async () => {
  const stage = createStage([one], { maxReceiveCount: 20 });
  await stage.begin("one");
  let wake = stage.again(await stage.wake({ why: "watchdog" }, "watch"));
  for (let death = 0; death < 3; death++) {
    let loads = 0;
    stage.store.once((call) => isLoad(call) && ++loads === 2, crash);
    void stage.coordinate(wake);
    await stage.pass(200_000);
    wake = stage.again(wake);
  }
  expect(stage.run().phase).toBe("running");
  const ticks = stage.world.metrics.total("ticks");
  await stage.coordinate(wake);
  expect(stage.run()).toMatchObject({ phase: "failed", reason: { code: "stuck" } });
  expect(stage.world.metrics.total("ticks")).toBe(ticks);
});
