import * as v from "valibot";
import { expect, test } from "vitest";
import { isSettled, statusOf } from "../../lib/core/run.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import { createRegistry, step, workflow } from "../../lib/index.ts";
import { createWorld } from "../../lib/testing/world.ts";

const add = (name: string, extra = {}) =>
  step(name, { input: v.object({ n: v.number() }), output: v.object({ n: v.number() }), ...extra }, ({ n }) => ({
    n: n + 1,
  }));

function chain(steps: number, extra: object) {
  return workflow("chain", { input: v.object({ n: v.number() }) }, (flow, input) => {
    const one = add("add", extra);
    let at = flow.run(one, input, { name: "s0" });
    for (let i = 1; i < steps; i++) at = flow.run(one, at, { name: `s${i}` });
    return { n: at.n };
  });
}

for (const [name, extra] of [
  ["remote", {}],
  ["inline", { inline: true }],
] as const) {
  test(`a ${name} chain runs to its end`, async () => {
    const world = createWorld({ registry: createRegistry([chain(10, extra)]) });
    await start(world.engine, { workflow: "chain", runId: "r1", input: { n: 1 } });
    const ref = { tenant: "default", runId: "r1" };
    await world.until(async () => isSettled((await findRun(world.engine, ref))!), 3_600_000);
    const result = await readResult(world.engine, ref);
    expect(world.thrown).toEqual([]);
    if (result.run.phase !== "succeeded") console.log(result.run, world.log.entries);
    expect(statusOf(result.run)).toBe("succeeded");
    expect(result.output).toEqual({ ok: true, value: { n: 11 } });
    console.log(name, world.units.units(), world.metrics.totals());
  });
}
