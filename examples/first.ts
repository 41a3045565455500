import * as v from "valibot";
import { call, gt, step, workflow } from "../lib/index.ts";

const receipt = v.object({ receiptId: v.string() });
const sale = v.object({ orderId: v.string(), cents: v.number() });

const charge = step("charge", { input: sale, output: receipt }, ({ orderId }) => ({ receiptId: `r-${orderId}` }));
const refund = step("refund", { input: receipt }, ({ receiptId }) => console.log("refunded", receiptId));
const ship = step("ship", { input: receipt, output: v.object({ parcel: v.string() }) }, ({ receiptId }) => ({
  parcel: `p-${receiptId}`,
}));

export const sell = workflow("sell", { input: sale }, (flow, input) => {
  const approval = flow.gate("approval", { when: gt(input.cents, 100_000), timeout: "2d", onTimeout: "reject" });
  const paid = flow.run(charge, input, { after: [approval], compensate: (done) => call(refund, done) });
  const sent = flow.run(ship, { receiptId: paid.receiptId });
  return { parcel: sent.parcel };
});
