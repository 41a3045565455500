/** What strangers write, as text: it is compiled and run where only the package is. */

export const libraries = ["valibot", "zod", "arktype"] as const;
export type Library = (typeof libraries)[number];

/** The same schemas three times: with a default, a transform on the way in, an enumeration and a union. */
const schemas: Readonly<Record<Library, string>> = {
  valibot: `
import * as v from "valibot";
export const sale = v.object({
  orderId: v.string(),
  cents: v.number(),
  note: v.optional(v.string()),
  pay: v.variant("kind", [
    v.object({ kind: v.literal("card"), digits: v.string() }),
    v.object({ kind: v.literal("wire"), iban: v.string() }),
  ]),
});
export const payment = v.object({ orderId: v.string(), cents: v.number(), tries: v.optional(v.number(), 3) });
export const receipt = v.object({ receiptId: v.string(), state: v.picklist(["paid", "open"]) });
export const parcel = v.object({ receiptId: v.string(), at: v.pipe(v.string(), v.transform((text) => new Date(text))) });
export const tracking = v.object({ trackingId: v.string() });
`,
  zod: `
import * as z from "zod";
export const sale = z.object({
  orderId: z.string(),
  cents: z.number(),
  note: z.string().optional(),
  pay: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("card"), digits: z.string() }),
    z.object({ kind: z.literal("wire"), iban: z.string() }),
  ]),
});
export const payment = z.object({ orderId: z.string(), cents: z.number(), tries: z.number().default(3) });
export const receipt = z.object({ receiptId: z.string(), state: z.enum(["paid", "open"]) });
export const parcel = z.object({ receiptId: z.string(), at: z.iso.datetime().transform((text) => new Date(text)) });
export const tracking = z.object({ trackingId: z.string() });
`,
  arktype: `
import { type } from "arktype";
const card = type({ kind: "'card'", digits: "string" });
const wire = type({ kind: "'wire'", iban: "string" });
export const sale = type({ orderId: "string", cents: "number", "note?": "string", pay: card.or(wire) });
export const payment = type({ orderId: "string", cents: "number", tries: "number = 3" });
export const receipt = type({ receiptId: "string", state: "'paid' | 'open'" });
export const parcel = type({ receiptId: "string", at: "string.date.iso.parse" });
export const tracking = type({ trackingId: "string" });
`,
};

const steps = `
import { step } from "tickwright";
import { parcel, payment, receipt, tracking } from "./schemas.ts";
export const charge = step("charge", { input: payment, output: receipt }, ({ orderId, tries }) => ({
  receiptId: \`\${orderId}-\${tries.toFixed()}\`,
  state: "paid",
}));
export const refund = step("refund", { input: receipt }, async () => {});
export const ship = step("ship", { input: parcel, output: tracking }, ({ receiptId, at }) => ({
  trackingId: \`\${receiptId}-\${at.getUTCFullYear()}\`,
}));
`;

const workflow = `
import { call, gt, orElse, workflow } from "tickwright";
import { sale } from "./schemas.ts";
import { charge, refund, ship } from "./steps.ts";
export const sell = workflow("sell", { input: sale }, (flow, input) => {
  const approval = flow.gate("approval", { when: gt(input.cents, 100_000), timeout: "2d", onTimeout: "reject" });
  const paid = flow.run(
    charge,
    { orderId: input.orderId, cents: input.cents },
    { after: [approval], compensate: (done) => call(refund, done) },
  );
  const sent = flow.run(ship, { receiptId: paid.receiptId, at: "2027-01-15T08:00:00.000Z" });
  const by = flow.choose(input.pay, "kind", { card: (card) => card.digits, wire: (wire) => wire.iban });
  return { trackingId: sent.trackingId, by, note: orElse(input.note, "none") };
});
export const workflows = [sell];
`;

const test = `
import assert from "node:assert/strict";
import { test } from "node:test";
import { FatalError } from "tickwright";
import { fail, fakes, once, type TestRun, testWorkflow } from "tickwright/testing";
import * as steps from "./steps.ts";
import { sell } from "./workflow.ts";
const input = { orderId: "o-1", cents: 1000, pay: { kind: "wire" as const, iban: "DE00" } };
test("a bank that is down for a while charges once", async () => {
  const run = await testWorkflow(sell, { input, steps: { charge: once(fail("the bank did not answer")) } });
  assert.equal(await run.end(), "succeeded");
  const output: { trackingId: string; by: string; note: string } | undefined = run.output;
  assert.deepEqual(output, { trackingId: "o-1-3-2027", by: "DE00", note: "none" });
  assert.equal(new Set(run.calls("charge").map(({ idempotencyKey }) => idempotencyKey)).size, 1);
});
test("a parcel that is lost is paid back, after a person has said yes", async () => {
  const run: TestRun<{ trackingId: string }> = await testWorkflow(sell, {
    input: { ...input, cents: 200_000 },
    steps: fakes(steps, {
      charge: ({ orderId }) => ({ receiptId: orderId, state: "open" }),
      ship: fail(new FatalError("no van")),
    }),
  });
  await run.end();
  assert.deepEqual(run.waitingFor, [{ kind: "gate", name: "approval" }]);
  await run.decide("approval", { approved: true, by: "mei" });
  assert.equal(run.status, "failed");
  assert.deepEqual(run.calls("refund").map((call) => call.input), [{ receiptId: "o-1", state: "open" }]);
});
`;

/** A workflow and its test, with one schema library. */
export const shopWith = (library: Library): Readonly<Record<string, string>> => ({
  "schemas.ts": schemas[library],
  "steps.ts": steps,
  "workflow.ts": workflow,
  "workflow.test.ts": test,
});

/** A program for every other entry. */
export const others: Readonly<Record<string, string>> = {
  "guarded.ts": `
import { type Clock, guardedUpdate, type Random, type RunStore, storedRecord } from "tickwright/guard";
import { createMemoryStore, createSeededRandom, createVirtualClock } from "tickwright/testing";
const random: Random = createSeededRandom("guard");
const clock: Clock = createVirtualClock(0);
const store: Pick<RunStore, "read" | "write"> = createMemoryStore();
const outcome = await guardedUpdate<{ left: number }>({
  record: storedRecord(store, { pk: "article#1", sk: "stock" }),
  decide: ({ left }) => ({ left: left - 1 }),
  clock,
  random,
});
console.log(outcome.kind);
`,
  "connected.ts": `
import { type Connection, connect, type RunHandle } from "tickwright/connect";
import { sell } from "./valibot/workflow.ts";
const stack: Connection = connect({
  tableName: "table",
  queueBase: "http://127.0.0.1:1/000000000000/tickwright",
  endpoint: "http://127.0.0.1:1",
  workflows: [sell],
});
export const trackingOf = (run: RunHandle<{ trackingId: string }>): string | undefined => run.output?.trackingId;
export const started = () =>
  stack.start(sell, { runId: "r", input: { orderId: "o", cents: 1, pay: { kind: "card", digits: "1" } } });
stack.close();
console.log("connected");
`,
  "deployed.ts": `
import { type DeployReport, compareBuilds, definitionsOf, deployText, writeDefinitions } from "tickwright/deploy";
import { workflows } from "./zod/workflow.ts";
await writeDefinitions(workflows, "definitions.json");
const definitions = await definitionsOf(workflows);
const report: DeployReport = compareBuilds(definitions, definitions);
console.log(deployText(report).length > 0);
`,
};

/** An app with the construct. */
export const app = `
import { App, Stack } from "aws-cdk-lib";
import { Tickwright, type TickwrightProps } from "tickwright/cdk";
const props: TickwrightProps = { workflows: "arktype/workflow.ts", groups: { default: { memoryMb: 512 } } };
const app = new App({ outdir: "cdk.out" });
new Tickwright(new Stack(app, "Mine"), "Tickwright", props);
app.synth();
`;

/** What an editor with TypeScript 5.9 shows over these words of a file. */
export const hovers = `
import { readFileSync } from "node:fs";
import ts from "typescript-5.9";
const [, , file = "", ...words] = process.argv;
const { options } = ts.parseJsonConfigFileContent(JSON.parse(readFileSync("tsconfig.json", "utf8")), ts.sys, ".");
const service = ts.createLanguageService({
  ...ts.sys,
  getCompilationSettings: () => options,
  getScriptFileNames: () => [file],
  getScriptVersion: () => "1",
  getScriptSnapshot: (path) => (ts.sys.fileExists(path) ? ts.ScriptSnapshot.fromString(ts.sys.readFile(path)) : undefined),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
});
const source = readFileSync(file, "utf8");
for (const word of words) {
  const info = service.getQuickInfoAtPosition(file, source.indexOf(word));
  console.log(ts.displayPartsToString(info?.displayParts).replaceAll(/\\s+/g, " "));
}
`;
