import { describe, expect, test } from "vitest";
import { rowAttributes as a } from "../../lib/core/row-format.ts";
import { cancel, signal } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { forceFail } from "../../lib/engine/force-fail.ts";
import { readResult, timeline } from "../../lib/engine/inspect.ts";
import { snapshot } from "../../lib/engine/load.ts";
import { envelope, message } from "../../lib/engine/messages.ts";
import { purge } from "../../lib/engine/purge.ts";
import { stateKey } from "../../lib/engine/records/state.ts";
import { putStrikes } from "../../lib/engine/records/strikes.ts";
import { start } from "../../lib/engine/start.ts";
import { watch } from "../../lib/engine/watch.ts";
import { workflow } from "../../lib/index.ts";
import { createStage, input, plus, type Stage, tasks, wakes } from "../protocol/stage.ts";

/** What a deploy brings: the row of a run as the next version writes it, which this one cannot read. */
async function ahead(): Promise<Stage & { readonly row: () => unknown; readonly before: unknown }> {
  const stage = createStage([workflow("chain", { input }, (flow, given) => flow.run(plus("a"), { n: given.n }))]);
  await stage.begin("chain");
  const key = stateKey(stage.ref);
  const row = {
    ...stage.world.store.peek(key),
    [a.format]: 2,
    [a.body]: new Uint8Array([2, 2, 2]),
    new: "of format 2",
  };
  await stage.world.store.write({ kind: "put", key, fields: row, when: [] });
  return { ...stage, row: () => stage.world.store.peek(key), before: stage.world.store.peek(key) };
}

const minuteMs = 60_000;

describe("a row of a newer format is handed on, and never written", () => {
  const run = { tenant: "default", runId: "r1", runUid: "", tier: "standard", transitionSeq: 1 } as const;
  const task = { node: 0, index: 0, attempt: 1, sends: 1 };

  test.each([
    ["a hint", wakes, envelope({ ...run }, { hints: ["0/0/1"] })],
    ["a timer", wakes, envelope({ ...run }, { why: "timer" })],
    ["a word to parked runs", wakes, envelope({ ...run }, { why: "unpark" })],
    ["a watchdog's", "watch", envelope({ ...run }, { why: "watchdog" })],
    ["a requeue that counts", wakes, envelope({ ...run }, { requeues: 40, requeuesAtSeq: 1 })],
    ["a task", tasks, envelope({ ...run }, { task })],
  ])("%s goes on as a new message in a minute, received once or for the fourth time", async (_, queue, content) => {
    const stage = await ahead();
    const { world } = stage;
    stage.take(tasks);
    await world.queue.send([message(queue, { ...content, runUid: uidOf(stage) }, "t")]);
    let delivery = stage.only(queue);
    for (let received = 1; received < 4; received++) delivery = stage.again(delivery);
    const consume = queue === tasks ? stage.work : stage.coordinate;
    expect(await stage.drive(consume(delivery))).toEqual([]);
    expect(stage.take(queue), "at once").toEqual([]);
    await stage.pass(minuteMs);
    expect(stage.take(queue).length).toBe(1);
    expect(world.queue.messages("dead")).toEqual([]);
    expect(stage.row()).toEqual(stage.before);
    expect(world.metrics.total("format-ahead")).toBe(1);
  });

  test("a task in the dead-letter queue waits there for the deploy too", async () => {
    const stage = await ahead();
    await stage.world.queue.send([message("dead-task", { ...envelope(run, { task }), runUid: uidOf(stage) }, "t")]);
    expect(await stage.drive(stage.bury(stage.only("dead-task")))).toEqual([]);
    await stage.pass(minuteMs);
    expect(stage.take("dead-task").length).toBe(1);
    expect(stage.row()).toEqual(stage.before);
  });

  test("the watchdog tells of it and writes nothing on it", async () => {
    const stage = await ahead();
    await stage.pass(3_600_000);
    await watch(stage.world.engine, () => minuteMs);
    expect(stage.row()).toEqual(stage.before);
  });

  test("strikes that stand from before the deploy do not end it", async () => {
    const stage = await ahead();
    const { engine, queue, metrics } = stage.world;
    const seen = await snapshot(engine, stage.ref);
    if (!seen) throw new Error("the row is there");
    const strikes = { seq: seen.owner.seq, build: engine.build, count: 9, firstAtMs: 1, lastAtMs: 1 } as const;
    const write = putStrikes(seen.owner, { ...strikes, fault: "stuck", message: "died" }, undefined, false, 2e9);
    await engine.store.write(write);
    await queue.send([message(wakes, { ...envelope(run, {}), runUid: seen.owner.runUid }, "t")]);
    const delivery = stage.again(stage.only(wakes));
    expect(await stage.drive(stage.coordinate(delivery))).toEqual([]);
    expect(stage.row()).toEqual(stage.before);
    expect(metrics.total("force-fails")).toBe(0);
  });

  test("nor does anybody else end it by force: its build can", async () => {
    const stage = await ahead();
    const seen = await snapshot(stage.world.engine, stage.ref);
    if (!seen) throw new Error("the row is there");
    expect(await forceFail(stage.world.engine, seen, "livelock", "a test")).toBe("moved");
    expect(stage.row()).toEqual(stage.before);
  });

  test("people and programs are told to come back, and nothing is stored for them", async () => {
    const stage = await ahead();
    const { engine, store } = stage.world;
    const records = store.snapshot();
    const calls = [
      () => signal(engine, stage.ref, { signal: "s", payload: 1 }),
      () => cancel(engine, stage.ref, "mei"),
      () => decide(engine, stage.ref, { gate: "g", approved: true, by: "mei" }),
      () => purge(engine, stage.ref),
      () => readResult(engine, stage.ref),
      () => timeline(engine, stage.ref),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "newer-format" });
    expect(store.snapshot()).toEqual(records);
    await expect(start(engine, { workflow: "chain", runId: "r1", input: { n: 1 } })).rejects.toMatchObject({
      code: "newer-format",
    });
    expect(stage.row()).toEqual(stage.before);
  });
});

const uidOf = (stage: Stage) => String(stage.world.store.peek(stateKey(stage.ref))?.[a.runUid]);
