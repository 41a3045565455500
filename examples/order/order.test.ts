import { describe, expect, it, test } from "vitest";
import { FatalError } from "../../lib/index.ts";
import { byAttempt, fail, fakes, hang, once, type RunHandle, succeed, testWorkflow } from "../../lib/testing/index.ts";
import { connect } from "../../lib/tools/connect.ts";
import * as steps from "./steps.ts";
import { order } from "./workflow.ts";

const basket = {
  orderId: "o-1",
  email: "ann@example.com",
  address: "1 Main Street",
  card: "card-1",
  lines: [{ sku: "sku-1", quantity: 2, unitCents: 500 }],
};
const dear = { ...basket, lines: [{ sku: "sku-1", quantity: 2, unitCents: 500_000 }] };

test("an order is paid and shipped", async () => {
  const run = await testWorkflow(order, {
    input: basket,
    steps: { charge: succeed({ receiptId: "r-1", card: "card-1", cents: 1000 }) },
  });
  expect(await run.end()).toBe("succeeded");
  expect(run.output).toEqual({ receiptId: "r-1", trackingId: "parcel-o-1", isTold: true });
});

test("a refused card gives the stock back", async () => {
  const run = await testWorkflow(order, {
    input: basket,
    steps: { charge: fail(new FatalError("card refused")) },
  });
  expect(await run.end()).toBe("failed");
  expect(run.reason).toEqual({ code: "fatal", message: "charge: card refused" });
  expect(run.calls("release").map(({ input }) => input)).toEqual([
    { reservations: [{ reservationId: "o-1-0", sku: "sku-1", quantity: 2 }] },
  ]);
  expect(run.calls("ship")).toEqual([]);
});

test("fakes are typed by the steps that they stand for", async () => {
  const run = await testWorkflow(order, {
    input: basket,
    steps: fakes(steps, {
      charge: ({ orderId, card, cents }) => ({ receiptId: `r-${orderId}`, card, cents }),
      ship: succeed({ trackingId: "t-1" }),
    }),
  });
  await run.end();
  expect(run.output?.trackingId).toBe("t-1");
});

test("a bank that is down for a while charges once", async () => {
  const run = await testWorkflow(order, {
    input: basket,
    steps: { charge: once(fail("the bank did not answer")), ship: byAttempt([hang, fail("no van")]) },
  });
  await run.end();
  expect(run.calls("charge").map(({ attempt, result }) => [attempt, result])).toEqual([
    [1, "threw"],
    [2, "returned"],
  ]);
  expect(new Set(run.calls("charge").map((call) => call.idempotencyKey)).size).toBe(1);
  expect(run.calls("ship")).toHaveLength(3);
  expect(run.status).toBe("failed");
});

test("a dear order waits for approval, at most two days", async () => {
  const run = await testWorkflow(order, { input: dear });
  await run.end();
  expect(run.waitingFor).toEqual([{ kind: "gate", name: "approval" }]);
  await run.decide("approval", { approved: true, by: "mei" });
  expect(run.status).toBe("succeeded");

  const forgotten = await testWorkflow(order, { input: dear });
  await forgotten.advance("2d");
  expect([forgotten.status, forgotten.reason?.code]).toEqual(["failed", "rejected"]);
});

test("the whole story, as text", async () => {
  const run = await testWorkflow(order, { input: dear });
  await run.advance("3h");
  await run.decide("approval", { approved: true, by: "mei" });
  expect(await run.timeline()).toMatchInlineSnapshot(`
    "order: succeeded after 3h
      price         done    ok +0s
      reserve       done    1 of 1 done; ok +0s
      approval      done    decided yes by mei +0s..+3h
      charge        done    ok +3h
      ship          done    ok +3h
      mail          done    ok +3h
      reserve.undo  pending
      charge.undo   pending"
  `);
});

describe("whatever the queues and the workers do", () => {
  it.each(Array.from({ length: 20 }, (_, seed) => seed))("the customer is charged once (seed %i)", async (seed) => {
    const charged = new Set<string>();
    const run = await testWorkflow(order, {
      input: basket,
      steps: fakes(steps, {
        charge: ({ orderId, card, cents }, { idempotencyKey }) => {
          charged.add(idempotencyKey); // as a bank would that knows the key
          return { receiptId: `r-${orderId}`, card, cents };
        },
      }),
      ...{ seed, shuffle: true, duplicate: true, lose: true, crash: true },
    });
    expect(await run.end()).toBe("succeeded");
    expect(charged.size).toBe(1);
  });
});

/** The same for a run in memory and for one on a real stack. */
async function assertApproved(run: RunHandle<{ isTold: boolean }>): Promise<void> {
  await run.end();
  expect(run.waitingFor).toEqual([{ kind: "gate", name: "approval" }]);
  await run.decide("approval", { approved: true, by: "mei" });
  expect(await run.end()).toBe("succeeded");
  expect(run.output?.isTold).toBe(true);
}

test("an approved order, in memory", async () => {
  await assertApproved(await testWorkflow(order, { input: dear }));
});

const { TICKWRIGHT_TABLE: tableName, TICKWRIGHT_QUEUE_BASE: queueBase } = process.env;
if (tableName && queueBase) {
  test("an approved order, on a stack", async () => {
    const stack = connect({ tableName, queueBase, workflows: [order] });
    await assertApproved(await stack.start(order, { input: dear }));
    stack.close();
  });
}
