import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Dev, startDev } from "../../functions/dev.ts";
import { statusOf } from "../../lib/core/run.ts";
import { decide } from "../../lib/engine/decide.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import { type AnyWorkflow, type Step, step, workflow } from "../../lib/index.ts";
import { createRecordingLog, createRecordingMetrics } from "../../lib/testing/index.ts";
import { checkRuns } from "../../lib/tools/deploy.ts";

const sale = v.object({ cents: v.number() });
const strict = v.object({ cents: v.number(), currency: v.string() });
const receipt = v.object({ from: v.string() });

type Charge = Step<{ cents: number }, { from: string }>;
const charging = (name: string, from: string): Charge => step(name, { input: sale, output: receipt }, () => ({ from }));

/** A sale that waits at a gate, so that a deploy meets it there. */
const selling = (name: string, charge: Charge, more: { readonly isLonger?: boolean } = {}) =>
  workflow(name, { input: sale }, (flow, input) => {
    const ok = flow.gate("ok");
    const paid = flow.run(charge, input, { after: [ok] });
    if (more.isLonger) flow.run(charging("tell", "tell"), input, { after: [paid] });
    return { from: paid.from };
  });

const first: readonly AnyWorkflow[] = [
  selling("renamed", charging("a", "first")),
  selling("schema", charging("b", "first")),
  selling("graph", charging("c", "first")),
  selling("removed", charging("d", "first")),
];
const second: readonly AnyWorkflow[] = [
  selling("renamed", charging("a-new", "second")),
  // the same name and version, and an input that asks for more
  selling("schema", step("b", { input: strict, output: receipt }, () => ({ from: "second" })) as unknown as Charge),
  selling("graph", charging("c", "second"), { isLonger: true }),
];
const names = ["renamed", "schema", "graph", "removed"] as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tickwright-matrix-"));
});
afterAll(() => rm(folder, { recursive: true }));

const build = (workflows: readonly AnyWorkflow[]) =>
  startDev({
    workflows,
    dataFolder: folder,
    log: createRecordingLog(),
    metrics: createRecordingMetrics(),
    scale: { watchIntervalMs: 500 },
  });

async function statuses({ engine }: Dev): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const run = await findRun(engine, { tenant: "default", runId: name });
    found[name] = run ? statusOf(run) : "gone";
  }
  return found;
}

const madeBy = async ({ engine }: Dev, runId: string) =>
  (await readResult(engine, { tenant: "default", runId })).output;

it("on the embedded stack, runs in flight meet a renamed step, a changed schema, a changed graph, a removed workflow, and a roll-back", {
  timeout: 90_000,
}, async () => {
  let dev = await build(first);
  for (const name of names) await start(dev.engine, { workflow: name, runId: name, input: { cents: 5 } });
  const { stack } = dev;
  const at = {
    tableName: stack.tableName,
    queueBase: stack.queueBase,
    bucket: stack.bucket,
    endpoint: stack.endpoints,
  };
  const foreseen = await checkRuns(at, second);
  expect(foreseen.isBad).toBe(true);
  await dev.stack.stop();

  dev = await build(second);
  for (const name of names)
    await decide(dev.engine, { tenant: "default", runId: name }, { gate: "ok", approved: true });
  await expect
    .poll(() => statuses(dev), { timeout: 20_000 })
    .toEqual({ renamed: "parked", schema: "parked", graph: "succeeded", removed: "parked" });
  // by its own graph, with the handler that is there now
  expect(await madeBy(dev, "graph")).toEqual({ ok: true, value: { from: "second" } });
  await dev.stack.stop();

  dev = await build(first);
  await expect
    .poll(() => statuses(dev), { timeout: 20_000 })
    .toEqual({ renamed: "succeeded", schema: "succeeded", graph: "succeeded", removed: "succeeded" });
  for (const name of ["renamed", "schema", "removed"])
    expect(await madeBy(dev, name)).toEqual({ ok: true, value: { from: "first" } });
  await dev.stack.stop();
});
