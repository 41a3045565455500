import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  createRegistry,
  FatalError,
  Fault,
  RetryableError,
  type StepContext,
  signal,
  step,
  workflow,
} from "../../lib/index.ts";

const context: StepContext = {
  tenant: "t",
  runId: "r",
  node: "n",
  index: 0,
  attempt: 2,
  idempotencyKey: "k",
  signal: new AbortController().signal,
  token: "",
  heartbeat: async () => {},
};

type Loose = never;
/** Calls a step the way a worker does; a fault comes back as its code and message. */
async function run(handler: (input: Loose, context: StepContext) => unknown, raw: unknown, schemas: object = {}) {
  const made = step("s", { input: v.unknown(), output: v.unknown(), ...schemas } as Loose, handler as Loose);
  const registry = createRegistry([workflow("w", { input: v.unknown() }, (flow) => flow.run(made, null as Loose))]);
  try {
    const prepared = await registry.handler("s@1")?.prepare(raw as Loose);
    return await prepared?.(context);
  } catch (error) {
    if (!Fault.is(error)) throw error;
    return { fault: error.code, message: error.message, ...error.details };
  }
}

describe("a handler", () => {
  test("gets the kept side of its input and its context, and yields the kept side of its output", async () => {
    const schemas = {
      input: z.object({ at: z.iso.datetime().transform((iso) => new Date(iso)), many: z.number().default(3) }),
      output: z.object({ at: z.date().transform((date) => date.toISOString()), extra: z.number() }),
    };
    const handler = ({ at, many }: { at: Date; many: number }, { attempt }: StepContext) => ({
      at,
      extra: many * attempt,
      more: 1,
    });
    expect(await run(handler as Loose, { at: "2026-01-01T00:00:00Z" }, schemas)).toEqual({
      at: "2026-01-01T00:00:00.000Z",
      extra: 6,
    });
  });

  test.each([
    ["valibot", v.object({ lines: v.array(v.object({ sku: v.string() })) })],
    ["zod", z.object({ lines: z.array(z.object({ sku: z.string() })) })],
    ["arktype", type({ lines: type({ sku: "string" }).array() })],
  ])("refuses input that does not fit before it is called (%s)", async (_, input) => {
    let isCalled = false;
    const answer = await run(
      () => {
        isCalled = true;
      },
      { lines: [{ sku: "a" }, { sku: 5 }] },
      { input },
    );
    expect(answer).toMatchObject({ fault: "bad-input", message: expect.stringMatching(/^input\.lines\[1\]\.sku: /) });
    expect(isCalled).toBe(false);
  });

  test("names every complaint, and counts those beyond five", async () => {
    const answer = await run(() => {}, Array(8).fill(1), { input: v.array(v.string()) });
    expect(answer).toMatchObject({ message: expect.stringMatching(/^input\[0\]: .*; input\[4\]: .*; and 3 more$/) });
  });

  const depths: Record<string, unknown> = {};
  depths["self"] = depths;
  class Money {}
  test.each<[string, unknown, string]>([
    [
      "a Date",
      { lines: [{}, {}, { at: new Date(0) }] },
      "output.lines[2].at is a Date, which JSON lacks: use an ISO string or a number",
    ],
    ["a function", { f: () => 1 }, "output.f is a function, which JSON lacks"],
    ["a bigint", [1n], "output[0] is a bigint, which JSON lacks: use a string"],
    [
      "an instance",
      { price: new Money() },
      "output.price is an instance of Money, which JSON lacks: use a plain object",
    ],
    [
      "undefined in a list",
      [1, undefined],
      "output[1] is undefined, which JSON lacks: use null, or leave the property out",
    ],
    ["nothing at all", undefined, "output is undefined, which JSON lacks: use null, or leave the property out"],
    ["NaN", { n: Number.NaN }, "output.n is NaN, which JSON lacks: use null"],
    ["a symbol", Symbol("x"), "output is a symbol, which JSON lacks"],
    ["a promise that nobody awaited", { p: Promise.resolve(1) }, "output.p is a promise, which JSON lacks: await it"],
  ])("refuses to store %s", async (_, output, message) => {
    expect(await run(() => output, null)).toEqual({ fault: "bad-output", message });
  });

  test("refuses to store a cycle", async () => {
    expect(await run(() => depths, null)).toMatchObject({
      fault: "bad-output",
      message: expect.stringMatching(/holds itself$/),
    });
  });

  test("refuses output that does not fit", async () => {
    const answer = await run(() => ({ id: 5 }), null, { output: v.object({ id: v.string() }) });
    expect(answer).toMatchObject({ fault: "bad-output", message: expect.stringMatching(/^output\.id: /) });
  });

  test("leaves properties out that are undefined", async () => {
    expect(await run(() => ({ a: undefined, b: 1 }), null)).toEqual({ b: 1 });
  });

  test("without an output schema yields null, whatever it returns", async () => {
    expect(await run(() => "ignored", null, { output: undefined })).toBeNull();
  });

  test.each<[string, unknown, object]>([
    ["an error", new Error("no route"), { fault: "handler-failed", message: "no route" }],
    ["an error without a message", new TypeError(), { fault: "handler-failed", message: "TypeError" }],
    ["a thrown string", "odd", { fault: "handler-failed", message: "odd" }],
    ["FatalError", new FatalError("card stolen"), { fault: "fatal", message: "card stolen" }],
    [
      "RetryableError",
      new RetryableError("busy", { after: "2m" }),
      { fault: "handler-failed", message: "busy", afterMs: 120_000 },
    ],
    [
      "RetryableError with no duration",
      new RetryableError("busy", { after: "soon" as Loose }),
      { fault: "handler-failed", message: "busy" },
    ],
  ])("turns %s into a fault", async (_, error, fault) => {
    expect(
      await run(() => {
        throw error;
      }, null),
    ).toEqual(fault);
  });
});

describe("a registry", () => {
  const leaf = step("leaf", { input: v.object({ id: v.string() }) }, () => {});
  const paid = signal("paid", v.object({ by: v.optional(v.string(), "nobody") }));
  const child = workflow("child", { input: v.object({ id: v.string() }) }, (flow, input) => flow.run(leaf, input));
  const parent = workflow("parent", { input: v.object({ id: v.optional(v.string(), "none") }) }, (flow, input) => {
    const by = flow.signal(paid);
    return { by: by.by, child: flow.child(child, { id: input.id }) };
  });

  test("knows workflows by name and hash, their children and their steps", () => {
    const registry = createRegistry([parent]);
    expect(registry.workflow("child")?.definition).toBe(child.definition);
    expect(registry.byHash(parent.hash)?.name).toBe("parent");
    expect(registry.handler("leaf@1")?.ref).toBe("leaf@1");
    expect([registry.workflow("x"), registry.byHash("x"), registry.handler("x")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("parses input and signals to what is stored", async () => {
    const known = createRegistry([parent, child]).workflow("parent");
    expect(await known?.parseInput({})).toEqual({ id: "none" });
    expect(await known?.parseSignal("paid", {})).toEqual({ by: "nobody" });
    await expect(known?.parseInput({ id: 1 })).rejects.toMatchObject({
      code: "bad-input",
      message: expect.stringMatching(/^input\.id: /),
    });
    await expect(known?.parseSignal("paid", 1)).rejects.toMatchObject({
      code: "bad-input",
      message: expect.stringMatching(/^payload: /),
    });
    await expect(known?.parseSignal("piad", {})).rejects.toMatchObject({
      code: "bad-input",
      message: 'workflow "parent" has no signal "piad": it waits for paid',
    });
  });

  test("refuses two steps of one address, and two workflows of one name", () => {
    const other = step("leaf", { input: v.object({ id: v.string() }) }, () => {});
    const twin = workflow("child", { input: v.object({ id: v.string() }) }, (flow, input) =>
      flow.run(other, input, { name: "twin" }),
    );
    expect(() => createRegistry([parent, twin])).toThrow(
      /two workflows are called "child": rename one; two steps are "leaf@1"|two steps are "leaf@1": rename one, or raise its version; two workflows/,
    );
  });
});
