import { type } from "arktype";
import * as v from "valibot";
import * as z from "zod";
import type { Handling } from "../../../lib/authoring/step.ts";
import { type Call, call, type Flow, type Input, type Ref, type Step, step } from "../../../lib/index.ts";
import { same, some } from "./expect.ts";

// sent and kept sides, transforms and defaults, in three libraries
const valibotStep = step(
  "valibot",
  {
    input: v.object({
      at: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
      ),
      count: v.optional(v.number(), 1),
    }),
    output: v.object({ id: v.pipe(v.string(), v.brand("Id")), status: v.picklist(["done", "open"]) }),
  },
  (input) => {
    same<typeof input, { at: Date; count: number }>();
    return { id: "1", status: "done" };
  },
);
same<
  typeof valibotStep,
  Step<{ at: string; count?: number | undefined }, { id: string & v.Brand<"Id">; status: "done" | "open" }> &
    Handling<{ at: Date; count: number }, { id: string; status: "done" | "open" }>
>();

const zodStep = step(
  "zod",
  {
    input: z.object({ at: z.iso.datetime().transform((text) => new Date(text)), count: z.number().default(1) }),
    output: z.object({
      id: z.string().brand<"Id">(),
      status: z.enum(["done", "open"]),
      at: z.date().transform((date) => date.toISOString()),
    }),
  },
  async (input, context) => {
    same<typeof input, { at: Date; count: number }>();
    same<typeof context.attempt, number>();
    // literals without `as const`, and a Date on the sent side of an output
    if (input.count > 1) return { id: "2", status: "open", at: new Date(0) };
    return { id: "1", status: "done", at: input.at };
  },
);
same<
  typeof zodStep,
  Step<
    { at: string; count?: number | undefined },
    { id: string & z.$brand<"Id">; status: "done" | "open"; at: string }
  > &
    Handling<{ at: Date; count: number }, { id: string; status: "done" | "open"; at: Date }>
>();

const arkStep = step(
  "arktype",
  { input: type({ at: "string.date.iso.parse", count: "number = 1" }), output: type({ status: "'done'|'open'" }) },
  (input) => {
    same<typeof input, { at: Date; count: number }>();
    return { status: "done" };
  },
);
same<
  typeof arkStep,
  Step<{ at: string; count?: number }, { status: "done" | "open" }> &
    Handling<{ at: Date; count: number }, { status: "done" | "open" }>
>();

// a step that returns nothing
const silent = step("silent", { input: v.object({ id: v.string() }) }, async () => {});
same<typeof silent, Step<{ id: string }, null>>();
// @ts-expect-error a result without an output schema would be lost
step("lost", { input: v.object({}) }, () => ({ id: 1 }));

// wrong results
// @ts-expect-error a misspelt literal
step("wrong", { input: v.object({}), output: v.object({ status: v.picklist(["done"]) }) }, () => ({ status: "don" }));
// @ts-expect-error a missing field
step("wrong", { input: v.object({}), output: v.object({ id: v.string() }) }, () => ({}));

// what JSON lacks does not get in
// @ts-expect-error input.at is a Date
step("gate", { input: v.object({ at: v.date() }) }, () => {});
// @ts-expect-error input.lines[].paid.at is a Date
step("gate", { input: z.object({ lines: z.array(z.object({ paid: z.object({ at: z.date() }) })) }) }, () => {});
// @ts-expect-error input.many is a bigint
step("gate", { input: type({ many: "bigint" }) }, () => {});
// @ts-expect-error one member of a union is a Map
step("gate", { input: v.object({ a: v.union([v.string(), v.map(v.string(), v.string())]) }) }, () => {});
// @ts-expect-error undefined in a list
step("gate", { input: v.object({ list: v.array(v.optional(v.string())) }) }, () => {});
// @ts-expect-error output.blob is binary
step("gate", { input: v.object({}), output: v.object({ blob: v.instance(Uint8Array) }) }, () => ({
  blob: new Uint8Array(),
}));
// @ts-expect-error the kept side of an output is stored, and here it is a Date
step("gate", { input: v.object({}), output: z.string().transform((text) => new Date(text)) }, () => "x");

// what JSON has gets in: recursive, unknown, records, tuples, nullable
type Tree = { readonly name: string; readonly kids: readonly Tree[] };
const tree: v.GenericSchema<Tree> = v.object({ name: v.string(), kids: v.array(v.lazy(() => tree)) });
const recursive = step("recursive", { input: tree, output: tree }, (input) => input);
const zodTree = z.object({
  name: z.string(),
  get kids() {
    return z.array(zodTree);
  },
});
step("recursive", { input: zodTree }, () => {});
step("any", { input: z.json(), output: z.json() }, (input) => input);
const anyStep = step("any", { input: z.any(), output: z.any() }, (input) => input);
same<typeof anyStep, Step<unknown, unknown>>();
step("record", { input: v.record(v.string(), v.tuple([v.number(), v.nullable(v.boolean())])) }, () => {});

// options
const nothing = v.object({});
step(
  "ok",
  { input: nothing, retry: { attempts: 3, firstDelay: "30s" }, timeout: 5000, group: "payments", version: "2" },
  () => {},
);
step("ok", { input: nothing, once: true, timeout: "5m" }, () => {});
step("ok", { input: nothing, inline: true, repeatable: true }, () => {});
// @ts-expect-error once is never tried again
step("bad", { input: nothing, once: true, retry: { attempts: 5 } }, () => {});
// @ts-expect-error repeatable is about inline steps
step("bad", { input: nothing, repeatable: true }, () => {});
// @ts-expect-error a misspelt option
step("bad", { input: nothing, timeuot: "5m" }, () => {});
// @ts-expect-error a misspelt option of the policy
step("bad", { input: nothing, retry: { attempt: 5 } }, () => {});
// @ts-expect-error no unit of time
step("bad", { input: nothing, timeout: "5 minutes" }, () => {});

// calls
const made = call(zodStep, { at: "2026-01-01T00:00:00Z" });
same<typeof made, Call<{ id: string & z.$brand<"Id">; status: "done" | "open"; at: string }, "step">>();
call(recursive, { name: "a", kids: [{ name: "b", kids: [] }] });
// @ts-expect-error a wrong type
call(silent, { id: 1 });
// @ts-expect-error a field too many
call(silent, { id: "1", idd: "2" });

// helpers: wide references, generic steps
export function shipAll(flow: Flow, thing: Ref<{ readonly id: string }>) {
  return flow.run(silent, { id: thing.id });
}
shipAll(some<Flow>(), some<Ref<{ id: string; more: number }>>());
export function twice<In, Out>(flow: Flow, one: Step<In, Out>, first: Input<In>): Ref<Out> {
  return flow.run(one, first);
}
// a step that takes less and gives more fits
const fits: Step<{ id: string; more: number }, unknown> = silent;
// @ts-expect-error a step that wants more does not fit
const misfits: Step<unknown, null> = silent;

export { fits, misfits };
