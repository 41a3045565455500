import { expect, test } from "vitest";
import { inProject } from "./compiler.ts";
import { hoversOf } from "./language-server.ts";

const steps = `import * as v from "valibot";
import { call, eq, external, signal, step, workflow } from "tickwright";

const charge = step(
  "charge",
  { input: v.object({ orderId: v.string(), cents: v.number() }), output: v.object({ receiptId: v.string(), cents: v.number() }) },
  () => ({ receiptId: "r", cents: 1 }),
);
const sign = external("sign", { input: v.object({ orderId: v.string() }), output: v.object({ by: v.string() }), completeWithin: "2d" }, () => {});
const paidBy = signal("paid-by", v.object({ by: v.string() }));
const input = v.object({
  id: v.string(),
  cents: v.number(),
  note: v.optional(v.string()),
  pay: v.variant("kind", [v.object({ kind: v.literal("card"), digits: v.string() }), v.object({ kind: v.literal("wire"), iban: v.string() })]),
});
`;

const inFlow = (...lines: readonly string[]) =>
  `${steps}export const order = workflow("order", { input }, (flow, input) => {\n${lines.join("\n")}\n});\n`;

const mistakes: readonly [string, ...string[]][] = [
  ["a wrong type", "flow.run(charge, { orderId: input.id, cents: input.id });"],
  ["a missing field", "flow.run(charge, { orderId: input.id });"],
  ["a misspelt field", "const paid = flow.run(charge, { orderId: input.id, cents: 1 });", "return paid.recieptId;"],
  ["what may be missing", "flow.run(charge, { orderId: input.note, cents: 1 });"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: source of a user's file
  ["use as a value", "if (flow.run(charge, { orderId: `${input.id}`, cents: 1 }).receiptId) return;"],
  ["a misspelt option", "flow.run(charge, { orderId: input.id, cents: 1 }, { wehn: true });"],
  ["a kind without a case", 'flow.choose(input.pay, "kind", { card: (card) => card.digits });'],
  ["a case that is no kind", 'flow.choose(input.pay, "kind", { card: () => 1, wire: () => 2, gold: () => 3 });'],
  [
    "a race read as if it were sure",
    'const first = flow.first({ a: flow.signal(paidBy), b: flow.sleep("s", "1d") });',
    "flow.run(charge, { orderId: first.value.by, cents: 1 });",
  ],
];

test("the most frequent mistakes, as the compiler prints them", async () => {
  const told: string[] = [];
  for (const [name, ...lines] of mistakes) {
    const complaints = await inProject(inFlow(...lines), (project) => project.complaints());
    const own = complaints.split("\n").filter((line) => !/TS6133/.test(line) && line.trim() !== "");
    told.push(`${name}\n${own.join("\n")}`);
  }
  expect(told.join("\n\n")).toMatchSnapshot();
}, 120_000);

test("what an editor shows over a node, a field and a scope's value", async () => {
  const source = inFlow(
    "const paid = flow.run(charge, { orderId: input.id, cents: 1 });",
    "const { receiptId } = paid;",
    "const maybe = flow.run(charge, { orderId: receiptId, cents: paid.cents }, { name: 'again', when: eq(input.pay.kind, 'card') });",
    "const first = flow.first({ signed: flow.external(sign, { orderId: receiptId }), late: flow.sleep('late', '3d') });",
    "const said = flow.choose(input.pay, 'kind', { card: (card) => ({ digits: card.digits }), wire: (wire) => wire.iban });",
    "return { paid, first, said };",
  );
  const hovers = await hoversOf(source, [
    "paid = flow",
    "receiptId } = paid",
    "maybe = flow",
    "first = flow",
    "card) => ",
    "said = flow",
    "order = workflow",
  ]);
  expect(hovers.join("\n")).toMatchSnapshot();
}, 60_000);

test("declarations of a user's file name what users know, and nothing from inside", async () => {
  const source = inFlow(
    "const paid = flow.run(charge, { orderId: input.id, cents: input.cents });",
    "const told = flow.when(eq(input.pay.kind, 'card'), (inner) => inner.external(sign, { orderId: input.id }));",
    "return { receipt: paid.receiptId, by: told.by, state: 'paid' };",
  )
    .replaceAll("const charge", "export const charge")
    .replaceAll("const sign", "export const sign")
    .replaceAll("const paidBy", "export const paidBy");
  expect(await inProject(source, (project) => project.declarations())).toMatchSnapshot();
}, 60_000);

test("a user's file is checked as well where the types of Node are not at hand", async () => {
  const source = inFlow("const paid = flow.run(charge, { orderId: input.id, cents: input.cents });", "return paid;");
  const complaints = await inProject(source, (project) => project.complaints(), []);
  expect(complaints.split("\n").filter((line) => line.startsWith("user.ts") && !/TS6133/.test(line))).toEqual([]);
}, 60_000);
