import { type } from "arktype";
import * as v from "valibot";
import * as z from "zod";
import {
  type External,
  eq,
  external,
  type Flow,
  gt,
  isIn,
  type Outcome,
  type Ref,
  type RefTo,
  signal,
  step,
  type Workflow,
  workflow,
} from "../../../lib/index.ts";
import { same, some } from "./expect.ts";

// The types of scopes, of the first of several, of repeats, of external work and of recursion.
const flow = some<Flow>();
type Card = { readonly kind: "card"; readonly digits: string };
type Wire = { readonly kind: "wire"; readonly iban: string };
type Cash = { readonly kind: "cash" };
const input =
  some<
    Ref<{
      id: string;
      cents: number;
      vip: boolean;
      coupon?: { readonly code: string } | null;
      dueAt: string;
      dueMs: number;
      note?: string;
      pay: Card | Wire | Cash;
      maybe?: Card | Wire;
      tried: Outcome<{ readonly url: string }>;
      level: { readonly level: 1; readonly a: string } | { readonly level: 2; readonly b: string };
    }>
  >();

const job = { id: v.string() };
const poll = step(
  "poll",
  {
    input: v.object({ ...job, cursor: v.optional(v.string()) }),
    output: v.object({ state: v.picklist(["done", "running"]), next: v.string() }),
  },
  () => ({ state: "done", next: "" }),
);
const mail = step("mail", { input: v.object({ to: v.string() }), output: v.object({ sent: v.boolean() }) }, () => ({
  sent: true,
}));

// when
const told = flow.when(input.vip, (inner) => ({ mail: inner.run(mail, { to: input.id }), by: "mail" }));
same<typeof told, Ref<{ readonly mail: { sent: boolean }; readonly by: "mail" } | undefined>>();
same<typeof told.mail.sent, Ref<boolean | undefined>>();
const whole = flow.when(gt(input.cents, 5), (inner) => inner.run(mail, { to: input.id }));
same<typeof whole, Ref<{ sent: boolean } | undefined>>();
const nothing = flow.when(true, (inner) => {
  inner.run(mail, { to: "x" });
});
same<typeof nothing, Ref<undefined>>();
// @ts-expect-error a condition is a boolean
flow.when(input.id, () => {});
// @ts-expect-error what may be missing is no condition
flow.when(input.note, () => {});
// @ts-expect-error nothing runs while the graph is built
flow.when(input.vip, async (inner) => inner.run(mail, { to: input.id }));
// @ts-expect-error what a scope yields may be missing
flow.run(mail, { to: told.by });

// given
const used = flow.given(input.coupon, (coupon, inner) => {
  same<typeof coupon, Ref<{ readonly code: string }>>();
  return inner.run(mail, { to: coupon.code });
});
same<typeof used, Ref<{ sent: boolean } | undefined>>();

// choose
const paid = flow.choose(input.pay, "kind", {
  card: (card, inner) => {
    same<typeof card, Ref<Card>>();
    return inner.run(mail, { to: card.digits });
  },
  wire: (wire) => ({ iban: wire.iban }),
  cash: () => "cash",
});
same<typeof paid, Ref<{ sent: boolean } | { readonly iban: string } | string>>();
const others = flow.choose(input.pay, "kind", { card: (card) => card.digits }, (rest) => {
  same<typeof rest, Ref<Wire | Cash>>();
  return rest.kind;
});
same<typeof others, Ref<string>>();
const outcome = flow.choose(input.tried, "ok", {
  true: (done) => {
    same<typeof done, Ref<{ readonly ok: true; readonly value: { readonly url: string } }>>();
    return done.value.url;
  },
  false: (failed) => failed.error.code,
});
same<typeof outcome, Ref<string>>();
flow.choose(input.level, "level", { 1: (one) => one.a, 2: (two) => two.b });
// @ts-expect-error a kind without a case
flow.choose(input.pay, "kind", { card: () => 1, wire: () => 2 });
// @ts-expect-error a case that is no kind
flow.choose(input.pay, "kind", { card: () => 1, wire: () => 2, cash: () => 3, gold: () => 4 });
// @ts-expect-error a case that is no kind, beside the rest
flow.choose(input.pay, "kind", { gold: () => 1 }, () => 2);
// @ts-expect-error a field that not all kinds have
flow.choose(input.pay, "iban", {});
// @ts-expect-error what may be missing has no kind: see given
flow.choose(input.maybe, "kind", { card: () => 1, wire: () => 2 });
// @ts-expect-error the field of another case
flow.choose(input.pay, "kind", { card: (card) => card.iban, wire: () => 2, cash: () => 3 });

// scope and series return what their function returns
const sent = flow.scope("first", (inner) => inner.run(mail, { to: input.id }));
same<typeof sent, Ref<{ sent: boolean }>>();
// @ts-expect-error nothing runs while the graph is built
flow.series(async () => {});

// first
const approved = signal("approved", z.object({ by: z.string() }));
const raced = flow.first({ signed: flow.signal(approved), gate: flow.gate("ok"), late: flow.sleep("late", "3d") });
same<typeof raced.winner, Ref<"signed" | "gate" | "late">>();
flow.choose(raced, "winner", {
  signed: ({ value }) => {
    same<typeof value, Ref<{ by: string }>>();
    return value.by;
  },
  gate: ({ value }) => value.approved,
  late: ({ value }) => {
    same<typeof value, Ref<null>>();
    return "late";
  },
});
eq(raced.winner, "late");
// @ts-expect-error nobody of that name takes part
eq(raced.winner, "lat");
// @ts-expect-error a value is no rival
flow.first({ a: 5, b: flow.sleep("s", "1s") });
const perhaps = flow.first({
  a: flow.run(mail, { to: "x" }, { when: input.vip }),
  b: flow.run(mail, { to: "x" }, { when: input.vip, name: "b" }),
});
same<typeof perhaps.winner, Ref<"a" | "b" | undefined>>();
const sure = flow.first({
  a: flow.run(mail, { to: "x" }, { when: input.vip }),
  b: flow.run(mail, { to: "x" }, { name: "b" }),
});
same<typeof sure.winner, Ref<"a" | "b">>();
same<typeof sure.value, Ref<{ sent: boolean }>>();
const tolerant = flow.first(
  { a: flow.run(mail, { to: "x" }), late: flow.sleep("late", "3d") },
  { onFailure: "continue" },
);
same<typeof tolerant.winner, Ref<"a" | "late" | undefined>>();
// @ts-expect-error all of them may have failed
flow.choose(tolerant, "winner", { a: () => 1, late: () => 2 });
flow.given(tolerant, (known) => flow.choose(known, "winner", { a: ({ value }) => value.sent, late: () => false }));
// @ts-expect-error a race knows one option
flow.first({ a: flow.run(mail, { to: "x" }), late: flow.sleep("late", "3d") }, { limit: 1 });

// repeat
const polled = flow.repeat(poll, input, { until: (out) => eq(out.state, "done"), every: "10s", limit: 100 });
same<typeof polled, Ref<{ state: "done" | "running"; next: string }>>();
const paged = flow.repeat(
  poll,
  (last) => {
    same<typeof last, Ref<{ state: "done" | "running"; next: string } | undefined>>();
    return { id: input.id, cursor: last.next };
  },
  { until: (out) => isIn(out.state, ["done"]), every: 0, limit: 10, factor: 2, longest: "1h", onFailure: "continue" },
);
same<typeof paged, Ref<Outcome<{ state: "done" | "running"; next: string }>>>();
// @ts-expect-error a state that there is not
flow.repeat(poll, { id: "x" }, { until: (out) => eq(out.state, "dun"), every: "10s", limit: 100 });
// @ts-expect-error no limit
flow.repeat(poll, { id: "x" }, { until: (out) => eq(out.state, "done"), every: "10s" });
// @ts-expect-error the last output is missing at first
flow.repeat(poll, (last) => ({ id: last.next }), { until: (out) => eq(out.state, "done"), every: 1, limit: 1 });
// @ts-expect-error a wrong type
flow.repeat(poll, { id: input.cents }, { until: (out) => eq(out.state, "done"), every: 1, limit: 1 });
// @ts-expect-error a field too many
flow.repeat(poll, { id: "x", idd: "x" }, { until: (out) => eq(out.state, "done"), every: 1, limit: 1 });
// @ts-expect-error a repeat is not undone
flow.repeat(poll, { id: "x" }, { until: () => true, every: 1, limit: 1, compensate: () => some() });

// external, in three libraries
const render = external(
  "render",
  {
    input: z.object({ at: z.iso.datetime().transform((text) => new Date(text)) }),
    output: z.object({ url: z.string() }),
    completeWithin: "2h",
    beat: "5m",
  },
  ({ at }, { token }) => {
    same<typeof at, Date>();
    same<typeof token, string>();
  },
);
same<typeof render, External<{ at: string }, { url: string }>>();
const sign = external(
  "sign",
  { input: type({ "page?": "number" }), output: type({ by: "string = 'nobody'" }), completeWithin: "2d", once: true },
  async () => 5,
);
same<typeof sign, External<{ page?: number }, { by: string }>>();
const scan = external(
  "scan",
  { input: v.object(job), output: v.object({ pages: v.number() }), completeWithin: 5 },
  () => {},
);
const scanned = flow.external(
  scan,
  { id: input.id },
  {
    compensate: (out) => {
      same<typeof out.pages, Ref<number>>();
      return some();
    },
  },
);
same<typeof scanned, Ref<{ pages: number }>>();
same<ReturnType<typeof conditional>, Ref<{ url: string } | undefined>>();
const conditional = () => flow.external(render, { at: input.dueAt }, { when: input.vip });
// @ts-expect-error a wrong type
flow.external(scan, { id: 5 });
// @ts-expect-error a step is no external
flow.external(poll, { id: "x" });
// @ts-expect-error an external is no step
flow.run(scan, { id: "x" });
// @ts-expect-error how long the completion may take must be said
external("x", { input: v.object({}), output: v.object({}) }, () => {});
// @ts-expect-error without an output schema nobody could complete it
external("x", { input: v.object({}), completeWithin: "1h" }, () => {});
// @ts-expect-error a misspelt option
external("x", { input: v.object({}), output: v.object({}), completeWithin: "1h", baet: "1m" }, () => {});
// @ts-expect-error what completes it is stored, so JSON
external("x", { input: v.object({}), output: v.object({ at: v.date() }), completeWithin: "1h" }, () => {});

// sleep until
same<ReturnType<typeof nap>, Ref<null>>();
const nap = () => flow.sleep("until", { until: input.dueAt });
flow.sleep("until", { until: input.dueMs });
flow.sleep("until", { until: some<RefTo<string | number>>() });
const skippable = flow.sleep("until", "5m", { when: input.vip });
same<typeof skippable, Ref<null | undefined>>();
// @ts-expect-error what may be missing is no instant
flow.sleep("until", { until: input.note });
// @ts-expect-error a reference is no duration
flow.sleep("until", input.dueAt);

// recursion: the declared output types it
const countdown = workflow(
  "countdown",
  { input: v.object({ from: v.number() }), output: v.object({ steps: v.number() }) },
  (inner, { from }) => {
    const below = inner.self({ from: 1 }, { when: gt(from, 0) });
    same<typeof below, Ref<{ steps: number } | undefined>>();
    inner.when(gt(from, 0), (scoped) => scoped.self({ from: 1 }, { name: "again" }));
    // @ts-expect-error the workflow's own input
    inner.self({ fro: 1 }, { when: true });
    return { steps: 1 };
  },
);
same<typeof countdown, Workflow<{ from: number }, { steps: number }>>();
workflow("loose", { input: v.object({}) }, (inner) => {
  // @ts-expect-error without an output schema a workflow cannot start itself
  inner.self({});
});
