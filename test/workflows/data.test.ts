import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  call,
  coalesce,
  exists,
  FatalError,
  type Flow,
  gte,
  must,
  not,
  orElse,
  signal,
  step,
  workflow,
} from "../../lib/index.ts";
import { fail, fakes, testWorkflow } from "../../lib/testing/index.ts";

const id = v.string();
const instant = v.pipe(v.string(), v.isoTimestamp());

// "Every night at two, local time, count the sales of the day and send the figures to whoever asked. If the figures cannot be
// had, send a note that says so, not silence."
describe("a nightly report", () => {
  const figures = v.object({ sales: v.number() });
  const nextNight = step("next-night", { input: v.object({ zone: id }), output: v.object({ at: instant }) }, () => ({
    at: "2027-01-16T01:00:00Z",
  }));
  const count = step("count", { input: v.object({ zone: id }), output: figures }, () => ({ sales: 3 }));
  const send = step("send", { input: v.object({ to: id, sales: v.optional(v.number()) }) }, () => {});
  const report = workflow("report", { input: v.object({ zone: id, to: id }) }, (flow, input) => {
    const night = flow.run(nextNight, { zone: input.zone });
    const slept = flow.sleep("night", { until: night.at });
    const counted = flow.run(count, { zone: input.zone }, { after: [slept], onFailure: "continue" });
    flow.run(send, { to: input.to, sales: counted.value.sales });
    return { at: night.at, isCounted: counted.ok };
  });
  const input = { zone: "Europe/Paris", to: "x@example.com" };

  it("comes at two", async () => {
    const run = await testWorkflow(report, { input });
    await run.advance("16h");
    expect(run.calls("count")).toEqual([]);
    expect([await run.end(), run.calls("send")[0]?.input]).toEqual(["succeeded", { to: "x@example.com", sales: 3 }]);
    expect(run.calls("count")[0]?.atMs).toBe(17 * 3_600_000);
  });

  it("says when there are no figures", async () => {
    const run = await testWorkflow(report, { input, steps: { count: fail("down") } });
    expect([await run.end(), run.calls("send")[0]?.input]).toEqual(["succeeded", { to: "x@example.com" }]);
  });

  it("comes at once if the night has passed", async () => {
    const run = await testWorkflow(report, { input, startAt: "2027-02-01T00:00:00Z" });
    expect(run.status).toBe("succeeded");
  });
});

// "Export the rows of a table. If the answer would be too large, ask for half as many, until it fits or nothing is left to halve."
describe("a retry with another input", () => {
  const page = v.object({ fits: v.boolean(), next: v.number(), file: v.optional(id) });
  const exportRows = step(
    "export-rows",
    { input: v.object({ table: id, rows: v.number() }), output: page },
    ({ table, rows }) => {
      if (rows < 1) throw new FatalError("one row is too large");
      return rows > 100
        ? { fits: false, next: Math.floor(rows / 2) }
        : { fits: true, next: rows, file: `${table}-${rows}` };
    },
  );
  const dump = workflow("dump", { input: v.object({ table: id, rows: v.number() }) }, (flow, input) => {
    const { table } = input;
    const last = flow.repeat(exportRows, (before) => ({ table, rows: orElse(before.next, input.rows) }), {
      until: ({ fits }) => fits,
      every: "1s",
      limit: 30,
    });
    return { file: must(last.file), rows: last.next };
  });

  it("halves until it fits", async () => {
    const run = await testWorkflow(dump, { input: { table: "t", rows: 1000 } });
    expect([await run.end(), run.output]).toEqual(["succeeded", { file: "t-62", rows: 62 }]);
    expect(run.calls("export-rows").map(({ input }) => input)).toEqual(
      [1000, 500, 250, 125, 62].map((rows) => ({ table: "t", rows })),
    );
  });

  it("fails when nothing is left to halve", async () => {
    const never = fakes(
      { exportRows },
      {
        exportRows: async ({ rows }, _, { real }) => {
          if (rows >= 1) return { fits: false, next: Math.floor(rows / 2) };
          await real();
          throw new Error("the real one throws");
        },
      },
    );
    const run = await testWorkflow(dump, { input: { table: "t", rows: 4 }, steps: never });
    expect([await run.end(), run.reason]).toEqual([
      "failed",
      { code: "fatal", message: "export-rows: one row is too large" },
    ]);
  });
});

// "Move the customers to the new database. Copy every shard, compare what arrived, and only if all is the same and somebody says
// so, switch over. Look again after an hour; if anything differs then, switch back and throw the copies away."
describe("a migration in two phases", () => {
  const shard = v.object({ shard: id });
  const copied = v.object({ shard: id, rows: v.number() });
  const copies = v.object({ copies: v.array(copied) });
  const copy = step("copy", { input: shard, output: copied, timeout: "10m", heartbeat: "1m" }, ({ shard: of }) => ({
    shard: of,
    rows: 10,
  }));
  const discard = step("discard", { input: copies }, () => {});
  const compare = step("compare", { input: copies }, () => {});
  const turn = step(
    "turn",
    { input: v.object({ to: v.picklist(["old", "new"]) }), output: v.object({ to: id }) },
    ({ to }) => ({ to }),
  );
  const migration = workflow("migration", { input: v.object({ shards: v.array(id) }) }, (flow, input) =>
    flow.series((inOrder) => {
      const all = inOrder.map(input.shards, (each) => call(copy, { shard: each }), {
        concurrency: 4,
        compensate: (done) => call(discard, { copies: done }),
      });
      inOrder.run(compare, { copies: all }, { name: "compare-before" });
      inOrder.gate("switch", { about: { shards: input.shards }, timeout: "7d", onTimeout: "reject" });
      inOrder.run(turn, { to: "new" }, { compensate: () => call(turn, { to: "old" }) });
      inOrder.sleep("soak", "1h");
      inOrder.run(compare, { copies: all }, { name: "compare-after" });
      return { copies: all };
    }),
  );
  const start = (compares: Parameters<typeof fakes<{ compare: typeof compare }>>[1]["compare"]) =>
    testWorkflow(migration, {
      input: { shards: ["a", "b"] },
      steps: fakes({ compare }, { compare: compares ?? (() => {}) }),
    });

  it("switches over when all is the same, and stays", async () => {
    const run = await start(undefined);
    await run.end();
    await run.decide("switch", { approved: true });
    expect([await run.end(), run.calls("turn").map(({ input }) => input)]).toEqual(["succeeded", [{ to: "new" }]]);
  });

  it("never asks to switch when the copies differ", async () => {
    const run = await start(fail(new FatalError("b: 9 rows of 10")));
    expect([await run.end(), run.calls("turn"), run.calls("discard").length]).toEqual(["failed", [], 1]);
  });

  it("switches back, and then throws the copies away, when they differ later", async () => {
    const run = await start((_, { node }) => {
      if (node === "compare-after") throw new FatalError("b: 9 rows of 11");
    });
    await run.end();
    await run.decide("switch", { approved: true });
    expect([await run.end(), run.reason?.message]).toEqual(["failed", "compare-after: b: 9 rows of 11"]);
    expect(run.calls("turn").map(({ input }) => input)).toEqual([{ to: "new" }, { to: "old" }]);
    expect(run.calls("discard").length).toBe(1);
  });

  it("throws the copies away when nobody says so within a week", async () => {
    const run = await start(undefined);
    await run.end();
    await run.advance("8d");
    expect([run.status, run.calls("discard").length, run.calls("turn")]).toEqual(["failed", 1, []]);
  });
});

// "Summarise a document with the cheap model and let a second one judge it. If the judge is not content, or the cheap model is down,
// ask the dear one; if that is no good either, a person writes it."
describe("an AI pipeline with a judge", () => {
  const summary = v.object({ text: v.string() });
  const ask = step(
    "ask",
    {
      input: v.object({ model: v.picklist(["cheap", "dear"]), doc: id }),
      output: summary,
      timeout: "2m",
      retry: { attempts: 2 },
    },
    ({ model }) => ({ text: model }),
  );
  const judge = step(
    "judge",
    { input: v.object({ doc: id, text: v.string() }), output: v.object({ score: v.number() }) },
    () => ({ score: 0.9 }),
  );
  const written = signal("written", summary);
  const summarise = workflow("summarise", { input: v.object({ doc: id }) }, (flow, input) => {
    const { doc } = input;
    const attempt = (model: "cheap" | "dear", trying: Flow) => {
      const asked = trying.run(ask, { model, doc }, { name: model, onFailure: "continue" });
      return trying.given(asked.value, ({ text }, answered) => {
        const judged = answered.run(judge, { doc, text }, { name: `judge-${model}` });
        return answered.when(gte(judged.score, 0.7), () => text);
      });
    };
    const cheap = attempt("cheap", flow);
    const dear = flow.when(not(exists(cheap)), (again) => attempt("dear", again));
    const model = coalesce(cheap, dear);
    const human = flow.when(not(exists(model)), (byHand) => byHand.signal(written, { timeout: "5d" }));
    return { text: coalesce(model, human.text) };
  });
  const judging = (cheap: number, dear: number) =>
    fakes({ judge }, { judge: ({ text }) => ({ score: text === "cheap" ? cheap : dear }) });

  it("takes the cheap model's summary if it is good", async () => {
    const run = await testWorkflow(summarise, { input: { doc: "d" }, steps: judging(0.8, 0) });
    expect([await run.end(), run.output, run.calls("ask").length]).toEqual(["succeeded", { text: "cheap" }, 1]);
  });

  it("asks the dear one if it is not, or if the cheap one is down", async () => {
    const poor = await testWorkflow(summarise, { input: { doc: "d" }, steps: judging(0.3, 0.8) });
    expect([await poor.end(), poor.output]).toEqual(["succeeded", { text: "dear" }]);
    const down = fakes(
      { ask },
      {
        ask: ({ model }) => {
          if (model === "cheap") throw new Error("overloaded");
          return { text: model };
        },
      },
    );
    const run = await testWorkflow(summarise, { input: { doc: "d" }, steps: down });
    expect([await run.end(), run.output, run.calls("cheap").length]).toEqual(["succeeded", { text: "dear" }, 2]);
  });

  it("has a person write it if neither is any good", async () => {
    const run = await testWorkflow(summarise, { input: { doc: "d" }, steps: judging(0.3, 0.4) });
    await run.end();
    expect(run.waitingFor).toEqual([{ kind: "signal", name: "written" }]);
    await run.signal(written, { text: "by hand" });
    expect([run.status, run.output]).toEqual(["succeeded", { text: "by hand" }]);
  });
});
