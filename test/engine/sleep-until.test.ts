import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { orElse, step, workflow } from "../../lib/index.ts";
import { hour, minute, tell } from "./story.ts";

const sleeper = workflow(
  "sleeper",
  { input: v.object({ at: v.optional(v.union([v.string(), v.number()])), text: v.optional(v.string()) }) },
  (flow, input) => {
    const nap = flow.sleep("nap", { until: orElse(input.at, 0) });
    return { nap };
  },
);

describe("a sleep until an instant", () => {
  const begun = (at: string | number) => {
    const story = tell(sleeper);
    const nowMs = story.world.clock.nowMs();
    return { story, nowMs, at };
  };

  it.each([
    ["near, in text", 10 * minute, (ms: number) => new Date(ms).toISOString()],
    ["far, in text", 50 * hour, (ms: number) => new Date(ms).toISOString()],
    ["with an offset", 2 * hour, (ms: number) => `${new Date(ms + 2 * hour).toISOString().slice(0, -1)}+02:00`],
    ["in milliseconds", 3 * hour, (ms: number) => ms],
  ])("ends then, not before: %s", async (_, afterMs, write) => {
    const { story, nowMs } = begun(0);
    await story.begin({ at: write(nowMs + afterMs) });
    const { status, output, tookMs } = await story.end();
    expect([status, output]).toEqual(["succeeded", { nap: null }]);
    expect(tookMs).toBeGreaterThanOrEqual(afterMs);
    expect(tookMs).toBeLessThan(afterMs + 2 * minute);
  });

  it("ends at once if the instant has passed", async () => {
    const { story, nowMs } = begun(0);
    await story.begin({ at: nowMs - hour });
    expect(await story.end()).toMatchObject({ status: "succeeded", tookMs: 0 });
  });

  it.each(["tomorrow", "2027-03-01T09:30", "2027-02-30", "", -5, 1.5])("fails if it is none: %s", async (at) => {
    const { story } = begun(0);
    await story.begin({ at });
    const { status, reason, message } = await story.end();
    expect([status, reason]).toEqual(["failed", "bad-input"]);
    expect(message).toContain(`nap: it sleeps until ${JSON.stringify(at)}`);
  });

  it("reads an instant that a step made, and is never longer than the run may take", async () => {
    const plan = step("plan", { input: v.object({}), output: v.object({ at: v.string() }) }, () => ({
      at: "9999-01-01T00:00:00Z",
    }));
    const story = tell(
      workflow("planned", { input: v.object({}) }, (flow) => {
        const { at } = flow.run(plan, {});
        return { nap: flow.sleep("nap", { until: at }) };
      }),
    );
    await story.begin();
    expect(await story.end(400 * 24 * hour)).toMatchObject({ status: "failed", reason: "deadline" });
  });
});
