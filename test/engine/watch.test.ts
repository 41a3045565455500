import * as v from "valibot";
import { expect, test } from "vitest";
import { signal as sendSignal } from "../../lib/engine/commands.ts";
import { start } from "../../lib/engine/start.ts";
import { watch } from "../../lib/engine/watch.ts";
import { signal, workflow } from "../../lib/index.ts";
import { createStage, input, plus, tasks, wakes } from "../protocol/stage.ts";

const word = signal("word", v.object({ n: v.number() }));
const beside = workflow("beside", { input }, (flow, given) => {
  flow.signal(word);
  return flow.run(plus("a"), given);
});

/** Runs whose task and wake-ups were lost, and that are overdue by now. */
async function overdue(count: number, limits: object = {}) {
  const stage = createStage([beside], { limits });
  for (let at = 0; at < count; at++)
    await start(stage.world.engine, { workflow: "beside", runId: `r${at + 1}`, input: { n: 1 } });
  for (const task of stage.take(tasks)) stage.world.queue.ack(task);
  await stage.pass(200_000);
  return stage;
}

const whole = () => 60_000;

test("a sweep sends no more than it may, however many are overdue, and the next ones make it up", async () => {
  const stage = await overdue(40, { sendsMax: 3 });
  const woken: string[] = [];
  for (let minute = 0; minute < 14; minute++) {
    const { sent } = await watch(stage.world.engine, whole);
    const wakeUps = stage.take("watch");
    expect(wakeUps.length).toBeLessThanOrEqual(3);
    expect(sent).toBe(wakeUps.length);
    woken.push(...wakeUps.map(({ body }) => String(JSON.parse(body).runId)));
    for (const each of wakeUps) await stage.coordinate(each);
  }
  expect(new Set(woken).size).toBe(40);
});

test("a sweep without time left looks at nothing more, so that it ends before its function does", async () => {
  const stage = await overdue(5);
  const { reserveMs } = stage.world.engine.limits;
  expect(await watch(stage.world.engine, () => reserveMs - 1)).toMatchObject({ overdue: 0, sent: 0 });
  expect(await watch(stage.world.engine, whole)).toMatchObject({ overdue: 5, sent: 5 });
});

test("a run whose row and mailbox are overdue side by side is sent one wake-up, which finds both", async () => {
  const stage = createStage([beside]);
  await stage.begin("beside");
  await sendSignal(stage.world.engine, stage.ref, { signal: "word", payload: { n: 1 } });
  for (const each of [...stage.take(tasks), ...stage.take(wakes)]) stage.world.queue.ack(each);
  await stage.pass(200_000);
  expect(await watch(stage.world.engine, whole)).toMatchObject({ overdue: 2, sent: 1 });
  await stage.coordinate(stage.only("watch"));
  expect(stage.nodeOf(0)).toBe("done");
  expect(await stage.toEnd(60_000)).toMatchObject({ phase: "succeeded", output: { n: 2 } });
});
