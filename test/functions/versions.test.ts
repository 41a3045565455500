import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { queueUrl } from "../../lib/aws/names.ts";
import { rowAttributes } from "../../lib/core/row-format.ts";
import { isSettled } from "../../lib/core/run.ts";
import { decide } from "../../lib/engine/decide.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import {
  contextOf,
  errorsIn,
  type Handler,
  type Installation,
  install,
  metricsOf,
  recorded,
  refOf,
} from "./installation.ts";
import { workflows as next } from "./next-workflows.ts";
import { workflows } from "./workflows.ts";

const wake = "wake:standard";
const task = "task:default";

let here: Installation;
beforeEach(async () => {
  here = await install();
});
afterEach(() => here.close());

const begin = (engine: Engine, runId: string) =>
  start(engine, { workflow: "parcels", runId, input: { id: runId, stops: [] } });

describe("two versions of the code on one table", () => {
  test("share its runs: each goes on along the graph that it began with, whoever receives its messages", async () => {
    const [old, young] = [here.engine(workflows), here.engine(next)];
    const coordinators = [
      await here.handler("coordinator", "workflows.ts", "build-1"),
      await here.handler("coordinator", "next-workflows.ts", "build-2"),
    ] as const;
    const workers = [
      await here.handler("worker", "workflows.ts", "build-1"),
      await here.handler("worker", "next-workflows.ts", "build-2"),
    ] as const;
    const watchdogs = [
      await here.handler("watchdog", "workflows.ts", "build-1"),
      await here.handler("watchdog", "next-workflows.ts", "build-2"),
    ] as const;
    const oldIds = ["old-1", "old-2", "old-3"];
    const youngIds = ["young-1", "young-2", "young-3"];
    for (const runId of oldIds) await begin(old, runId);
    for (const runId of youngIds) await begin(young, runId);

    const isOver = async (runId: string) => {
      const run = await findRun(old, refOf(runId));
      return run !== undefined && isSettled(run);
    };
    let turn = 0;
    const versionOf = (pair: readonly [Handler, Handler]): Handler => pair[turn++ % 2 === 0 ? 0 : 1];
    for (let rounds = 0; rounds < 60; rounds++) {
      await Promise.all([
        here.invoke(versionOf(coordinators), wake, { most: 1 }),
        here.invoke(versionOf(coordinators), wake, { most: 1 }),
        here.invoke(versionOf(workers), task, { most: 1 }),
        here.invoke(versionOf(workers), task, { most: 1 }),
      ]);
      turn += rounds % 3;
      for (const runId of oldIds) {
        const run = await findRun(old, refOf(runId));
        if (run?.active.some(({ state }) => state === "gate"))
          await decide(young, refOf(runId), { gate: "checked", approved: true, by: "kim" });
      }
      // a build that comes after another wakes what is parked: also the older one, which is rolled back to
      await versionOf(watchdogs)({} as never, contextOf(30_000));
      if ((await Promise.all([...oldIds, ...youngIds].map(isOver))).every(Boolean)) break;
    }
    for (const runId of oldIds)
      expect((await readResult(old, refOf(runId))).output).toEqual({
        ok: true,
        value: { id: runId, stops: ["collected", "delivered"] },
      });
    for (const runId of youngIds)
      expect((await readResult(young, refOf(runId))).output).toEqual({
        ok: true,
        value: { id: runId, stops: ["collected", "cleared", "delivered"] },
      });
    // otherwise the old version never met what it does not have
    expect(metricsOf(here.lines)["runs-parked"]).toBeGreaterThan(0);
    expect(errorsIn(here.lines)).toEqual([]);
  }, 120_000);

  test("what a newer format wrote goes on as a new message, is metered, and neither written nor dead", async () => {
    const engine = here.engine(workflows);
    const coordinator = await here.handler("coordinator");
    await begin(engine, "r");
    await engine.store.write({
      kind: "edit",
      key: { pk: "default#r", sk: "STATE" },
      edits: [{ kind: "set", path: [rowAttributes.format], value: 2 }],
      when: [{ kind: "exists", path: ["pk"] }],
    });
    const before = await engine.store.list({ pk: "default#r", prefix: "", isConsistent: true });
    const event = recorded(['{"runId":"r"}', '{"format":2,"runId":"r","hints":{"shape":"unknown"}}']);
    expect(await coordinator(event, contextOf(30_000))).toEqual({ batchItemFailures: [] });
    expect(await engine.store.list({ pk: "default#r", prefix: "", isConsistent: true })).toEqual(before);
    expect(metricsOf(here.lines)["format-ahead"]).toBe(2);
    expect(metricsOf(here.lines)["messages-dead"]).toBeUndefined();
    expect(errorsIn(here.lines)).toEqual([]);
    // delayed, so that a deploy can end meanwhile
    const sent = here.front.asked.filter(({ operation }) => operation.startsWith("SendMessage"));
    // the first is the task that the start sent
    expect(sent.slice(1).map(({ body }) => body.includes('"DelaySeconds":60'))).toEqual([true, true]);
    const { messages } = await here.invoke(coordinator, wake);
    expect(messages).toEqual([]);
  });
});

test("a message that a person wrote by hand is enough", async () => {
  const engine = here.engine(workflows);
  const [coordinator, worker] = [await here.handler("coordinator"), await here.handler("worker")];
  await begin(engine, "r");
  await here.invoke(worker, task, { most: 1 });
  await decide(engine, refOf("r"), { gate: "checked", approved: true, by: "kim" });
  await here.sqs.client.send(
    new SendMessageCommand({ QueueUrl: queueUrl(here.sqs.queueBase, wake), MessageBody: '{"runId":"r"}' }),
  );
  await here.invoke(coordinator, wake);
  await here.invoke(worker, task, { most: 1 });
  expect((await readResult(engine, refOf("r"))).output).toMatchObject({ ok: true });
});
