import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { call, orElse, RetryableError, signal, step, workflow } from "../../lib/index.ts";
import { byAttempt, fail, fakes, late, once, succeed, testWorkflow } from "../../lib/testing/index.ts";

// "Ask every sensor of the city how clean the air is, ten at a time. Some are always broken: up to a tenth of them may fail. Then
// publish the average of those that answered."
describe("fan out, fan in", () => {
  const reading = v.object({ sensor: v.string(), dust: v.number() });
  const failure = v.object({ code: v.string(), message: v.string() });
  const outcome = v.variant("ok", [
    v.object({ ok: v.literal(true), value: reading }),
    v.object({ ok: v.literal(false), error: failure }),
  ]);
  const measure = step(
    "measure",
    { input: v.object({ sensor: v.string() }), output: reading, retry: { attempts: 2 } },
    ({ sensor }) => ({ sensor, dust: sensor.length }),
  );
  const average = step(
    "average",
    { input: v.object({ readings: v.array(outcome) }), output: v.object({ dust: v.number(), broken: v.number() }) },
    ({ readings }) => {
      const dusts = readings.flatMap((each) => (each.ok ? [each.value.dust] : []));
      return {
        dust: dusts.reduce((sum, dust) => sum + dust, 0) / dusts.length,
        broken: readings.length - dusts.length,
      };
    },
  );
  const air = workflow("air", { input: v.object({ sensors: v.array(v.string()) }) }, (flow, input) => {
    const readings = flow.map(input.sensors, (sensor) => call(measure, { sensor }), {
      concurrency: 10,
      tolerate: "10%",
    });
    return flow.run(average, { readings });
  });

  const sensors = Array.from({ length: 20 }, (_, at) => `s${at}`);
  const brokenOnes = (count: number) =>
    fakes(
      { measure },
      {
        measure: ({ sensor }) => {
          if (sensors.indexOf(sensor) < count) throw new Error("no answer");
          return { sensor, dust: 4 };
        },
      },
    );

  it("averages what answered", async () => {
    const run = await testWorkflow(air, { input: { sensors }, steps: brokenOnes(2) });
    expect(await run.end()).toBe("succeeded");
    expect(run.output).toEqual({ dust: 4, broken: 2 });
    expect(run.calls("measure")).toHaveLength(22);
  });

  it("fails when more than a tenth is broken", async () => {
    const run = await testWorkflow(air, { input: { sensors }, steps: brokenOnes(3) });
    expect([await run.end(), run.reason?.code]).toEqual(["failed", "item-failures"]);
    expect(run.calls("average")).toEqual([]);
  });
});

// "Import a file into the customer system, which takes five rows a second and no more. When it says that it has enough, wait for
// as long as it asks, and go on where we were."
describe("an import with a rate limit", () => {
  const place = v.object({ from: v.number(), isDone: v.boolean() });
  const importRows = step(
    "import-rows",
    { input: v.object({ rows: v.number(), from: v.number() }), output: place },
    ({ rows, from }) => ({ from: Math.min(from + 5, rows), isDone: from + 5 >= rows }),
  );
  const importFile = workflow("import-file", { input: v.object({ rows: v.number() }) }, (flow, input) => {
    const last = flow.repeat(importRows, (before) => ({ rows: input.rows, from: orElse(before.from, 0) }), {
      until: ({ isDone }) => isDone,
      every: "1s",
      limit: 10_000,
    });
    return { imported: last.from };
  });

  it("takes a second for five rows", async () => {
    const run = await testWorkflow(importFile, { input: { rows: 50 } });
    expect([await run.end(), run.output]).toEqual(["succeeded", { imported: 50 }]);
    expect(run.calls("import-rows").map(({ atMs }) => atMs)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((s) => s * 1000),
    );
  });

  it("waits as long as it is told to, and repeats only the rows that were refused", async () => {
    const refused = fail(new RetryableError("enough", { after: "30s" }));
    const run = await testWorkflow(importFile, {
      input: { rows: 10 },
      steps: { "import-rows": byAttempt([refused, succeed({ from: 10, isDone: true })]) },
    });
    await run.end();
    expect(run.calls("import-rows").map(({ index, attempt, atMs }) => [index, attempt, atMs])).toEqual([
      [0, 1, 0],
      [0, 2, 30_000],
    ]);
  });
});

// "Make thumbnails. Whoever looks at the page is served at once, however many pictures the nightly batch has before it. Throw the
// picture itself away ten minutes later."
describe("priority lanes", () => {
  const picture = v.object({ url: v.string() });
  const discard = step("discard", { input: picture, group: "storage" }, () => {});
  const thumbnails = (lane: "now" | "batch") => {
    // a lane is a queue with workers of its own
    const shrink = step(
      `shrink-${lane}`,
      { input: picture, output: picture, group: `pictures-${lane}` },
      ({ url }) => ({
        url: `${url}?w=80`,
      }),
    );
    return workflow(`thumbnail-${lane}`, { input: picture }, (flow, input) => {
      const small = flow.run(shrink, { url: input.url });
      const looked = flow.sleep("looked", "10m", { after: [small] });
      flow.run(discard, { url: input.url }, { after: [looked] });
      return small;
    });
  };

  it.each([
    ["now", "interactive"],
    ["batch", "bulk"],
  ] as const)("are queues: %s has one for its work and one for its ticks", async (lane, tier) => {
    const busy = { [`shrink-${lane}`]: once(fail("busy")) };
    const run = await testWorkflow(thumbnails(lane), { input: { url: "a.png" }, tier, steps: busy });
    expect(run.world.queue.names()).toEqual([`task:pictures-${lane}`]);
    await run.advance("1m");
    expect(run.world.queue.names()).toEqual([`wake:${tier}`]);
    expect([await run.end(), run.output]).toEqual(["succeeded", { url: "a.png?w=80" }]);
  });
});

// "Check all five hundred shops, each with its own little process, twenty at a time. Stop at once if the office calls it off, or if
// more than two in a hundred turn out to be broken."
describe("five hundred children", () => {
  const shop = v.object({ shop: v.number() });
  const inspect = step(
    "inspect",
    { input: shop, output: v.object({ isFine: v.boolean() }), timeout: "5m", retry: { attempts: 1 } },
    () => ({ isFine: true }),
  );
  const calledOff = signal("called-off", v.object({ by: v.string() }));
  const check = workflow("check", { input: shop }, (flow, input) => flow.run(inspect, { shop: input.shop }));
  const checkAll = workflow("check-all", { input: v.object({ shops: v.array(v.number()) }) }, (flow, input) => {
    const end = flow.first({
      checked: flow.map(input.shops, (each) => call(check, { shop: each }), { concurrency: 20, tolerate: "2%" }),
      calledOff: flow.signal(calledOff),
    });
    return flow.choose(end, "winner", {
      checked: ({ value }) => ({ checked: value.length, by: "nobody" }),
      calledOff: ({ value }) => ({ checked: 0, by: value.by }),
    });
  });
  const shops = Array.from({ length: 500 }, (_, at) => at);

  it("all run", async () => {
    const run = await testWorkflow(checkAll, { input: { shops } });
    expect([await run.end(), run.output]).toEqual(["succeeded", { checked: 500, by: "nobody" }]);
  });

  it("stop at the eleventh that fails", async () => {
    const run = await testWorkflow(checkAll, { input: { shops }, steps: { inspect: fail("closed") } });
    expect([await run.end(), run.reason?.code]).toEqual(["failed", "item-failures"]);
    expect(run.calls("inspect").length).toBeLessThan(60);
  });

  it("stop when they are called off: those under way are cancelled, and no more begin", async () => {
    const run = await testWorkflow(checkAll, { input: { shops }, steps: { inspect: late("1m") } });
    await run.advance("150s");
    await run.signal(calledOff, { by: "the office" });
    expect([await run.end(), run.output]).toEqual(["succeeded", { checked: 0, by: "the office" }]);
    expect(run.calls("inspect").length).toBeLessThan(80);
  });
});
