import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { gt, orElse, step, workflow } from "../../lib/index.ts";
import { tell } from "./story.ts";

const minus = step("minus", { input: v.object({ n: v.number() }), output: v.object({ n: v.number() }) }, ({ n }) => ({
  n: n - 1,
}));
const plus = step("plus", { input: v.object({ n: v.number() }), output: v.object({ n: v.number() }) }, ({ n }) => ({
  n: n + 1,
}));

const countdown = workflow(
  "countdown",
  { input: v.object({ n: v.number() }), output: v.object({ depth: v.number() }) },
  (flow, input) => {
    const below = flow.when(gt(input.n, 0), (inner) => {
      const next = inner.run(minus, { n: input.n });
      return inner.self({ n: next.n });
    });
    const counted = flow.run(plus, { n: orElse(below.depth, 0) });
    return { depth: counted.n };
  },
);

describe("a workflow that starts itself", () => {
  it("runs on its own definition, as deep as its condition says", async () => {
    const story = tell(countdown);
    await story.begin({ n: 3 });
    expect(await story.end()).toMatchObject({ status: "succeeded", output: { depth: 4 } });
  });

  it("ends by the depth that runs may nest to, if its condition never does", async () => {
    const story = tell(countdown);
    await story.begin({ n: 1000 });
    const { status, reason } = await story.end();
    expect([status, reason]).toEqual(["failed", "child-failed"]);
  });

  it("is named without its hash, so that it can have one", () => {
    const [, self] = countdown.definition.nodes;
    expect(self).toMatchObject({ kind: "child", name: "self", workflow: "countdown", definition: "self" });
  });

  it("goes on by the definition it began with after a deploy has changed the workflow", async () => {
    const story = tell(countdown);
    await story.begin({ n: 2 });
    const { hash } = countdown;
    expect((await story.run()).definitionHash).toBe(hash);
    const handler = story.engine.registry.handler.bind(story.engine.registry);
    story.world.withEngine({
      registry: { workflow: () => undefined, byHash: () => undefined, handler },
      build: "build-2",
    });
    expect(await story.end()).toMatchObject({ status: "succeeded", output: { depth: 3 } });
  });
});
