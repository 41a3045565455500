import * as v from "valibot";
import { expect, test } from "vitest";
import { cancel, pause, resume, signal as sendSignal } from "../../lib/engine/commands.ts";
import { signal, workflow } from "../../lib/index.ts";
import { createStage, input, type Stage, wakes } from "./stage.ts";

const a = signal("a", v.object({ n: v.number() }));
const b = signal("b", v.object({ n: v.number() }));
const flow = workflow("waits", { input }, (f) => {
  const got = f.signal(b);
  f.signal(a, { after: [got] });
  return got;
});

const send = (stage: Stage, name: string, n = 1) =>
  sendSignal(stage.world.engine, stage.ref, { signal: name, payload: { n } });

async function look(stage: Stage) {
  for (const wake of stage.take(wakes)) await stage.coordinate(wake);
}

test("W7: commands have room of their own and are trimmed, whatever signal stands unwanted before them", async () => {
  const stage = createStage([flow]);
  await stage.begin("waits");
  await send(stage, "a");
  for (let round = 0; round < 20; round++) {
    await pause(stage.world.engine, stage.ref, "ann");
    await resume(stage.world.engine, stage.ref, "ann");
    await look(stage);
  }
  expect(stage.mailOf()).toMatchObject({ commands: [], signals: [{ name: "a" }] });
  expect(Object.keys(stage.mailOf()?.ids ?? {}).length).toBeLessThan(70);
  await cancel(stage.world.engine, stage.ref, "ann");
  expect(await stage.toEnd()).toMatchObject({ phase: "cancelled" });
});

test("W7: a cancel finds room in a mailbox that is full of signals", async () => {
  const stage = createStage([flow]);
  await stage.begin("waits");
  for (let at = 0; at < 32; at++) await send(stage, "a");
  await expect(send(stage, "a")).rejects.toMatchObject({ code: "mailbox-full" });
  await expect(cancel(stage.world.engine, stage.ref, "ann")).resolves.toEqual({ seq: 0, isRepeat: false });
  expect(await stage.toEnd()).toMatchObject({ phase: "cancelled" });
});

test("W7: an unwanted signal stands before nothing: what comes behind it is taken", async () => {
  const stage = createStage([flow]);
  await stage.begin("waits");
  await send(stage, "a", 1);
  await send(stage, "b", 2);
  await look(stage);
  expect([stage.nodeOf(0), stage.nodeOf(1)]).toEqual(["done", "done"]);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 2 } });
});

test("W7: a full mailbox whose oldest signal nobody waits for gives that one up, so that a wanted one can come", async () => {
  const stage = createStage([flow]);
  await stage.begin("waits");
  for (let at = 0; at < 32; at++) await send(stage, "a");
  await look(stage);
  expect(stage.world.metrics.total("signals-undelivered")).toBeGreaterThan(0);
  await send(stage, "b");
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
});
