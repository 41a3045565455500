import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { order } from "../../examples/order/workflow.ts";
import { registry, workflows } from "../../examples/registry.ts";
import { ask, sandbox } from "../../examples/sandbox.ts";
import { type StepContext, validate } from "../../lib/index.ts";

const at = (attempt: number): StepContext => ({
  tenant: "t",
  runId: "r",
  node: "n",
  index: 0,
  attempt,
  idempotencyKey: "k",
  signal: new AbortController().signal,
  token: "",
  heartbeat: async () => {},
});

describe("the sandbox", () => {
  const real = { ...sandbox };
  const seen: string[] = [];
  beforeEach(() => {
    seen.length = 0;
    sandbox.crash = async () => {
      seen.push("crash");
      throw new Error("the worker died");
    };
    sandbox.pause = async (ms) => {
      seen.push(`${ms} ms`);
    };
  });
  afterEach(() => {
    Object.assign(sandbox, real);
  });

  const answer = async (subject: string, attempt: number) => {
    const failed = await ask("it", subject, at(attempt)).catch((error: Error) => `${error.name}: ${error.message}`);
    return failed ?? "ok";
  };

  test.each([
    ["card-1", "ok", "ok", []],
    ["card-flaky", "Error: it did not answer", "ok", []],
    ["busy@mail.test", "RetryableError: it is busy", "ok", []],
    ["card-broken", "Error: it is down", "Error: it is down", []],
    ["card-refused", "FatalError: it refused card-refused", "FatalError: it refused card-refused", []],
    ["sku-crash-7", "Error: the worker died", "ok", ["crash"]],
    ["slow-street", "ok", "ok", ["2000 ms", "2000 ms"]],
    ["hanging", "ok", "ok", ["3600000 ms"]],
    ["unbroken", "ok", "ok", []],
  ])("%s: %s, then %s", async (subject, first, second, events) => {
    expect([await answer(subject, 1), await answer(subject, 2)]).toEqual([first, second]);
    expect(seen).toEqual(events);
  });
});

describe("the examples", () => {
  test.each(workflows.map((workflow) => [workflow.name, workflow] as const))(
    "%s has a definition without faults",
    (_, { definition }) => expect(validate(definition)).toEqual([]),
  );

  test("every handler that a definition names is registered", () => {
    const named = workflows
      .flatMap(({ definition }) => definition.nodes)
      .map((node) => (node.kind === "map" ? node.body : node));
    for (const node of named) if (node.kind === "step") expect(registry.handler(node.handler)?.ref).toBe(node.handler);
  });

  test("the saga can undo what was reserved and what was paid", () => {
    const hidden = order.definition.nodes.filter(({ compensates }) => compensates !== undefined);
    expect(hidden.map(({ compensates }) => compensates)).toEqual(["reserve", "charge"]);
  });

  test.each([
    [
      "price@1",
      {
        lines: [
          { sku: "a", quantity: 2, unitCents: 150 },
          { sku: "b", quantity: 1, unitCents: 5 },
        ],
      },
      { totalCents: 305 },
    ],
    ["reserve@1", { orderId: "o", sku: "a", quantity: 2 }, { reservationId: "o-0", sku: "a", quantity: 2 }],
    ["charge@1", { orderId: "o", card: "card", cents: 5 }, { receiptId: "receipt-o", card: "card", cents: 5 }],
    ["mail@1", { to: "a@b.test", message: "hi" }, null],
    [
      "assemble@1",
      {
        pages: [
          { ok: true, value: { number: 0, words: 5, confidence: 0.9 } },
          { ok: false, error: { code: "fatal", message: "torn" } },
        ],
      },
      { words: 5, missing: [1], confidence: 0.9, text: "" },
    ],
    [
      "report@1",
      {
        documents: [
          { ok: true, value: { isPublished: true, place: "x" } },
          { ok: false, error: { code: "fatal", message: "" } },
        ],
      },
      { published: 1, setAside: 0, failed: 1 },
    ],
  ])("%s yields the same for the same input", async (ref, input, output) => {
    const run = await registry.handler(ref)?.prepare(input);
    expect(await run?.(at(1))).toEqual(output);
  });
});
