import * as v from "valibot";
import { step } from "../../lib/index.ts";
import { ask, takeBack } from "../sandbox.ts";

const id = v.pipe(v.string(), v.nonEmpty());
const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const cents = v.pipe(v.number(), v.integer(), v.minValue(0));

const line = v.object({ sku: id, quantity: count, unitCents: cents });
const reservation = v.object({ reservationId: id, sku: id, quantity: count });
const receipt = v.object({ receiptId: id, card: id, cents });

/** What a customer sends. */
export const orderInput = v.object({
  orderId: id,
  email: id,
  address: id,
  card: id,
  lines: v.pipe(v.array(line), v.nonEmpty()),
});

export const price = step(
  "price",
  {
    input: v.object({ lines: v.array(line) }),
    output: v.object({ totalCents: cents }),
    timeout: "5s",
    inline: true,
    repeatable: true,
  },
  ({ lines }) => ({ totalCents: lines.reduce((sum, { quantity, unitCents }) => sum + quantity * unitCents, 0) }),
);

export const reserve = step(
  "reserve",
  {
    input: v.object({ orderId: id, sku: id, quantity: count }),
    output: reservation,
    timeout: "5s",
    retry: { attempts: 3 },
  },
  async ({ orderId, sku, quantity }, context) => {
    await ask("the warehouse", sku, context);
    return { reservationId: `${orderId}-${context.index}`, sku, quantity };
  },
);

export const release = step(
  "release",
  {
    input: v.object({ reservations: v.array(reservation) }),
    output: v.object({ released: v.number() }),
    timeout: "5s",
  },
  ({ reservations }) => ({ released: reservations.length }),
);

export const charge = step(
  "charge",
  {
    input: v.object({ orderId: id, card: id, cents }),
    output: receipt,
    group: "payments",
    timeout: "5s",
    retry: { attempts: 3 },
  },
  async ({ orderId, card, cents }, context) => {
    await ask("the bank", card, context);
    return { receiptId: `receipt-${orderId}`, card, cents };
  },
);

export const refund = step(
  "refund",
  { input: receipt, output: receipt, group: "payments", timeout: "5s" },
  async (paid) => {
    await takeBack("the bank", paid.card);
    return { ...paid, receiptId: `refund-of-${paid.receiptId}` };
  },
);

export const ship = step(
  "ship",
  {
    input: v.object({ orderId: id, address: id, reservations: v.array(reservation) }),
    output: v.object({ trackingId: id }),
    timeout: "5s",
    retry: { attempts: 3 },
  },
  async ({ orderId, address }, context) => {
    await ask("the carrier", address, context);
    return { trackingId: `parcel-${orderId}` };
  },
);

export const mail = step(
  "mail",
  { input: v.object({ to: id, message: v.string() }), retry: { attempts: 2 }, timeout: "5s" },
  async ({ to }, context) => {
    await ask("the mail server", to, context);
  },
);
