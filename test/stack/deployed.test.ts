import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deadTaskQueue, wakeQueue } from "../../lib/core/queue-names.ts";
import { rowAttributes } from "../../lib/core/row-format.ts";
import { coordinate } from "../../lib/engine/coordinate.ts";
import { decide } from "../../lib/engine/decide.ts";
import { type Ask, createApiClient } from "../../stack/api-client.ts";
import { preflight } from "../contract/preflight.ts";
import { deploy, type Emulator, startEmulator } from "./emulator.ts";
import { runEveryKind } from "./kinds.ts";
import { asked, changed, renamed, workflows } from "./tour/first.ts";
import { workflows as second } from "./tour/second.ts";
import { lossy, type Touring, touring } from "./touring.ts";

const appFile = fileURLToPath(new URL("./tour-app.ts", import.meta.url));

let emulator: Emulator;
let here: Touring;
let ask: Ask;
beforeAll(async () => {
  emulator = await startEmulator({ isIamEnforced: false });
  const outputs = deploy(emulator, appFile, { env: { TOUR: "first" } });
  here = touring(emulator, outputs, workflows);
  await preflight(here.engine.store);
  ask = createApiClient(outputs["Tour"]?.["ApiUrl"] ?? "", emulator.port);
}, 300_000);
afterAll(async () => {
  here?.close();
  await emulator?.stop();
});

const deaf = () => ({ ...here.engine, queue: lossy() });
const approve = (runId: string, engine = here.engine) =>
  decide(engine, here.refOf(runId), { gate: "ok", approved: true, by: "kim" });

describe("the template as it was synthesized, deployed", () => {
  runEveryKind(
    () => here,
    () => emulator,
  );

  it("the API starts a run once, takes its signal once, and shows how it ended", async () => {
    // GET /health is answered by MiniStack itself, whatever the host: it cannot be tried here
    const body = { workflow: "told", runId: "over-http", input: { n: 1 } };
    expect(await ask("POST", "/runs", { body })).toMatchObject({ status: 201, body: { runId: "over-http" } });
    expect(await ask("POST", "/runs", { body })).toMatchObject({ status: 200, body: { runId: "over-http" } });
    const go = { id: "once", payload: { n: 4 } };
    expect(await ask("POST", "/runs/over-http/signals/go", { body: go })).toMatchObject({ status: 202 });
    await here.untilStatus("over-http", "succeeded");
    const shown = await ask("GET", "/runs/over-http");
    expect(shown).toMatchObject({ status: 200, body: { status: "succeeded", output: { n: 5 } } });
    expect(shown.headers["etag"]).toMatch(/^".+"$/);
    expect(await ask("GET", "/runs/nobody")).toMatchObject({ status: 404, body: { code: "run-not-found" } });
  }, 120_000);

  describe.concurrent("what goes wrong is healed by the schedule alone", () => {
    const timeoutMs = 300_000;

    it(
      "a run whose wake-up was swallowed goes on",
      async () => {
        await here.begin(asked, "unheard", { n: 1 });
        await here.untilWaits("unheard", "gate");
        await approve("unheard", deaf());
        await here.untilStatus("unheard", "succeeded", 200_000);
      },
      timeoutMs,
    );

    it(
      "a task that only ever reaches the dead-letter queue is closed, and its node tried again",
      async () => {
        const nobody = lossy();
        await here.begin(asked, "buried", { n: 1 });
        await here.untilWaits("buried", "gate");
        await approve("buried", { ...here.engine, queue: nobody });
        // the coordinator of this process dispatches, and its task is lost to the workers
        const wake = nobody.lost.find(({ queue }) => queue === wakeQueue("standard"));
        await coordinate(
          { ...here.engine, queue: nobody },
          [{ id: "m", body: wake?.body ?? "", receiveCount: 1 }],
          () => 30_000,
        );
        const task = nobody.lost.find(({ queue }) => queue.startsWith("task:"));
        expect(task).toBeDefined();
        await here.send(deadTaskQueue, task?.body ?? "");
        await here.untilStatus("buried", "succeeded", 120_000);
        const { nodes } = await here.timelineOf("buried");
        expect(nodes.flatMap(({ attempts }) => attempts.map(({ state }) => state))).toContain("lost");
      },
      timeoutMs,
    );

    it(
      "a run whose every tick throws is ended, with the reason",
      async () => {
        const { runUid } = await here.begin(asked, "poison", { n: 1 });
        await here.untilWaits("poison", "gate");
        await here.engine.store.write({
          kind: "edit",
          key: { pk: "default#poison", sk: "STATE" },
          edits: [{ kind: "set", path: [rowAttributes.body], value: new Uint8Array([1, 2, 3]) }],
          when: [{ kind: "equals", path: [rowAttributes.runUid], value: runUid }],
        });
        await here.send(wakeQueue("standard"), '{"runId":"poison"}');
        const rowOf = async () =>
          (await here.engine.store.read([{ pk: "default#poison", sk: "STATE" }], { isConsistent: true }))[0];
        await here.until(
          "the poison has been ended",
          async () => (await rowOf())?.[rowAttributes.live] === undefined,
          200_000,
        );
        const row = await rowOf();
        expect(row?.[rowAttributes.status]).toBe("failed");
        expect(String(row?.[rowAttributes.reason])).toMatch(/^(stuck|bad-row) /);
        expect(emulator.log()).toContain('"event":"run.force-failed"');
      },
      timeoutMs,
    );
  });

  it("the next deploys leave runs in flight on their graph; a renamed step parks, and a deploy that has it resumes it", async () => {
    for (const [workflow, runId] of [
      [changed, "in-flight"],
      [renamed, "parks"],
    ] as const) {
      await here.begin(workflow, runId, { n: 1 });
      await here.untilWaits(runId, "gate");
    }
    deploy(emulator, appFile, { env: { TOUR: "second" } });
    await approve("in-flight");
    await approve("parks");
    await here.untilStatus("in-flight", "succeeded");
    expect(await here.outputOf("in-flight")).toEqual({ ok: true, value: { n: 1, by: ["pack", "wrap"] } });
    await here.untilStatus("parks", "parked");

    const young = touring(emulator, { Tour: { TableName: here.tableName, QueueBase: here.queueBase } }, second);
    const [, changedNow] = [
      second.find(({ name }) => name === "renamed"),
      second.find(({ name }) => name === "changed"),
    ];
    if (!changedNow) throw new Error("the second tour has no workflow changed");
    await young.begin(changedNow, "after", { n: 1 });
    await young.untilStatus("after", "succeeded");
    expect(await young.outputOf("after")).toEqual({ ok: true, value: { n: 1, by: ["pack", "wrap", "wrap"] } });
    young.close();

    deploy(emulator, appFile, { env: { TOUR: "third" } });
    await here.untilStatus("parks", "succeeded", 200_000);
    expect(await here.outputOf("parks")).toEqual({ ok: true, value: { n: 1, by: ["pack", "label"] } });
  }, 400_000);
});
