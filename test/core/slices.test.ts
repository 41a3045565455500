import { describe, expect, test } from "vitest";
import { outcomeFields, outcomeFrom } from "../../lib/core/attempt-format.ts";
import type { MapNode } from "../../lib/core/definition.ts";
import { fixed } from "../../lib/core/limits.ts";
import { programOf } from "../../lib/core/program.ts";
import { cutOf, factsOfReport, rangeOf, reportOf, slicedFrom, workflowOf } from "../../lib/core/slices.ts";
import { validate } from "../../lib/core/validate.ts";
import { digest } from "../../lib/digest.ts";
import { ref, stepBody, stepNode } from "./fixture.ts";

const map = (more: object = {}): MapNode =>
  ({ kind: "map", name: "m", items: ref("$input", "list"), body: stepBody(), concurrency: 500, ...more }) as MapNode;
const slicedOf = (node: MapNode, others: ReturnType<typeof stepNode>[] = []) => {
  const definition = { format: 1, workflow: "w", nodes: [stepNode("a"), node, ...others] } as const;
  expect(validate(definition)).toEqual([]);
  return slicedFrom(programOf(definition, "f".repeat(32)), node, 1);
};

describe("how a wide map is cut", () => {
  test("never has more in flight than was asked for, keeps slices small, and fills a row", () => {
    for (const concurrency of [65, 100, 127, 128, 129, 500, 1000, 4095, 4096]) {
      for (const total of [0, 1, 64, 65, 999, 1000, 5000, 1_000_000]) {
        const cut = cutOf(concurrency, total);
        expect(cut.atOnce * cut.concurrency).toBeLessThanOrEqual(concurrency);
        expect(cut.atOnce * cut.concurrency).toBeGreaterThan(concurrency - cut.atOnce);
        expect(cut.concurrency).toBeLessThanOrEqual(fixed.activeMax);
        expect(cut.atOnce).toBeLessThanOrEqual(fixed.activeMax);
        expect(cut.size).toBeLessThanOrEqual(fixed.sliceItemsMax);
        const slices = Array.from({ length: Math.ceil(total / cut.size) }, (_, slice) => rangeOf(cut, total, slice));
        expect(slices.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(total);
      }
    }
  });

  // stored runs rest on these: whatever is mended elsewhere, they stay
  test.each([
    [65, 10, { size: 64, atOnce: 2, concurrency: 32 }],
    [100, 1000, { size: 512, atOnce: 2, concurrency: 50 }],
    [500, 1000, { size: 128, atOnce: 8, concurrency: 62 }],
    [500, 1025, { size: 144, atOnce: 8, concurrency: 62 }],
    [4096, 10_000, { size: 160, atOnce: 64, concurrency: 64 }],
    [4096, 1_000_000, { size: 512, atOnce: 64, concurrency: 64 }],
  ])("%i at once over %i items: %j", (concurrency, total, cut) => {
    expect(cutOf(concurrency, total)).toEqual(cut);
  });
});

describe("a slice's definition", () => {
  const input = {
    item: ref("$item"),
    at: { $: ["text", ref("$index"), ref("$input", "first"), ref("a", "b"), ref("$input", "first")] },
    quoted: { $: ["quote", { $: ["ref", "a"] }] },
  };

  test("reads what its body reads from its own input, and is the same for everybody", () => {
    const { definition, reads } = slicedOf(map({ body: stepBody({ input }), tolerate: { share: 0.5 } }));
    expect(reads).toEqual({ r0: ref("$input", "first"), r1: ref("a", "b") });
    const own = (name: string) => ref("$input", "reads", name);
    expect(definition).toEqual({
      format: 1,
      workflow: "w/1",
      nodes: [
        {
          kind: "map",
          name: "m",
          items: ref("$input", "items"),
          body: stepBody({
            input: { ...input, at: { $: ["text", ref("$index"), own("r0"), own("r1"), own("r0")] } },
          }),
          concurrency: 62,
          tolerate: { share: 0.5 },
        },
      ],
      sliceOf: { concurrency: 500 },
    });
    expect(workflowOf(definition)).toBe("w");
    expect(digest(definition)).toBe("2f1fec4868d49b1acd4606b7eea4cbd2");
  });

  test("says that it is undone as a whole, if it is; and nobody may write one", () => {
    const undo = { ...stepNode("u", ["m"]), compensates: "m" };
    const { definition } = slicedOf(map(), [undo]);
    expect(definition.sliceOf).toEqual({ concurrency: 500, isUndone: true });
    expect(
      validate(definition)
        .map(({ message }) => message)
        .join(),
    ).toContain("nobody knows it");
  });

  test("of a workflow that starts itself starts that, not the slice", () => {
    const body = { kind: "child", workflow: "w", definition: "self", input: null };
    expect(slicedOf(map({ body })).definition.nodes[0]).toMatchObject({ body: { definition: "f".repeat(32) } });
  });
});

describe("a slice's notice", () => {
  test("is an attempt's end of format 1, with its report as facts", () => {
    const report = { done: 126, count: 128, message: "out of stock" };
    const fields = outcomeFields({ kind: "ok", facts: factsOfReport(report) });
    expect(fields["v"]).toBe("ok");
    expect(Buffer.from(fields["f"] as Uint8Array).toString("hex")).toBe("0302fc01028002030c6f7574206f662073746f636b");
    const outcome = outcomeFrom(fields);
    expect(outcome && reportOf(outcome)).toEqual(report);
    expect(reportOf({ kind: "ok", facts: factsOfReport({ done: 3, count: 3 }) })).toEqual({ done: 3, count: 3 });
  });

  test("of a slice that never came to be says that nothing of it is done", () => {
    expect(reportOf({ kind: "cancelled" }, 7)).toEqual({ done: 0, count: 7, message: "the slice was cancelled" });
    const fault = { code: "child-failed", message: "no" } as const;
    expect(reportOf({ kind: "failed", fault }, 7)).toEqual({ done: 0, count: 7, message: "no" });
  });
});
