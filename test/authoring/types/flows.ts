import { type } from "arktype";
import * as v from "valibot";
import * as z from "zod";
import {
  and,
  at,
  call,
  coalesce,
  type Decision,
  eq,
  exists,
  type Flow,
  gt,
  isIn,
  must,
  not,
  type Outcome,
  or,
  orElse,
  type Ref,
  type RefTo,
  type RunOptions,
  signal,
  size,
  step,
  text,
  type Workflow,
  workflow,
} from "../../../lib/index.ts";
import { same, some } from "./expect.ts";

const flow = some<Flow>();
const line = v.object({ sku: v.string(), quantity: v.number() });
const charge = step(
  "charge",
  {
    input: v.object({ orderId: v.string(), cents: v.number(), note: v.optional(v.string()) }),
    output: v.object({ receiptId: v.string(), cents: v.number() }),
  },
  () => ({ receiptId: "r", cents: 1 }),
);
const refund = step("refund", { input: v.object({ receiptId: v.string() }) }, () => {});
const reserve = step("reserve", { input: line, output: v.object({ reservationId: v.string() }) }, () => ({
  reservationId: "x",
}));
const release = step(
  "release",
  { input: v.object({ ids: v.array(v.object({ reservationId: v.string() })) }) },
  () => {},
);

type Order = {
  readonly id: string;
  readonly cents: number;
  readonly vip: boolean;
  readonly note?: string;
  readonly parent: { readonly id: string } | null;
  readonly lines: readonly { readonly sku: string; readonly quantity: number }[];
  readonly pair: readonly [number, string];
  readonly tags: { readonly [name: string]: string };
  readonly pay: { readonly kind: "card"; readonly digits: string } | { readonly kind: "wire"; readonly iban: string };
  readonly free: unknown;
};
const input = some<Ref<Order>>();

// data shapes
same<typeof input.id, Ref<string>>();
same<typeof input.note, Ref<string | undefined>>();
same<typeof input.parent.id, Ref<string | undefined>>();
same<typeof input.lines.length, Ref<number>>();
same<(typeof input.pair)[1], Ref<string>>();
same<typeof input.pay.kind, Ref<"card" | "wire">>();
same<typeof input.pay.iban, Ref<string | undefined>>();
const { id, cents } = input;
same<typeof id, Ref<string>>();
// @ts-expect-error lists are reached with at
input.lines[0];
// @ts-expect-error records are reached with at
input.tags.color;
// @ts-expect-error unknown has no fields
input.free.x;
// @ts-expect-error a misspelt field
input.linse;

// inputs: references and constants mix freely
const paid = flow.run(charge, { orderId: id, cents });
same<typeof paid, Ref<{ receiptId: string; cents: number }>>();
flow.run(charge, { orderId: "constant", cents: 5 });
flow.run(charge, { orderId: text`order ${id} of ${cents}`, cents: paid.cents, note: input.note });
flow.run(refund, paid);
flow.run(release, { ids: [{ reservationId: paid.receiptId }, { reservationId: "x" }] });
// @ts-expect-error a wrong type
flow.run(charge, { orderId: id, cents: id });
// @ts-expect-error a missing field
flow.run(charge, { orderId: id });
// @ts-expect-error a field too many
flow.run(charge, { orderId: id, cents, centz: cents });
// @ts-expect-error what may be missing does not fit where it is required
flow.run(charge, { orderId: input.note, cents });
// @ts-expect-error a value of the wrong shape
flow.run(refund, input);
flow.run(charge, { orderId: orElse(input.note, "none"), cents });
flow.run(charge, { orderId: must(input.parent.id), cents });

// conditions and policies
same<Ref<{ receiptId: string; cents: number } | undefined>, ReturnType<typeof conditional>>();
const conditional = () => flow.run(charge, { orderId: id, cents }, { when: input.vip });
const tried = flow.run(charge, { orderId: id, cents }, { onFailure: "continue" });
same<typeof tried, Ref<Outcome<{ receiptId: string; cents: number }>>>();
same<typeof tried.ok, Ref<boolean>>();
same<typeof tried.value.receiptId, Ref<string | undefined>>();
same<typeof tried.error.code, Ref<string | undefined>>();
const both = flow.run(charge, { orderId: id, cents }, { when: not(input.vip), onFailure: "continue" });
same<typeof both, Ref<Outcome<{ receiptId: string; cents: number }> | undefined>>();
const options: RunOptions<{ receiptId: string; cents: number }, Ref<boolean>, undefined> = { when: input.vip };
const optioned = flow.run(charge, { orderId: id, cents }, options);
same<typeof optioned, Ref<{ receiptId: string; cents: number } | undefined>>();
// @ts-expect-error a misspelt option
flow.run(charge, { orderId: id, cents }, { wehn: input.vip });
// @ts-expect-error a condition that is no boolean
flow.run(charge, { orderId: id, cents }, { when: input.note });
// @ts-expect-error what a skipped node yields may be missing
flow.run(refund, conditional());
flow.run(refund, paid, { after: [tried, input.id], name: "again" });
flow.run(charge, { orderId: id, cents }, { compensate: (done) => call(refund, { receiptId: done.receiptId }) });
// @ts-expect-error a compensation is the call of a step
flow.run(charge, { orderId: id, cents }, { compensate: refund });

// maps
const reserved = flow.map(input.lines, reserve);
same<typeof reserved, Ref<readonly { reservationId: string }[]>>();
const called = flow.map(input.lines, (item, index) => {
  same<typeof item.sku, Ref<string>>();
  same<typeof index, Ref<number>>();
  return call(charge, { orderId: item.sku, cents: item.quantity });
});
same<typeof called, Ref<readonly { receiptId: string; cents: number }[]>>();
const tolerant = flow.map(input.lines, reserve, { tolerate: "10%", concurrency: 4 });
same<typeof tolerant, Ref<readonly Outcome<{ reservationId: string }>[]>>();
const skippable = flow.map(input.lines, reserve, { when: input.vip });
same<typeof skippable, Ref<readonly { reservationId: string }[] | undefined>>();
flow.map(input.lines, reserve, { compensate: (outputs) => call(release, { ids: outputs }) });
// @ts-expect-error no list
flow.map(input.id, reserve);
// @ts-expect-error a list that may be missing
flow.map(some<Ref<readonly { sku: string; quantity: number }[] | undefined>>(), reserve);
// @ts-expect-error items that do not fit the step
flow.map(input.lines, charge);
// @ts-expect-error items are no values
flow.map(input.lines, (item) => call(charge, { orderId: `${item.sku}`, cents: 1 }));

// waiting
const approval = flow.gate("approve", { about: { id, cents }, timeout: "2h", onTimeout: "reject" });
same<typeof approval, Ref<Decision>>();
same<typeof approval.approved, Ref<boolean>>();
same<typeof approval.comment, Ref<string | undefined>>();
const paidBy = signal("paid", z.object({ by: z.string() }));
const told = flow.signal(paidBy, { timeout: "3d" });
same<typeof told, Ref<{ by: string }>>();
const maybeTold = flow.signal(paidBy, { timeout: "3d", onTimeout: "continue" });
same<typeof maybeTold, Ref<{ by: string } | undefined>>();
// @ts-expect-error signals are stored, so JSON
signal("bad", z.object({ at: z.date() }));
flow.run(refund, paid, { after: [flow.sleep("pause", "30s", { after: [approval] })] });
const inOrder = flow.series((each) => ({ a: each.run(refund, paid), b: each.run(charge, { orderId: id, cents }) }));
same<typeof inOrder.b, Ref<{ receiptId: string; cents: number }>>();

// workflows
const order = workflow(
  "order",
  { input: type({ id: "string", cents: "number", express: "boolean = false" }) },
  (graph, given) => {
    same<typeof given.express, Ref<boolean>>();
    const done = graph.run(charge, { orderId: given.id, cents: given.cents });
    return { receipt: done.receiptId, state: "paid", list: [done.cents, 1] };
  },
);
same<
  typeof order,
  Workflow<
    { id: string; cents: number; express?: boolean },
    { readonly receipt: string; readonly state: "paid"; readonly list: readonly [number, 1] }
  >
>();
const child = flow.child(order, { id, cents });
same<typeof child.state, Ref<"paid">>();
flow.map(some<Ref<readonly { id: string; cents: number }[]>>(), order);
const declared = workflow(
  "declared",
  { input: v.object({ id: v.string() }), output: v.object({ ok: v.boolean() }) },
  (_, given) => ({
    ok: eq(given.id, "x"),
  }),
);
same<typeof declared, Workflow<{ id: string }, { ok: boolean }>>();
// @ts-expect-error the result does not fit the output
workflow("declared", { input: v.object({ id: v.string() }), output: v.object({ ok: v.boolean() }) }, (_, given) => ({
  ok: given.id,
}));
// @ts-expect-error a workflow function must not be async
workflow("async", { input: v.object({ id: v.string() }) }, async (_, given) => ({ id: given.id }));
// @ts-expect-error the kept side of a workflow's input is stored, so JSON
workflow("dates", { input: z.object({ at: z.string().transform((iso) => new Date(iso)) }) }, () => {});
const empty = workflow("empty", { input: v.object({}) }, () => {});
same<typeof empty, Workflow<Record<never, never>, void>>();

// operators
same<ReturnType<typeof eq>, Ref<boolean>>();
eq(input.pay.kind, "card");
eq(input.parent, null);
eq(input.id, paid.receiptId);
// @ts-expect-error a literal that the reference cannot be
eq(input.pay.kind, "crd");
gt(input.cents, 5);
gt(input.id, "2026");
// @ts-expect-error what may be missing has no order
gt(input.note, "a");
// @ts-expect-error a number has no order with a string
gt(input.cents, "5");
isIn(input.pay.kind, ["card", "wire"]);
// @ts-expect-error a literal that the reference cannot be
isIn(input.pay.kind, ["crd"]);
and(input.vip, or(exists(input.note), not(input.vip)), true);
// @ts-expect-error no boolean
and(input.note);
const noted = orElse(input.note, "none");
same<typeof noted, Ref<string>>();
const nothing = orElse(input.note, null);
same<typeof nothing, Ref<string | null>>();
const either = coalesce(input.note, input.parent.id, input.id);
same<typeof either, Ref<string>>();
const perhaps = coalesce(input.note, input.parent.id);
same<typeof perhaps, Ref<string | undefined>>();
const first = at(input.lines, 0);
same<typeof first, Ref<{ readonly sku: string; readonly quantity: number } | undefined>>();
same<typeof first.sku, Ref<string | undefined>>();
const tag = at(input.tags, "color");
same<typeof tag, Ref<string | undefined>>();
const named = at(input, "id");
same<typeof named, Ref<string>>();
size(input.lines);
size(input.id);
size(input.tags);
// @ts-expect-error text refuses objects
text`${input.parent}`;
// @ts-expect-error text refuses what may be missing
text`${input.note}`;

// covariance: a narrower reference fits, a wider one does not
const wide: RefTo<string> = some<RefTo<"card">>();
// @ts-expect-error wider than wanted
const narrow: RefTo<"card"> = some<RefTo<string>>();

export { narrow, wide };
