import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as orderSteps from "../../examples/order/steps.ts";
import { order } from "../../examples/order/workflow.ts";
import { call, external, FatalError, signal, step, workflow } from "../../lib/index.ts";
import {
  byAttempt,
  crash,
  fail,
  fakes,
  hang,
  late,
  once,
  type Repeated,
  succeed,
  testWorkflow,
} from "../../lib/testing/index.ts";

const n = v.object({ n: v.number() });
const plus = step("plus", { input: n, output: n }, ({ n }) => ({ n: n + 1 }));
const double = step("double", { input: n, output: n, timeout: "10s" }, ({ n }) => ({ n: n * 2 }));
const sums = workflow("sums", { input: n }, (flow, input) => {
  const more = flow.run(plus, { n: input.n });
  return flow.run(double, { n: more.n }).n;
});

describe("a run in memory", () => {
  it("runs real functions unless they are faked, and ends with the workflow's output", async () => {
    const real = await testWorkflow(sums, { input: { n: 1 } });
    expect([real.status, real.output]).toEqual(["succeeded", 4]);
    const faked = await testWorkflow(sums, { input: { n: 1 }, steps: { plus: succeed({ n: 10 }) } });
    expect([faked.status, faked.output]).toEqual(["succeeded", 20]);
  });

  it("checks what a fake yields as it would check the function", async () => {
    const run = await testWorkflow(sums, { input: { n: 1 }, steps: { double: succeed({ n: "no" }) } });
    expect(await run.end()).toBe("failed");
    expect(run.reason?.code).toBe("bad-output");
  });

  it("knows which names there are", async () => {
    await expect(testWorkflow(sums, { input: { n: 1 }, steps: { pluss: hang } })).rejects.toThrow(
      'workflow "sums" has no step "pluss": there are plus, double',
    );
    await expect(testWorkflow(sums, { input: { n: 1 }, children: { x: hang } })).rejects.toThrow("there is none");
    const run = await testWorkflow(sums, { input: { n: 1 } });
    expect(() => run.calls("nobody")).toThrow("plus, double");
  });

  it("fails, tries again and gives up as told", async () => {
    const twice = byAttempt([fail("one"), fail(new Error("two")), succeed({ n: 7 })]);
    const run = await testWorkflow(sums, { input: { n: 1 }, steps: { plus: once(fail("not yet")), double: twice } });
    expect(run.status).toBe("running");
    expect(await run.end()).toBe("succeeded");
    expect(run.calls("plus").map(({ attempt, input, result }) => [attempt, input, result])).toEqual([
      [1, { n: 1 }, "threw"],
      [2, { n: 1 }, "returned"],
    ]);
    expect(new Set(run.calls("double").map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    const fatal = await testWorkflow(sums, { input: { n: 1 }, steps: { plus: fail(new FatalError("never")) } });
    expect([fatal.status, fatal.reason]).toEqual(["failed", { code: "fatal", message: "plus: never" }]);
  });

  it("lets steps hang, come late and take their worker down", async () => {
    const run = await testWorkflow(sums, {
      input: { n: 1 },
      steps: {
        plus: byAttempt([crash, late("20s", succeed({ n: 2 }))]),
        double: byAttempt([hang, late("20s"), late("5s")]),
      },
    });
    expect([await run.end(), run.output]).toEqual(["succeeded", 4]);
    expect(await run.timeline()).toMatchInlineSnapshot(`
      "sums: succeeded after 2m 49s
        plus    done    lost +0s..+2m, ok +2m 1s..+2m 21s
        double  done    timed-out +2m 21s..+2m 31s, timed-out +2m 32s..+2m 42s, ok +2m 44s..+2m 49s"
    `);
  });

  it("waits in real time for functions that do real work", async () => {
    const reads = step("reads", { input: n, output: n }, async ({ n }) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { n };
    });
    const run = await testWorkflow(
      workflow("w", { input: n }, (flow, input) => flow.run(reads, input)),
      { input: { n: 1 } },
    );
    expect([run.status, run.output, await run.timeline()]).toEqual([
      "succeeded",
      { n: 1 },
      "w: succeeded after 0s\n  reads  done    ok +0s",
    ]);
  });
});

const go = signal("go", v.object({ at: v.string() }));
const waits = workflow("waits", { input: n }, (flow, input) => {
  const asleep = flow.sleep("night", "3d");
  const gone = flow.signal(go, { after: [asleep] });
  const boss = flow.gate("boss", { after: [gone], timeout: "2d", onTimeout: "reject" });
  const done = flow.run(plus, { n: input.n }, { after: [boss], compensate: (out) => call(double, out) });
  return { done: done.n, at: gone.at };
});

describe("what a run waits for", () => {
  it("comes by time, by signals and by decisions", async () => {
    const run = await testWorkflow(waits, { input: { n: 1 } });
    expect(run.waitingFor).toEqual([{ kind: "sleep", name: "night" }]);
    await run.advance("3d");
    expect(run.waitingFor).toEqual([{ kind: "signal", name: "go" }]);
    await run.signal(go, { at: "noon" });
    expect(run.waitingFor).toEqual([{ kind: "gate", name: "boss" }]);
    await run.decide("boss", { approved: true, by: "ann" });
    expect([run.status, run.output]).toEqual(["succeeded", { done: 2, at: "noon" }]);
    expect(await run.timeline()).toMatchInlineSnapshot(`
      "waits: succeeded after 3d
        night      done    ok +0s..+3d
        go         done    ok +3d
        boss       done    decided yes by ann +3d
        plus       done    ok +3d
        plus.undo  pending"
    `);
  });

  it("is where end() stops, and a time-out passes it", async () => {
    const run = await testWorkflow(waits, { input: { n: 1 } });
    expect(await run.end()).toBe("running");
    await run.signal("go", { at: "noon" });
    await run.advance("2d");
    expect([run.status, run.reason?.code]).toEqual(["failed", "rejected"]);
    await expect(run.signal("go", { at: "late" })).rejects.toThrow("has failed");
  });

  it("can be paused, resumed, cancelled and terminated", async () => {
    const run = await testWorkflow(waits, { input: { n: 1 } });
    await run.pause({ by: "ops" });
    expect([run.status, await run.end()]).toEqual(["paused", "paused"]);
    await run.resume();
    await run.advance("1d");
    await run.cancel({ by: "ops", reason: "enough" });
    expect([run.status, run.reason?.message]).toEqual(["cancelled", expect.stringContaining("enough")]);
    const other = await testWorkflow(waits, { input: { n: 1 } });
    await other.terminate();
    expect(other.status).toBe("terminated");
  });

  it("may be outside, and is completed by token or by name", async () => {
    const print = external(
      "print",
      { input: n, output: v.object({ pages: v.number() }), completeWithin: "1d" },
      () => {},
    );
    const book = workflow("book", { input: n }, (flow, input) => flow.external(print, input).pages);
    const run = await testWorkflow(book, { input: { n: 3 } });
    await run.end();
    expect(run.waitingFor).toEqual([{ kind: "external", name: "print" }]);
    await expect(run.external("print").complete({ pages: "x" })).rejects.toThrow("pages");
    await run.external("print").fail("jam");
    await run.end();
    expect(run.calls("print")).toHaveLength(2);
    await run.external(run.calls("print")[1]!.token).complete({ pages: 3 });
    expect([run.status, run.output]).toEqual(["succeeded", 3]);
  });
});

describe("children", () => {
  const parent = workflow(
    "parent",
    { input: v.object({ n: v.number(), list: v.array(v.number()) }) },
    (flow, input) => {
      const all = flow.map(input.list, (item) => call(sums, { n: item }));
      const one = flow.child(sums, { n: input.n }, { name: "one", onFailure: "continue" });
      return { all, one };
    },
  );

  it("run for real, or are faked whole", async () => {
    const real = await testWorkflow(parent, { input: { n: 1, list: [0, 1] } });
    await real.end();
    expect(real.output).toEqual({ all: [2, 4], one: { ok: true, value: 4 } });
    const faked = await testWorkflow(parent, {
      input: { n: 1, list: [0, 1] },
      children: fakes({ sums }, { sums: succeed(5) }),
    });
    await faked.end();
    expect(faked.output).toEqual({ all: [5, 5], one: { ok: true, value: 5 } });
    expect(faked.calls("sums").map(({ input }) => input)).toHaveLength(3);
  });

  it("can be taken in hand, by the node that started them and their item", async () => {
    const asks = workflow("asks", { input: n }, (flow, input) => {
      const boss = flow.gate("boss", { about: { n: input.n } });
      return { by: boss.by };
    });
    const asksAll = workflow("asks-all", { input: v.object({ list: v.array(v.number()) }) }, (flow, input) =>
      flow.map(input.list, (item) => call(asks, { n: item })),
    );
    const run = await testWorkflow(asksAll, { input: { list: [1, 2] } });
    const [first, second] = [await run.child("asks"), await run.child("asks", 1)];
    expect([first.waitingFor, second.waitingFor]).toEqual(Array(2).fill([{ kind: "gate", name: "boss" }]));
    await first.decide("boss", { approved: true, by: "ann" });
    await second.decide("boss", { approved: true, by: "mei" });
    expect([first.output, await run.end(), run.output]).toEqual([
      { by: "ann" },
      "succeeded",
      [{ by: "ann" }, { by: "mei" }],
    ]);
    await expect(run.child("asks", 2)).rejects.toThrow('run "run" has started no run by asks, item 2');
    await expect(first.child("boss")).rejects.toThrow("no run by boss");
  });

  it("that have all ended are waited for by end(), though their parent waits for a signal too", async () => {
    const go = signal("stop", n);
    const watched = workflow("watched", { input: v.object({ list: v.array(v.number()) }) }, (flow, input) => {
      const all = flow.map(input.list, (item) => call(sums, { n: item }), { concurrency: 20 });
      return flow.first({ all, stopped: flow.signal(go) }).winner;
    });
    const run = await testWorkflow(watched, { input: { list: Array.from({ length: 30 }, (_, at) => at) } });
    expect([await run.end(), run.output]).toEqual(["succeeded", "all"]);
  });

  it("fail as their fake says", async () => {
    const run = await testWorkflow(
      workflow("w", { input: n }, (flow, input) => flow.child(sums, input, { onFailure: "continue" })),
      { input: { n: 1 }, children: { sums: fail("no sums today") } },
    );
    await run.end();
    expect(run.output).toEqual({ ok: false, error: expect.objectContaining({ code: "child-failed" }) });
  });
});

describe("typed fakes", () => {
  it("see the step's input and must give its output", async () => {
    const steps = fakes(orderSteps, {
      charge: ({ orderId, card, cents }) => ({ receiptId: `r-${orderId}`, card, cents }),
      ship: succeed({ trackingId: "t-1" }),
    });
    // @ts-expect-error: a receipt has cents
    fakes(orderSteps, { charge: succeed({ receiptId: "r" }) });
    const at = step(
      "at",
      { input: v.object({ at: v.pipe(v.string(), v.toDate()) }), output: v.pipe(v.date(), v.transform(String)) },
      ({ at }) => at,
    );
    const print = external("print", { input: n, output: n, completeWithin: "1d" }, () => {});
    const quiet = step("quiet", { input: n }, () => {});
    // the handler's sides: a date in, a date out
    fakes({ at }, { at: ({ at }) => new Date(at.getTime() + 1) });
    // @ts-expect-error: it gives a date, which its schema makes a text
    fakes({ at }, { at: () => "a text" });
    fakes({ print, quiet }, { print: ({ n }) => n.toFixed(), quiet: () => {} });
    // @ts-expect-error: it takes a number
    fakes({ print }, { print: ({ m }) => m });
    // @ts-expect-error: there is no such step
    expect(() => fakes(orderSteps, { chrage: hang })).toThrow('"chrage" to fake among price, reserve');
    const run = await testWorkflow(order, { input: basket, steps });
    expect([await run.end(), run.output?.receiptId]).toEqual(["succeeded", "r-o-1"]);
  });
});

const basket = {
  orderId: "o-1",
  email: "ann@example.com",
  address: "1 Main Street",
  card: "card-1",
  lines: [{ sku: "sku-1", quantity: 2, unitCents: 500 }],
};

describe("an unruly world", () => {
  const repeated: Repeated[] = [];
  it.each(Array.from({ length: 30 }, (_, seed) => seed))("comes to the same end, seed %i", async (seed) => {
    const run = await testWorkflow(order, {
      input: basket,
      seed,
      shuffle: true,
      duplicate: true,
      lose: true,
      crash: true,
    });
    expect([await run.end(), run.reason]).toEqual(["succeeded", undefined]);
    expect(run.output).toEqual({ receiptId: "receipt-o-1", trackingId: "parcel-o-1", isTold: true });
    repeated.push(...run.repeated);
  });

  it("says which effects may have happened twice, and under which key", () => {
    expect(repeated.length).toBeGreaterThan(0);
    for (const { times, idempotencyKey } of repeated)
      expect([times > 1, idempotencyKey.length > 16]).toEqual([true, true]);
  });

  it("is the same for the same seed", async () => {
    const options = { input: basket, seed: "x", shuffle: true, duplicate: true, lose: true, crash: 0.5 };
    const [one, other] = [await testWorkflow(order, options), await testWorkflow(order, options)];
    await one.end();
    await other.end();
    expect(await one.timeline()).toBe(await other.timeline());
    expect(one.repeated).toEqual(other.repeated);
  });
});
