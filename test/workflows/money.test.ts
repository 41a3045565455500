import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { call, eq, FatalError, gt, signal, size, step, workflow } from "../../lib/index.ts";
import { fakes, testWorkflow } from "../../lib/testing/index.ts";

const id = v.string();
const mail = step("mail", { input: v.object({ to: id, message: v.string() }) }, () => {});

// "Book the hotel, the flight and the car, in this order. If one cannot be had, give the others back, the last one first; and if
// giving back fails too, say so, but give back the rest all the same."
describe("a saga with a compensation that fails", () => {
  const booked = v.object({ booking: id });
  const bookable = v.object({ trip: id, what: v.picklist(["hotel", "flight", "car"]) });
  const book = step("book", { input: bookable, output: booked }, ({ trip, what }) => ({ booking: `${what}-${trip}` }));
  const giveBack = step("give-back", { input: booked, retry: { attempts: 2 } }, () => {});
  const trip = workflow("trip", { input: v.object({ trip: id }) }, (flow, input) =>
    flow.series((inOrder) => {
      const [hotel, flight, car] = (["hotel", "flight", "car"] as const).map((what) =>
        inOrder.run(
          book,
          { trip: input.trip, what },
          { name: what, compensate: ({ booking }) => call(giveBack, { booking }) },
        ),
      );
      return { hotel: hotel?.booking, flight: flight?.booking, car: car?.booking };
    }),
  );
  const noCar = fakes(
    { book },
    {
      book: ({ trip: of, what }) => {
        if (what === "car") throw new FatalError("no car left");
        return { booking: `${what}-${of}` };
      },
    },
  );

  it("books in order", async () => {
    const run = await testWorkflow(trip, { input: { trip: "t" } });
    expect([await run.end(), run.output]).toEqual([
      "succeeded",
      { hotel: "hotel-t", flight: "flight-t", car: "car-t" },
    ]);
  });

  it("gives back in reverse, the rest although one cannot be given back, and says so", async () => {
    const refused = fakes(
      { giveBack },
      {
        giveBack: ({ booking }) => {
          if (booking === "flight-t") throw new FatalError("not refundable");
        },
      },
    );
    const run = await testWorkflow(trip, { input: { trip: "t" }, steps: { ...noCar, ...refused } });
    expect(await run.end()).toBe("failed");
    expect(run.calls("give-back").map(({ input, result }) => [input, result])).toEqual([
      [{ booking: "flight-t" }, "threw"],
      [{ booking: "hotel-t" }, "returned"],
    ]);
    expect(run.reason).toEqual({ code: "fatal", message: "flight.undo: not undone: not refundable" });
    expect(await run.timeline()).toContain("no car left");
  });
});

// "A customer pays by card, by transfer or with vouchers. A card is charged at once, a transfer is waited for, vouchers are
// redeemed one by one."
describe("a union of ways to pay", () => {
  const receipt = v.object({ receipt: id });
  const pay = v.variant("kind", [
    v.object({ kind: v.literal("card"), card: id }),
    v.object({ kind: v.literal("transfer"), iban: id }),
    v.object({ kind: v.literal("vouchers"), codes: v.array(id) }),
  ]);
  const charge = step("charge", { input: v.object({ card: id, cents: v.number() }), output: receipt }, ({ card }) => ({
    receipt: card,
  }));
  const redeem = step("redeem", { input: v.object({ code: id }), output: receipt }, ({ code }) => ({ receipt: code }));
  const arrived = signal("arrived", v.object({ reference: id }));
  const payment = workflow("payment", { input: v.object({ cents: v.number(), pay }) }, (flow, input) => {
    const receipts = flow.choose(input.pay, "kind", {
      card: ({ card }, paying) => [paying.run(charge, { card, cents: input.cents }).receipt],
      transfer: (_, paying) => [paying.signal(arrived, { timeout: "14d" }).reference],
      vouchers: ({ codes }, paying) => paying.map(codes, (code) => call(redeem, { code })),
    });
    return { receipts };
  });

  it("takes the way that was chosen, and no other", async () => {
    const card = await testWorkflow(payment, { input: { cents: 5, pay: { kind: "card", card: "c" } } });
    expect([await card.end(), card.output]).toEqual(["succeeded", { receipts: ["c"] }]);
    const vouchers = await testWorkflow(payment, { input: { cents: 5, pay: { kind: "vouchers", codes: ["a", "b"] } } });
    expect([await vouchers.end(), vouchers.output]).toEqual([
      "succeeded",
      { receipts: [{ receipt: "a" }, { receipt: "b" }] },
    ]);
    expect(vouchers.calls("charge")).toEqual([]);
  });

  it("waits two weeks for a transfer, and no longer", async () => {
    const input = { cents: 5, pay: { kind: "transfer", iban: "x" } } as const;
    const paid = await testWorkflow(payment, { input });
    await paid.advance("3d");
    await paid.signal(arrived, { reference: "r" });
    expect([paid.status, paid.output]).toEqual(["succeeded", { receipts: ["r"] }]);
    const unpaid = await testWorkflow(payment, { input });
    await unpaid.advance("14d");
    expect(unpaid.status).toBe("failed");
  });
});

// "Ship what is on the shelf at once. Wait up to two weeks for the rest, and ship it when it has come; if it has not, give the money
// for it back. Tell the customer what happened."
describe("an order with a partial shipment", () => {
  const lines = v.object({ lines: v.array(v.object({ sku: id, cents: v.number() })) });
  const split = v.object({ here: lines, missing: lines });
  const look = step("look", { input: lines, output: split }, ({ lines: all }) => ({
    here: { lines: all.filter(({ sku }) => sku !== "rare") },
    missing: { lines: all.filter(({ sku }) => sku === "rare") },
  }));
  const ship = step("ship", { input: lines, output: v.object({ parcel: id }) }, ({ lines: all }) => ({
    parcel: `p${all.length}`,
  }));
  const refund = step("refund", { input: lines, output: v.object({ cents: v.number() }) }, ({ lines: all }) => ({
    cents: all.reduce((sum, { cents }) => sum + cents, 0),
  }));
  const restocked = signal("restocked", v.object({}));
  const order = workflow("order", { input: v.object({ order: lines, email: id }) }, (flow, input) => {
    const { here, missing } = flow.run(look, { lines: input.order.lines });
    const now = flow.run(ship, { lines: here.lines }, { when: gt(size(here.lines), 0) });
    const rest = flow.when(gt(size(missing.lines), 0), (later) => {
      const end = later.first({
        restocked: later.signal(restocked, { after: [here] }),
        late: later.sleep("late", "14d", { after: [here] }),
      });
      return later.choose(end, "winner", {
        restocked: (_, come) => ({ parcel: come.run(ship, { lines: missing.lines }, { name: "ship-rest" }).parcel }),
        late: (_, gone) => ({ refunded: gone.run(refund, { lines: missing.lines }).cents }),
      });
    });
    flow.run(mail, { to: input.email, message: "all done" }, { after: [now, rest] });
    return { parcel: now.parcel, restParcel: rest.parcel, refunded: rest.refunded };
  });
  const input = {
    order: {
      lines: [
        { sku: "a", cents: 1 },
        { sku: "rare", cents: 7 },
      ],
    },
    email: "x@example.com",
  };

  it("ships the rest when it has come", async () => {
    const run = await testWorkflow(order, { input });
    expect(run.calls("ship")).toHaveLength(1);
    await run.advance("3d");
    expect(run.calls("mail")).toEqual([]);
    await run.signal(restocked, {});
    expect([run.status, run.output]).toEqual(["succeeded", { parcel: "p1", restParcel: "p1" }]);
  });

  it("gives the money back for what never came", async () => {
    const run = await testWorkflow(order, { input });
    expect([await run.end(), run.output]).toEqual(["succeeded", { parcel: "p1", refunded: 7 }]);
  });

  it("waits for nothing if all is there, and ships nothing if nothing is", async () => {
    const all = await testWorkflow(order, { input: { ...input, order: { lines: [{ sku: "a", cents: 1 }] } } });
    expect([await all.end(), all.output]).toEqual(["succeeded", { parcel: "p1" }]);
    const nothing = await testWorkflow(order, { input: { ...input, order: { lines: [{ sku: "rare", cents: 1 }] } } });
    expect([await nothing.end(), nothing.output]).toEqual(["succeeded", { refunded: 1 }]);
  });
});

// "A subscription ends on a date. Remind the customer two weeks and a day before it; on the day, charge and renew. Whoever cancels
// before then hears no more from us and is not charged."
describe("a renewal with reminders", () => {
  const instant = v.pipe(v.string(), v.isoTimestamp());
  const reminding = v.object({ early: instant, late: instant });
  const day = 86_400_000;
  const plan = step("plan", { input: v.object({ endsAt: instant }), output: reminding }, ({ endsAt }) => {
    const ahead = (days: number) => new Date(Date.parse(endsAt) - days * day).toISOString();
    return { early: ahead(14), late: ahead(1) };
  });
  const charge = step(
    "charge",
    { input: v.object({ customer: id }), output: v.object({ receipt: id }) },
    ({ customer }) => ({ receipt: `r-${customer}` }),
  );
  const cancelled = signal("cancelled", v.object({ why: id }));
  const renewal = workflow(
    "renewal",
    { input: v.object({ customer: id, email: id, endsAt: instant }) },
    (flow, input) => {
      const reminders = flow.run(plan, { endsAt: input.endsAt });
      const first = flow.first({
        soon: flow.sleep("two-weeks-before", { until: reminders.early }),
        cancelled: flow.signal(cancelled),
      });
      const renewed = flow.when(eq(first.winner, "soon"), (going) => {
        const reminded = going.run(mail, { to: input.email, message: "two weeks left" }, { name: "remind" });
        const second = going.first({
          soon: going.sleep("a-day-before", { until: reminders.late }, { after: [reminded] }),
          cancelled: going.signal(cancelled, { name: "cancelled-later", after: [reminded] }),
        });
        return going.when(eq(second.winner, "soon"), (still) => {
          const again = still.run(mail, { to: input.email, message: "a day left" }, { name: "remind-again" });
          const third = still.first({
            due: still.sleep("due", { until: input.endsAt }, { after: [again] }),
            cancelled: still.signal(cancelled, { name: "cancelled-last", after: [again] }),
          });
          return still.when(eq(third.winner, "due"), (due) => due.run(charge, { customer: input.customer }));
        });
      });
      return { receipt: renewed.receipt };
    },
  );
  const input = { customer: "kim", email: "x@example.com", endsAt: "2027-03-01T00:00:00.000Z" };

  it("reminds twice, and charges on the day", async () => {
    const run = await testWorkflow(renewal, { input, deadline: "90d" });
    expect([await run.end(), run.output]).toEqual(["succeeded", { receipt: "r-kim" }]);
    const days = [...run.calls("mail"), ...run.calls("charge")].map(({ atMs }) => atMs / day);
    expect(days.map((each) => Math.ceil(each))).toEqual([31, 44, 45]);
  });

  it("says and charges nothing after it was cancelled", async () => {
    for (const [after, mails] of [
      ["1d", 0],
      ["32d", 1],
      ["44d", 2],
    ] as const) {
      const run = await testWorkflow(renewal, { input, deadline: "90d" });
      await run.advance(after);
      await run.signal(cancelled, { why: "moved" });
      expect([run.status, run.output]).toEqual(["succeeded", {}]);
      expect([run.calls("mail").length, run.calls("charge")]).toEqual([mails, []]);
    }
  });
});
