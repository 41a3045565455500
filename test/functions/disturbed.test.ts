import type { SQSEvent } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decide } from "../../lib/engine/decide.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { findRun } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import type { Fault } from "./front.ts";
import {
  contextOf,
  errorsIn,
  type Handler,
  type Installation,
  metricsOf,
  prepare,
  recorded,
  refOf,
} from "./installation.ts";

const task = "task:default";

let here: Installation;
let engine: Engine;
let coordinator: Handler;
let worker: Handler;
beforeEach(async () => {
  // nothing but evidence stands between a run and its end
  ({ here, engine, coordinator, worker } = await prepare({ strikesMax: 1, strikeSpacingMs: 1, stuckAfterMs: 0 }));
});
afterEach(() => here.close());

const stateOf = async (runId: string) => (await findRun(engine, refOf(runId)))?.active.map(({ state }) => state);

/** To the gate, which is decided; nobody has told the coordinator yet. */
async function decided(runId: string): Promise<void> {
  await start(engine, { workflow: "parcels", runId, input: { id: runId, stops: [] } });
  await here.invoke(worker, task, { most: 1 });
  await decide(engine, refOf(runId), { gate: "checked", approved: true, by: "kim" });
}

const failedOf = async (event: SQSEvent) =>
  (await coordinator(event, contextOf(30_000))).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);

describe("a service that is away", () => {
  const faults: readonly [string, Fault][] = [
    ["throttles", { status: 400, name: "ThrottlingException" }],
    ["answers 500", { status: 500, name: "InternalServerError" }],
    ["refuses the role", { status: 400, name: "AccessDeniedException" }],
    ["hangs up", "hang-up"],
  ];
  const runIds = ["a", "b", "c"];
  const bodies = runIds.map((runId) => JSON.stringify({ runId }));

  test.each(faults)(
    "a table that %s is no evidence: all is handed back, again and again, and goes on afterwards",
    async (_, fault) => {
      for (const runId of runIds) await decided(runId);
      here.front.around = ({ service }) => (service === "dynamodb" ? fault : undefined);
      for (const receiveCount of [1, 2, 3]) {
        // a redelivery that cannot even take its strike back goes on as a new message
        expect(await failedOf(recorded(bodies, receiveCount))).toEqual(["m-0", "m-1", "m-2"]);
      }
      here.front.around = () => undefined;
      expect(await failedOf(recorded(bodies, 4))).toEqual([]);
      for (const runId of runIds) expect(await stateOf(runId)).toEqual(["task"]);
      expect(metricsOf(here.lines)["force-fails"]).toBeUndefined();
      expect(errorsIn(here.lines)).toEqual([]);
    },
    120_000,
  );

  test("a queue that takes nothing: what was committed and not sent is sent when the message comes again", async () => {
    for (const runId of runIds) await decided(runId);
    here.front.around = ({ service }) => (service === "sqs" ? { status: 500, name: "InternalFailure" } : undefined);
    expect(await failedOf(recorded(bodies))).toEqual(["m-0", "m-1", "m-2"]);
    // committed already: the effect is owed, and so the message was not acknowledged
    for (const runId of runIds) expect(await stateOf(runId)).toEqual(["task"]);
    here.front.around = () => undefined;
    expect(await here.receive(task)).toEqual([]);
    expect(await failedOf(recorded(bodies, 2))).toEqual([]);
    expect(await here.receive(task)).toHaveLength(3);
    expect(metricsOf(here.lines)["force-fails"]).toBeUndefined();
  }, 120_000);
});

describe("a zombie", () => {
  test("that is held up before its commit until somebody else has committed, writes nothing and sends nothing (L9)", async () => {
    await decided("r");
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
    let commits = 0;
    here.front.around = async ({ operation, body }) => {
      if (operation !== "UpdateItem" || !body.includes('"STATE"')) return undefined;
      commits += 1;
      if (commits === 1) {
        hold();
        await held;
      }
      return undefined;
    };
    // Lambda has given it up long ago; the process thaws when the next invocation comes
    const zombie = coordinator(recorded(['{"runId":"r"}']), contextOf(30_000));
    await isHeld;
    expect(await failedOf(recorded(['{"runId":"r"}'], 2))).toEqual([]);
    const after = await findRun(engine, refOf("r"));
    expect(after?.active.map(({ state }) => state)).toEqual(["task"]);
    const sent = here.front.asked.filter(({ operation }) => operation.startsWith("SendMessage")).length;
    release();
    await zombie;
    expect(await findRun(engine, refOf("r"))).toEqual(after);
    expect(here.front.asked.filter(({ operation }) => operation.startsWith("SendMessage"))).toHaveLength(sent);
    expect(metricsOf(here.lines)["conflicts"]).toBe(1);
  });
});
