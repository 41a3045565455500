import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { queueUrl } from "../../lib/aws/names.ts";
import { rowAttributes } from "../../lib/core/row-format.ts";
import { decide } from "../../lib/engine/decide.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { findRun } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
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

let here: Installation;
let engine: Engine;
let coordinator: Handler;
let worker: Handler;
beforeEach(async () => {
  ({ here, engine, coordinator, worker } = await prepare());
});
afterEach(() => here.close());

const begin = (runId: string) => start(engine, { workflow: "parcels", runId, input: { id: runId, stops: [] } });
const stateOf = async (runId: string) => (await findRun(engine, refOf(runId)))?.active.map(({ state }) => state);

/** To the gate. */
async function beginAndCollect(runId: string): Promise<void> {
  await begin(runId);
  await here.invoke(worker, "task:default", { most: 1 });
  expect(await stateOf(runId)).toEqual(["gate"]);
}

/** A byte of the row that its checksum covers. */
const corrupt = (runId: string) =>
  engine.store.write({
    kind: "edit",
    key: { pk: `default#${runId}`, sk: "STATE" },
    edits: [{ kind: "set", path: [rowAttributes.body], value: new Uint8Array([1, 2, 3]) }],
    when: [{ kind: "exists", path: ["pk"] }],
  });

describe("a batch of all kinds", () => {
  test("hands back the run that cannot be read, alone; its neighbours are done, buried or acknowledged (L3, M6)", async () => {
    await beginAndCollect("good");
    await beginAndCollect("bad");
    await decide(engine, refOf("good"), { gate: "checked", approved: true, by: "kim" });
    await corrupt("bad");
    const event = recorded(['{"runId":"good"}', '{"runId":"bad"}', "{runId:", '{"runId":"nobody"}']);
    const answer = await coordinator(event, contextOf(30_000));
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "m-1" }] });
    // done: it went on to its next step
    expect(await stateOf("good")).toEqual(["task"]);
    // buried, with the reason
    const { Messages: [dead] = [] } = await here.sqs.client.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl(here.sqs.queueBase, "dead"), MessageAttributeNames: ["All"] }),
    );
    expect(dead?.Body).toBe("{runId:");
    expect(dead?.MessageAttributes?.["reason"]?.StringValue).toMatch(/JSON/);
    expect(metricsOf(here.lines)).toMatchObject({ "messages-dead": 1, "runs-missing": 1, "messages-handed-back": 1 });
    expect(errorsIn(here.lines)).toMatchObject([
      { event: "processing.failed", runId: "bad", requestId: contextOf(0).awsRequestId, build: "build-1" },
    ]);
  });

  test("sends on in the trace in which each message came", async () => {
    await beginAndCollect("good");
    await decide(engine, refOf("good"), { gate: "checked", approved: true, by: "kim" });
    const event = recorded(['{"runId":"good"}']);
    await coordinator(event, contextOf(30_000));
    // as it went over the wire: the server keeps no system attributes
    const sent = here.front.asked.filter(({ operation }) => operation === "SendMessageBatch").at(-1);
    const { Entries: entries } = JSON.parse(sent?.body ?? "{}") as { readonly Entries: readonly object[] };
    expect(entries).toMatchObject([
      { MessageSystemAttributes: { AWSTraceHeader: { StringValue: event.Records[0]?.attributes.AWSTraceHeader } } },
    ]);
  });

  test("received again, it does nothing twice", async () => {
    await beginAndCollect("good");
    await decide(engine, refOf("good"), { gate: "checked", approved: true, by: "kim" });
    const bodies = ['{"runId":"good"}', '{"runId":"good"}'];
    for (const receiveCount of [1, 2, 3])
      expect(await coordinator(recorded(bodies, receiveCount), contextOf(30_000))).toEqual({ batchItemFailures: [] });
    // a redelivery performs all that is owed, so the task may be there more than once; it is claimed once
    const claimed: number[] = [];
    for (;;) {
      const { messages, handedBack } = await here.invoke(worker, "task:default", { most: 1 });
      if (messages.length === 0) break;
      claimed.push(handedBack.length);
    }
    expect(claimed.every((count) => count === 0)).toBe(true);
    expect(metricsOf(here.lines)["runs-ended"]).toBe(1);
    expect(metricsOf(here.lines)["attempts-claimed"]).toBe(2);
    expect(errorsIn(here.lines)).toEqual([]);
  });

  test("without the time to begin, all of it is handed back and nothing was asked of any service (L10)", async () => {
    await beginAndCollect("good");
    const before = here.front.asked.length;
    const answer = await coordinator(recorded(['{"runId":"good"}', '{"runId":"other"}']), contextOf(100));
    expect(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(["m-0", "m-1"]);
    expect(here.front.asked.length).toBe(before);
  });

  test("whose time runs out in its middle names what it did not touch, and nothing that it did (L10, M3)", async () => {
    // runs are moved ten at a time, so twelve take two rounds
    const runIds = Array.from({ length: 12 }, (_, at) => `r-${at}`);
    for (const runId of runIds) {
      await beginAndCollect(runId);
      await decide(engine, refOf(runId), { gate: "checked", approved: true, by: "kim" });
    }
    let commits = 0;
    here.front.around = ({ operation, body }) => {
      if (operation === "UpdateItem" && body.includes('"STATE"')) commits += 1;
      return undefined;
    };
    const event = recorded(runIds.map((runId) => JSON.stringify({ runId })));
    const answer = await coordinator(
      event,
      contextOf(() => (commits >= 10 ? 100 : 30_000)),
    );
    expect(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(["m-10", "m-11"]);
    const states = await Promise.all(runIds.map(stateOf));
    expect(states).toEqual(runIds.map((_, at) => (at < 10 ? ["task"] : ["gate"])));
  });
});
