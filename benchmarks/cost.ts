import * as v from "valibot";
import { decodeRun } from "../lib/core/row-format.ts";
import { isSettled } from "../lib/core/run.ts";
import { stateKey } from "../lib/engine/records/state.ts";
import { start } from "../lib/engine/start.ts";
import { type AnyWorkflow, createRegistry, type Ref, step, workflow } from "../lib/index.ts";
import { createWorld } from "../lib/testing/index.ts";

/**
 * What a run costs, by counting: write and read units by DynamoDB's published rules, messages, and what they come to at list
 * prices. Everything of a run is in it, from its creation to its end. Not in it: its definition, written once per process, and what
 * the watchdog reads of the index every minute, however many runs there are. The counts are the same on every machine.
 * `npm run benchmark:cost`
 */

/** US dollars per million, us-east-1, as AWS publishes them (DynamoDB on-demand, SQS standard). Lambda's time is yours, and not in it. */
const prices = { writeUnit: 0.625, readUnit: 0.125, sqsRequest: 0.4 } as const;

const hundred = v.object({ text: v.string() });
const output = { text: "x".repeat(86) };
const input = { text: "an input" };

const plain = step("plain", { input: hundred, output: hundred }, () => output);
const inline = step("inline", { input: hundred, output: hundred, inline: true }, () => output);
const repeatable = step(
  "repeatable",
  { input: hundred, output: hundred, inline: true, repeatable: true },
  () => output,
);
const count = step("count", { input: v.number(), output: v.number() }, (n) => n);

function chain(name: string, of: typeof plain, length: number): AnyWorkflow {
  return workflow(name, { input: hundred }, (flow, start) => {
    let last: Ref<{ text: string }> = start;
    for (let at = 1; at <= length; at++) last = flow.run(of, { text: last.text }, { name: `s${at}` });
    return { text: last.text };
  });
}

const items = workflow("items", { input: v.array(v.number()) }, (flow, list) => {
  const counted = flow.map(list, count, { concurrency: 16 });
  return { size: counted.length };
});

const wait = workflow("wait", { input: hundred }, (flow, start) => {
  const slept = flow.sleep("month", "28d");
  const done = flow.run(plain, { text: start.text }, { after: [slept] });
  return { text: done.text };
});

const scenarios: readonly (readonly [title: string, workflow: AnyWorkflow, input: unknown, steps: number])[] = [
  ["inline chain of 10", chain("inline-10", inline, 10), input, 10],
  ["inline chain of 100", chain("inline-100", inline, 100), input, 100],
  ["inline chain of 900", chain("inline-900", inline, 900), input, 900],
  ["repeatable chain of 100", chain("repeatable-100", repeatable, 100), input, 100],
  ["queued chain of 10", chain("queued-10", plain, 10), input, 10],
  ["queued chain of 100", chain("queued-100", plain, 100), input, 100],
  ["map over 1,000 items, 16 at a time", items, Array.from({ length: 1000 }, (_, at) => at), 1000],
  ["a month's wait and a step", wait, input, 1],
];

console.log("per step                            write units  read units   messages   $ per million steps");
for (const [title, flow, given, steps] of scenarios) {
  const world = createWorld({ registry: createRegistry([flow]) });
  await start(world.engine, { workflow: flow.name, runId: "r", input: given });
  const ref = { tenant: "default", runId: "r" };
  // looked at without a call, as a call would be counted
  const look = () => decodeRun(stateKey(ref), world.store.peek(stateKey(ref)) ?? {});
  await world.until(() => isSettled(look()));
  const run = look();
  if (run.phase !== "succeeded") throw new Error(`${title}: ${run.phase} ${run.reason?.message}`);
  const { byRecord } = world.units.units();
  const ofRun = Object.entries(byRecord).filter(([record]) => !["DEF", "CONTRACTS", "BUILD", "due"].includes(record));
  const writes = ofRun.reduce((sum, [, cost]) => sum + cost.write, 0);
  const reads = ofRun.reduce((sum, [, cost]) => sum + cost.read, 0);
  const messages = world.metrics.total("messages-sent");
  // a message is sent, received and deleted; batches make it less
  const dollars = writes * prices.writeUnit + reads * prices.readUnit + 3 * messages * prices.sqsRequest;
  const cell = (value: number, width: number) => (value / steps).toFixed(2).padStart(width);
  console.log(`${title.padEnd(36)}${cell(writes, 11)}${cell(reads, 12)}${cell(messages, 11)}${cell(dollars, 22)}`);
}
// once a minute every shard of the index, live and parked, half a unit each if it is empty; and the build's record
const watchReads = (2 * 16 * 0.5 + 1) * 60 * 24 * 30;
console.log(
  `\nThe watchdog, whatever the number of runs: ${watchReads.toLocaleString("en")} read units in 30 days, $ ${((watchReads * prices.readUnit) / 1e6).toFixed(2)}.`,
);
console.log("For comparison, as published: Step Functions (standard) $25 per million transitions.");
