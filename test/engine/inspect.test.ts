import * as v from "valibot";
import { expect, test } from "vitest";
import { cancel, pause, signal as send, terminate } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { findRun, readResult, timeline } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import { type AnyWorkflow, call, createRegistry, Fault, signal, step, workflow } from "../../lib/index.ts";
import { createWorld, type World } from "../../lib/testing/world.ts";

const number = v.object({ n: v.number() });
const ref = { tenant: "default", runId: "r" };
const never = new Promise<never>(() => {});
const last = step("last", { input: number }, () => {});
const go = signal("go", v.object({ n: v.number() }));

async function begin(workflow: AnyWorkflow, input: unknown = { n: 1 }): Promise<World> {
  const world = createWorld({ registry: createRegistry([workflow]), functionMs: 60_000 });
  await start(world.engine, { workflow: workflow.name, runId: "r", input });
  return world;
}

const hasEnded = (world: World) => async () => (await findRun(world.engine, ref))?.endedAtMs !== undefined;

/** What a timeline says, without the instants that nobody chose. */
async function told(world: World, name: string) {
  const { nodes } = await timeline(world.engine, ref);
  const node = nodes.find((each) => each.name === name);
  const fromMs = world.clock.nowMs();
  return (
    node && {
      ...node,
      attempts: node.attempts.map(({ state, attempt, index }) => `${index}/${attempt} ${state}`),
      fromMs,
    }
  );
}

test("a step whose first attempt timed out yields what the second one did", async () => {
  const slow = step(
    "slow",
    { input: number, output: number, timeout: "1s", retry: { attempts: 2 } },
    async ({ n }, { attempt }) => (attempt === 1 ? await never : { n: n + 1 }),
  );
  const world = await begin(workflow("w", { input: number }, (flow, input) => ({ n: flow.run(slow, input).n })));
  await world.until(hasEnded(world));
  expect((await readResult(world.engine, ref)).output).toEqual({ ok: true, value: { n: 2 } });
  expect((await told(world, "slow"))?.attempts).toEqual(["0/1 timed-out", "0/2 ok"]);
});

test("a run that waits shows what for, and until when", async () => {
  const world = await begin(
    workflow("w", { input: number }, (flow, input) => {
      const pause = flow.sleep("pause", "3d");
      const gone = flow.signal(go, { timeout: "1d" });
      const boss = flow.gate("boss", { timeout: "2h", onTimeout: "reject" });
      flow.run(last, input, { after: [pause, gone, boss] });
    }),
  );
  await world.deliver();
  const { nodes, status, toMs, nowMs } = await timeline(world.engine, ref);
  expect({ status, toMs }).toEqual({ status: "running", toMs: undefined });
  expect(nodes.map(({ name, state, attempts: [at] }) => [name, state, at?.state, (at?.untilMs ?? 0) - nowMs])).toEqual([
    ["pause", "open", "waiting", 3 * 86_400_000],
    ["go", "open", "waiting", 86_400_000],
    ["boss", "open", "waiting", 7_200_000],
    ["last", "pending", undefined, -nowMs],
  ]);
});

test("a timer that fired and a time-out that is data leave no record, and are shown all the same", async () => {
  const world = await begin(
    workflow("w", { input: number }, (flow, input) => {
      const slept = flow.sleep("pause", "3d");
      const gone = flow.signal(go, { timeout: "1d", onTimeout: "continue", after: [slept] });
      flow.run(last, input, { after: [gone] });
    }),
  );
  await world.until(hasEnded(world));
  const { nodes, fromMs } = await timeline(world.engine, ref);
  const spans = nodes
    .slice(0, 2)
    .map(({ attempts: [at] }) => [at?.state, (at?.fromMs ?? 0) - fromMs, (at?.toMs ?? 0) - fromMs]);
  expect(spans).toEqual([
    ["ok", 0, 3 * 86_400_000],
    ["timed-out", 3 * 86_400_000, 4 * 86_400_000],
  ]);
});

test("a gate shows who decided and what they said, a signal when it was taken", async () => {
  const world = await begin(
    workflow("w", { input: number }, (flow, input) => {
      const boss = flow.gate("boss", { after: [flow.signal(go)] });
      flow.run(last, input, { after: [boss] });
    }),
  );
  await world.advance(1_000);
  await send(world.engine, ref, { signal: "go", payload: { n: 1 } });
  await world.advance(2_000);
  await decide(world.engine, ref, { gate: "boss", approved: true, by: "mei", comment: "fine" });
  await world.until(hasEnded(world));
  const { nodes, fromMs } = await timeline(world.engine, ref);
  expect(nodes[0]?.attempts).toEqual([{ index: 0, attempt: 1, state: "ok", fromMs, toMs: fromMs + 1_000 }]);
  expect(nodes[1]?.attempts[0]).toMatchObject({
    state: "decided",
    decision: { approved: true, by: "mei", comment: "fine" },
    toMs: fromMs + 3_000,
  });
});

test("a wide map is summed up, and only items with a story are listed", async () => {
  const item = step("item", { input: number, output: number, retry: { attempts: 2 } }, ({ n }, { attempt }) => {
    if (n === 7 && attempt === 1) throw new Error("seven");
    return { n };
  });
  const list = v.object({ list: v.array(number) });
  const world = await begin(
    workflow("w", { input: list }, (flow, input) => {
      flow.map(input.list, (each) => call(item, { n: each.n }));
    }),
    { list: Array.from({ length: 20 }, (_, n) => ({ n })) },
  );
  await world.until(hasEnded(world));
  expect(await told(world, "item")).toMatchObject({
    state: "done",
    items: { total: 20, done: 20, failed: 0, inFlight: 0, retries: 1 },
    attempts: ["7/1 failed", "7/2 ok"],
    hidden: 19,
  });
});

test("inline attempts are told from the row and its pages, compensations by what they undo, the rest as skipped", async () => {
  const quick = step("quick", { input: number, output: number, inline: true }, ({ n }) => ({ n }));
  const undo = step("undo", { input: number }, () => {});
  const bad = step("bad", { input: number, inline: true, retry: { attempts: 2 } }, () => {
    throw new Error("no luck");
  });
  const world = await begin(
    workflow("w", { input: number }, (flow, input) => {
      const done = flow.run(quick, input, { compensate: (made) => call(undo, made) });
      flow.run(bad, done);
    }),
  );
  await world.until(hasEnded(world));
  const { nodes, reason, status } = await timeline(world.engine, ref);
  expect({ status, reason }).toEqual({ status: "failed", reason: { code: "handler-failed", message: "bad: no luck" } });
  expect(
    nodes.map(({ name, state, undoes, attempts }) => [name, state, undoes, attempts.map((at) => at.state)]),
  ).toEqual([
    ["quick", "done", undefined, ["ok"]],
    ["bad", "failed", undefined, ["failed", "failed"]],
    ["quick.undo", "done", "quick", ["ok"]],
  ]);
});

test("what a terminated run left running says so; what a cancelled run waited for was cancelled", async () => {
  const hangs = step("hangs", { input: number }, async () => await never);
  const world = await begin(
    workflow("w", { input: number }, (flow, input) => {
      flow.run(hangs, input);
    }),
  );
  await world.deliver();
  await terminate(world.engine, ref, "ops");
  await world.until(hasEnded(world));
  expect((await told(world, "hangs"))?.attempts).toEqual(["0/1 left"]);

  const waits = await begin(
    workflow("w", { input: number }, (flow, input) => {
      flow.run(last, input, { after: [flow.sleep("pause", "3d")] });
    }),
  );
  await waits.advance(1_000);
  await pause(waits.engine, ref, "ops");
  await cancel(waits.engine, ref, "ops");
  await waits.until(hasEnded(waits));
  expect((await told(waits, "pause"))?.attempts).toEqual(["0/1 cancelled"]);
});

test("nobody's timeline is a fault, nobody's row is nothing", async () => {
  const world = await begin(
    workflow("w", { input: number }, (flow, input) => {
      flow.run(last, input, { after: [flow.sleep("pause", "3d")] });
    }),
  );
  const nobody = { ...ref, runId: "nobody" };
  expect(await findRun(world.engine, nobody)).toBeUndefined();
  await expect(timeline(world.engine, nobody)).rejects.toSatisfy((error) => Fault.is(error, "run-not-found"));
});
