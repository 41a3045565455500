import { call, type Duration, gt, text, workflow } from "../../lib/index.ts";
import { charge, mail, orderInput, price, refund, release, reserve, ship } from "./steps.ts";

/** Orders above this need a person's approval. */
const approvalAboveCents = 100_000;

/** How long people may take. */
export interface OrderPeriods {
  readonly approval: Duration;
}

/**
 * An order, from the basket to the parcel, as a saga: whatever fails behind the payment refunds it, and every end but success
 * gives the stock back.
 */
export const orderWorkflow = (within: OrderPeriods) =>
  workflow("order", { input: orderInput }, (flow, input) => {
    const priced = flow.run(price, { lines: input.lines });

    const reservations = flow.map(
      input.lines,
      (line) => call(reserve, { orderId: input.orderId, sku: line.sku, quantity: line.quantity }),
      { compensate: (reserved) => call(release, { reservations: reserved }) },
    );

    const approval = flow.gate("approval", {
      when: gt(priced.totalCents, approvalAboveCents),
      about: { orderId: input.orderId, totalCents: priced.totalCents },
      timeout: within.approval,
      onTimeout: "reject",
    });

    const payment = flow.run(
      charge,
      { orderId: input.orderId, card: input.card, cents: priced.totalCents },
      { after: [reservations, approval], compensate: (paid) => call(refund, paid) },
    );

    const shipment = flow.run(
      ship,
      { orderId: input.orderId, address: input.address, reservations },
      { after: [payment] },
    );

    const told = flow.run(
      mail,
      { to: input.email, message: text`Order ${input.orderId} is on its way: ${shipment.trackingId}` },
      { onFailure: "continue" },
    );

    return { receiptId: payment.receiptId, trackingId: shipment.trackingId, isTold: told.ok };
  });

export const order = orderWorkflow({ approval: "2d" });
