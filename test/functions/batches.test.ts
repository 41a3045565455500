import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { queueUrl } from "../../lib/aws/names.ts";
import { isSettled, statusOf } from "../../lib/core/run.ts";
import { decide } from "../../lib/engine/decide.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import { errorsIn, type Handler, type Installation, metricsOf, prepare, refOf } from "./installation.ts";

const wake = "wake:standard";
const task = "task:default";

let here: Installation;
let engine: Engine;
let coordinator: Handler;
let worker: Handler;
beforeEach(async () => {
  ({ here, engine, coordinator, worker } = await prepare({ tickInPlaceMax: 0 }));
});
afterEach(() => here.close());

const begin = (runId: string) => start(engine, { workflow: "parcels", runId, input: { id: runId, stops: [] } });
const send = (body: string) =>
  here.sqs.client.send(new SendMessageCommand({ QueueUrl: queueUrl(here.sqs.queueBase, wake), MessageBody: body }));

/** Invocations side by side, again and again, until a round finds nothing to receive. */
async function drain(side = 4): Promise<void> {
  for (;;) {
    const rounds = await Promise.all(
      Array.from({ length: side }, async () => {
        const woken = await here.invoke(coordinator, wake);
        const worked = await here.invoke(worker, task, { most: 1 });
        return woken.messages.length + worked.messages.length;
      }),
    );
    if (rounds.every((count) => count === 0)) return;
  }
}

describe("handlers side by side", () => {
  test("many runs, their wake-ups twice and at once: each ends once, conflicts are no errors, nothing is handed back (L7, L8)", async () => {
    const runIds = Array.from({ length: 12 }, (_, at) => `r-${at}`);
    for (const runId of runIds) await begin(runId);
    await drain();
    await Promise.all(
      runIds.map((runId) => decide(engine, refOf(runId), { gate: "checked", approved: true, by: "kim" })),
    );
    for (const runId of [...runIds, ...runIds]) await send(`{"runId":"${runId}"}`);
    await drain();
    for (const runId of runIds) {
      const { run, output } = await readResult(engine, refOf(runId));
      expect(isSettled(run)).toBe(true);
      expect(output).toEqual({ ok: true, value: { id: runId, stops: ["collected", "delivered"] } });
    }
    expect(errorsIn(here.lines)).toEqual([]);
    expect(metricsOf(here.lines)["messages-handed-back"]).toBeUndefined();
    expect(metricsOf(here.lines)["runs-ended"]).toBe(runIds.length);
  });

  test("five invocations fight for one run: one commit a version, the losers find nothing left to do", async () => {
    await begin("hot");
    await drain(1);
    const before = await findRun(engine, refOf("hot"));
    await decide(engine, refOf("hot"), { gate: "checked", approved: true, by: "kim" });
    for (let copies = 0; copies < 20; copies++) await send('{"runId":"hot"}');
    // all have loaded the same version before anybody may commit
    let loaded = 0;
    const { promise: allLoaded, resolve } = Promise.withResolvers<void>();
    here.front.around = async ({ operation }) => {
      if (operation === "UpdateItem" && ++loaded === 5) resolve();
      if (operation === "UpdateItem" && loaded <= 5) await allLoaded;
      return undefined;
    };
    await Promise.all(Array.from({ length: 5 }, () => here.invoke(coordinator, wake, { most: 2 })));
    expect((await findRun(engine, refOf("hot")))?.recordVersion).toBe((before?.recordVersion ?? 0) + 1);
    expect(metricsOf(here.lines)["conflicts"]).toBeGreaterThanOrEqual(4);
    await drain();
    expect(statusOf((await findRun(engine, refOf("hot")))!)).toBe("succeeded");
    expect(errorsIn(here.lines)).toEqual([]);
  });
});
