import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type } from "arktype";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startDev } from "../../functions/dev.ts";
import { decide } from "../../lib/engine/decide.ts";
import { start } from "../../lib/engine/start.ts";
import { type AnyWorkflow, definitionsOf, step, workflow } from "../../lib/index.ts";
import { createRecordingLog, createRecordingMetrics } from "../../lib/testing/index.ts";
import { connect } from "../../lib/tools/connect.ts";
import { checkRuns, compareBuilds, deployText, readDefinitions, writeDefinitions } from "../../lib/tools/deploy.ts";

const cents = v.object({ cents: v.number() });
const charge = step("charge", { input: cents, output: cents }, ({ cents }) => ({ cents }));
const saleOf = (does: typeof charge) =>
  workflow("sale", { input: cents }, (flow, input) => {
    const ok = flow.gate("ok");
    return { cents: flow.run(does, input, { after: [ok] }).cents };
  });
const sale = saleOf(charge);
const renamed = saleOf(step("pay", { input: cents, output: cents }, ({ cents }) => ({ cents: cents * 2 })));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tickwright-deploy-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("definitions.json", () => {
  it("is the same text for the same build, and reads back", async () => {
    const file = join(folder, "definitions.json");
    const written = await writeDefinitions([sale], file);
    const text = await readFile(file, "utf8");
    expect(await readDefinitions(file)).toEqual(written);
    await writeDefinitions([sale], file);
    expect(await readFile(file, "utf8")).toBe(text);
    await writeFile(file, text.replace('"workflow": "sale"', '"workflow": "sail"'));
    await expect(readDefinitions(file)).rejects.toThrow("write definitions.json anew");
  });

  it("has of each schema what its library tells", () => {
    const text = z.object({ s: z.string() });
    const steps = definitionsOf([
      workflow("w", { input: z.object({ s: z.string(), n: z.number(), cents: z.number() }) }, (flow, input) => {
        flow.run(
          step("zod", { input: text, output: text.transform(({ s }) => ({ s: s.trim() })) }, ({ s }) => ({ s })),
          { s: input.s },
        );
        flow.run(
          step("ark", { input: type({ n: "number" }) }, () => {}),
          { n: input.n },
        );
        flow.run(
          step("vali", { input: cents }, () => {}),
          { cents: input.cents },
        );
      }),
    ]).steps;
    const known = Object.fromEntries(
      Object.entries(steps).map(([ref, { input, output }]) => [ref, [input.known, output?.known]]),
    );
    expect(known).toEqual({
      "ark@1": ["json-schema", undefined],
      "vali@1": ["structure", undefined],
      "zod@1": ["json-schema", "nothing"],
    });
    expect(steps["zod@1"]?.input).toMatchObject({ schema: { type: "object", properties: { s: { type: "string" } } } });
  });

  it("sees what changes in a valibot schema, and not what changes nothing", () => {
    const digestOf = (input: v.GenericSchema<{ a: string }>) => {
      const one = step("one", { input }, () => {});
      const mark = definitionsOf([workflow("w", { input }, (flow, given) => void flow.run(one, given as never))]).steps[
        "one@1"
      ]?.input;
      return mark?.known === "structure" ? mark.digest : mark?.known;
    };
    const plain = digestOf(v.object({ a: v.string() }));
    expect(digestOf(v.object({ a: v.string("a text, please") }))).toBe(plain);
    const others = [
      v.object({ a: v.pipe(v.string(), v.minLength(3)) }),
      v.object({ a: v.pipe(v.string(), v.regex(/^a/)) }),
      v.object({ a: v.pipe(v.string(), v.regex(/^b/)) }),
      v.object({ a: v.string(), b: v.optional(v.string()) }),
    ].map((schema) => digestOf(schema as never));
    expect(new Set([plain, ...others]).size).toBe(5);
  });
});

describe("two builds", () => {
  const compare = (next: readonly AnyWorkflow[]) => compareBuilds(definitionsOf([sale]), definitionsOf(next));

  it("that differ in nothing that runs need park nothing", () => {
    expect(compareBuilds(definitionsOf([sale]), definitionsOf([renamed], { keep: [charge] })).isBad).toBe(false);
    expect(compare([sale])).toMatchObject({ isBad: false, definitions: [{ graph: "same", findings: [] }] });
    expect(
      compare([renamed, workflow("keeps", { input: cents }, (flow, input) => void flow.run(charge, input))]),
    ).toMatchObject({
      isBad: false,
      definitions: [{ graph: "old" }],
    });
  });

  it("are told apart with what to do", () => {
    expect(deployText(compare([renamed]))).toMatchInlineSnapshot(`
      "sale (5baa4da9): new runs get another graph; runs in flight keep this one
        charge: step charge@1 is gone
            mend: list step "charge" of version "1" under \`keep\` until these runs have ended

      This deploy would stop runs of the last build, if there are any in flight."
    `);
    const strict = step("charge", { input: v.object({ cents: v.number(), in: v.string() }), output: cents }, () => ({
      cents: 0,
    }));
    const next = workflow("sale", { input: v.object({ cents: v.number(), in: v.string() }) }, (flow, input) => {
      flow.run(strict, input);
    });
    expect(deployText(compare([next]))).toMatchInlineSnapshot(`
      "sale (5baa4da9): new runs get another graph; runs in flight keep this one
        charge: the input schema of charge@1 changed
            mend: give the new step version: "2", and list the old one under \`keep\` until these runs have ended

      This deploy would stop runs of the last build, if there are any in flight."
    `);
    expect(
      deployText(compare([workflow("other", { input: cents }, (flow, input) => void flow.run(charge, input))])),
    ).toMatchInlineSnapshot(`
      "sale (5baa4da9): the workflow is gone: runs in flight go on by their stored graph

      This deploy stops nothing."
    `);
  });
});

it("on the embedded stack a deploy parks what was foreseen, and a roll-back resumes it", {
  timeout: 60_000,
}, async () => {
  const dataFolder = join(folder, "stack");
  const build = (workflows: readonly AnyWorkflow[]) =>
    startDev({
      workflows,
      dataFolder,
      log: createRecordingLog(),
      metrics: createRecordingMetrics(),
      scale: { watchIntervalMs: 500 },
    });
  const at = ({ stack }: Awaited<ReturnType<typeof build>>) => ({
    tableName: stack.tableName,
    queueBase: stack.queueBase,
    bucket: stack.bucket,
    endpoint: stack.endpoints,
  });
  let dev = await build([sale]);
  const ref = { tenant: "default", runId: "r" };
  await start(dev.engine, { workflow: "sale", runId: "r", input: { cents: 5 } });
  const foreseen = await checkRuns(at(dev), [renamed]);
  expect(foreseen).toMatchObject({ isBad: true, definitions: [{ counts: { parks: 1 }, graph: "old" }] });
  expect(await checkRuns(at(dev), [sale])).toMatchObject({ isBad: false, definitions: [{ counts: { finishes: 1 } }] });
  await dev.stack.stop();

  dev = await build([renamed]);
  await decide(dev.engine, ref, { gate: "ok", approved: true });
  let there = connect({ ...at(dev), workflows: [renamed] });
  const parked = await there.run(renamed, "r");
  expect(await parked.end()).toBe("parked");
  expect(parked.waitingFor).toEqual([{ kind: "deploy", name: "charge" }]);
  there.close();
  await dev.stack.stop();

  dev = await build([sale]);
  there = connect({ ...at(dev), workflows: [sale] });
  const resumed = await there.run(sale, "r");
  const statusNow = async () => {
    await resumed.refresh();
    return resumed.status;
  };
  await expect.poll(statusNow, { timeout: 20_000 }).toBe("succeeded");
  expect(resumed.output).toEqual({ cents: 5 });
  there.close();
  await dev.stack.stop();
});
