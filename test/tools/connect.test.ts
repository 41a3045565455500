import * as v from "valibot";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Dev, startDev } from "../../functions/dev.ts";
import { external, signal, step, workflow } from "../../lib/index.ts";
import { createRecordingLog, createRecordingMetrics, type RunHandle, testWorkflow } from "../../lib/testing/index.ts";
import { type Connection, connect } from "../../lib/tools/connect.ts";

const n = v.object({ n: v.number() });
const plus = step("plus", { input: n, output: n }, ({ n }) => ({ n: n + 1 }));
const tokens: string[] = [];
const print = external(
  "print",
  { input: n, output: n, completeWithin: "1d" },
  (_, { token }) => void tokens.push(token),
);
const go = signal("go", n);
const flowing = workflow("flowing", { input: n }, (flow, input) => {
  const more = flow.run(plus, { n: input.n });
  const ok = flow.gate("ok", { after: [more] });
  const gone = flow.signal(go, { after: [ok] });
  const printed = flow.external(print, { n: gone.n }, { after: [gone] });
  return { n: more.n, gone: gone.n, printed: printed.n };
});

let dev: Dev;
let there: Connection;
beforeAll(async () => {
  dev = await startDev({ workflows: [flowing], log: createRecordingLog(), metrics: createRecordingMetrics() });
  const { tableName, queueBase, bucket, endpoints } = dev.stack;
  there = connect({ tableName, queueBase, bucket, endpoint: endpoints, workflows: [flowing] });
});
afterAll(async () => {
  there.close();
  await dev.stack.stop();
});

/** The same assertions for both. */
async function assertFlowing(run: RunHandle<{ n: number; gone: number; printed: number }>): Promise<void> {
  expect(await run.end()).toBe("running");
  expect(run.waitingFor).toEqual([{ kind: "gate", name: "ok" }]);
  await run.decide("ok", { approved: true, by: "ann" });
  await expect(run.decide("ok", { approved: false })).rejects.toThrow();
  await run.end();
  expect(run.waitingFor).toEqual([{ kind: "signal", name: "go" }]);
  await expect(run.signal("go", { n: "x" })).rejects.toThrow("n");
  await run.signal(go, { n: 7 });
  await run.end();
  expect(run.waitingFor).toEqual([{ kind: "external", name: "print" }]);
  await run.external(tokens.at(-1)!).complete({ n: 9 });
  expect(await run.end()).toBe("succeeded");
  expect(run.output).toEqual({ n: 2, gone: 7, printed: 9 });
  expect(await run.timeline()).toContain("flowing: succeeded after");
}

it("a run in memory goes as it is asserted", async () => {
  await assertFlowing(await testWorkflow(flowing, { input: { n: 1 } }));
});

it("a run on the embedded stack goes the same", async () => {
  await assertFlowing(await there.start(flowing, { runId: "r-1", input: { n: 1 } }));
  const again = await there.run(flowing, "r-1");
  expect([again.status, again.output?.gone]).toEqual(["succeeded", 7]);
});

it("a run that does not end in time says what it waits for", async () => {
  const { tableName, endpoints } = dev.stack;
  const asleep = workflow("asleep", { input: n }, (flow, input) => {
    flow.run(plus, input, { after: [flow.sleep("night", "1d")] });
  });
  const other = connect({
    tableName,
    queueBase: dev.stack.queueBase,
    endpoint: endpoints,
    workflows: [asleep],
    endWithinMs: 300,
  });
  const run = await other.start(asleep, { input: { n: 1 } });
  await expect(run.end()).rejects.toThrow("is still running after 300 ms: it waits for sleep night");
  await run.terminate();
  expect(await run.end()).toBe("terminated");
  await expect(other.run(asleep, "nobody")).rejects.toThrow('there is no run "nobody"');
  other.close();
});

it("work that goes on outside is completed by its token alone; the same again does no harm", async () => {
  const run = await there.start(flowing, { runId: "r-token", input: { n: 1 } });
  await run.end();
  await run.decide("ok", { approved: true });
  await run.end();
  await run.signal(go, { n: 7 });
  await run.end();
  const job = there.external(tokens.at(-1)!);
  await job.beat();
  await expect(job.complete({ n: "x" })).rejects.toThrow("n");
  await job.complete({ n: 9 });
  await job.complete({ n: 9 });
  const statusNow = async () => {
    await run.refresh();
    return run.status;
  };
  await expect.poll(statusNow, { timeout: 20_000 }).toBe("succeeded");
  await expect(job.fail("too late")).rejects.toThrow();
  await expect(there.external("nonsense").beat()).rejects.toThrow("context.token");
});
