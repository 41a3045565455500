import { describe, expect, test } from "vitest";
import type { NodeDef } from "../../lib/core/definition.ts";
import { type Envelope, envelopeText } from "../../lib/core/envelope.ts";
import { statusOf } from "../../lib/core/run.ts";
import { bury } from "../../lib/engine/bury.ts";
import { cancel, pause, terminate } from "../../lib/engine/commands.ts";
import { coordinate } from "../../lib/engine/coordinate.ts";
import { decide } from "../../lib/engine/decide.ts";
import { findRun } from "../../lib/engine/inspect.ts";
import { envelope, queues, wakeUp } from "../../lib/engine/messages.ts";
import { purge } from "../../lib/engine/purge.ts";
import { attemptKey } from "../../lib/engine/records/attempt.ts";
import { start } from "../../lib/engine/start.ts";
import { work } from "../../lib/engine/work.ts";
import { createWorld, type World } from "../../lib/testing/world.ts";
import { ref, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, rawRegistry, refOf, runOf } from "./raw.ts";

const minute = 60_000;
const nodes: readonly NodeDef[] = [stepNode("a"), { kind: "gate", name: "g", after: ["a"] }, stepNode("z", ["g"])];
const worldOf = (more = {}) =>
  createWorld({ registry: rawRegistry([definitionOf("w", nodes)], { "work@1": () => 1 }), ...more });
const received = (body: string, id = "m1", receiveCount = 1) => ({ id, body, receiveCount, sentAtMs: 0 });
const always = () => 900_000;

test("a decision whose due nobody removed, as whoever took it in died before that, leaves the watchdog's list while the run goes on", async () => {
  let isDown = false;
  const more: readonly NodeDef[] = [
    ...nodes.slice(0, 2),
    { kind: "gate", name: "h", after: ["g"] },
    stepNode("z", ["h"]),
  ];
  const world = createWorld({
    registry: rawRegistry([definitionOf("w", more)], { "work@1": () => 1 }),
    storeHooks: {
      before: ({ op, ...call }) => {
        const isTidying =
          op === "write" && "write" in call && call.write.kind === "edit" && call.write.key.sk.startsWith("ATT#");
        return isDown && isTidying ? { kind: "lose-request" } : undefined;
      },
    },
  });
  await start(world.engine, { workflow: "w", runId: "r", input: null });
  await world.until(async () => (await runOf(world, "r")).active.some((entry) => entry.state === "gate"));
  isDown = true;
  await decide(world.engine, refOf("r"), { gate: "g", approved: true });
  await world.advance(1000);
  isDown = false;
  const dues = () => world.store.snapshot().filter((each) => each.sk.startsWith("ATT#") && each["d"] !== undefined);
  expect(dues()).toHaveLength(1);
  await world.advance(5 * minute);
  expect(dues()).toEqual([]);
  expect((await runOf(world, "r")).active).toHaveLength(1);
  expect(faultsOf(world)).toEqual([]);
});

test("a decision is due no more once it is taken in, by whoever takes it in", async () => {
  const world = worldOf({ hasWatchdog: false });
  const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null });
  await world.advance(1000);
  await decide(world.engine, refOf("r"), { gate: "g", approved: true });
  const due = () => world.store.peek(attemptKey(run, { node: 1, index: 0, attempt: 1 }))?.["d"];
  expect(due()).toBe(world.clock.nowMs() + world.engine.limits.owedGraceMs);
  await coordinate(world.engine, [received(wakeUp(run, { hints: ["1/0/1"] }).body)], always);
  expect((await runOf(world, "r")).active.map((each) => each.node)).toEqual([2]);
  expect(due()).toBeUndefined();
});

test("a decision at a gate of a paused run is taken in, and due no more", async () => {
  const world = worldOf({ hasWatchdog: false });
  const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null });
  await world.advance(1000);
  await pause(world.engine, refOf("r"), "ann");
  await world.advance(1000);
  await decide(world.engine, refOf("r"), { gate: "g", approved: true });
  await world.advance(1000);
  expect(await runOf(world, "r")).toMatchObject({ isPaused: true, active: [{ node: 2, state: "task" }] });
  expect(world.store.peek(attemptKey(run, { node: 1, index: 0, attempt: 1 }))?.["d"]).toBeUndefined();
});

test("a dead task of a run that was purged ends nothing of the one that was started in its place", async () => {
  const world = worldOf({ hasWatchdog: false });
  const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null });
  const dead = envelopeText(envelope(run, { task: { node: 0, index: 0, attempt: 1, sends: 1 } }));
  await terminate(world.engine, refOf("r"), "ann");
  await world.advance(1000);
  await purge(world.engine, refOf("r"));
  const next = (await start(world.engine, { workflow: "w", runId: "r", input: null })).run;
  world.metrics.reset();
  expect(await bury(world.engine, [received(dead)], always)).toEqual([]);
  expect(world.store.peek(attemptKey(next, { node: 0, index: 0, attempt: 1 }))).toBeUndefined();
  expect(world.metrics.total("deliveries-lost")).toBe(0);
  expect((await runOf(world, "r")).active).toMatchObject([{ node: 0, attempt: 1, lost: 0 }]);
});

describe("every kind of message meets every kind of run (W9)", () => {
  const statuses: { readonly [name: string]: (world: World) => Promise<unknown> } = {
    running: async () => {},
    paused: (world) => pause(world.engine, refOf("r"), "ann"),
    succeeded: (world) => decide(world.engine, refOf("r"), { gate: "g", approved: true }),
    failed: (world) => decide(world.engine, refOf("r"), { gate: "g", approved: false }),
    cancelled: (world) => cancel(world.engine, refOf("r"), "ann"),
    terminated: (world) => terminate(world.engine, refOf("r"), "ann"),
    missing: async (world) => {
      await terminate(world.engine, refOf("r"), "ann");
      await world.advance(1000);
      await purge(world.engine, refOf("r"));
    },
    replaced: async (world) => {
      await terminate(world.engine, refOf("r"), "ann");
      await world.advance(1000);
      await purge(world.engine, refOf("r"));
      await start(world.engine, { workflow: "w", runId: "r", input: "other" });
      await world.advance(minute);
    },
  };
  const tasks = { node: 0, index: 0, attempt: 1, sends: 1 };
  const messages: { readonly [name: string]: Partial<Envelope> } = {
    "a bare wake-up": {},
    "a hint at mail": { hints: ["mail"] },
    "a hint at an attempt": { hints: ["0/0/1"] },
    "a timer": { why: "timer", hints: ["1/0/1"] },
    "a watchdog's": { why: "watchdog", sk: "STATE" },
    "an unpark": { why: "unpark", isAll: true },
    "a requeue": { hints: ["mail"], requeues: 12, requeuesAtSeq: 1 },
    "a task": { task: tasks },
  };
  const cases = Object.keys(messages).flatMap((message) =>
    Object.keys(statuses).map((status) => [message, status] as const),
  );

  test.each(cases)("%s, on a run that is %s", async (message, status) => {
    const world = worldOf();
    const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null });
    await world.advance(minute);
    await statuses[status]!(world);
    await world.advance(minute);
    const before = world.store.peek({ pk: "default#r", sk: "STATE" });
    const body = envelopeText(envelope(run, messages[message]));
    for (const receiveCount of [1, 2]) {
      for (const consume of [
        () => coordinate(world.engine, [received(body, "m1", receiveCount)], always),
        () => work(world.engine, "default", [received(body, "m1", receiveCount)], always),
        () => bury(world.engine, [received(body, "m1", receiveCount)], always),
      ])
        expect(await world.clock.drive(consume())).toEqual([]);
    }
    expect(world.metrics.total("requeues")).toBe(0);
    await world.advance(minute);
    expect(world.store.peek({ pk: "default#r", sk: "STATE" })).toEqual(before);
    expect(world.metrics.total("attempts-claimed")).toBe(status === "replaced" ? 2 : status === "succeeded" ? 2 : 1);
    expect(faultsOf(world)).toEqual([]);
    if (status === "missing") expect(world.metrics.total("runs-missing")).toBeGreaterThan(0);
  });
});

describe("a batch", () => {
  test("with ten wake-ups for one run and one for another is two commits and no conflict (L7)", async () => {
    const world = worldOf({ hasWatchdog: false });
    const runs = await Promise.all(
      ["r", "q"].map(async (runId) => (await start(world.engine, { workflow: "w", runId, input: null })).run),
    );
    await world.advance(1000);
    for (const run of runs) await decide(world.engine, refOf(run.runId), { gate: "g", approved: true });
    world.metrics.reset();
    const batch = Array.from({ length: 11 }, (_, at) =>
      received(wakeUp(runs[at === 10 ? 1 : 0]!, { hints: ["1/0/1"] }).body, `m${at}`),
    );
    expect(await coordinate(world.engine, batch, always)).toEqual([]);
    expect(world.metrics.total("commits")).toBe(2);
    expect(world.metrics.total("conflicts")).toBe(0);
  });

  test("says how long its runs have waited to be looked at, from the first of the messages that carried on", async () => {
    const world = worldOf({ hasWatchdog: false });
    const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null });
    const ages = () => world.metrics.entries.filter(({ name }) => name === "wake-age-ms").map(({ value }) => value);
    const firstAtMs = world.clock.nowMs();
    await world.clock.advance(4000);
    await coordinate(world.engine, [received(envelopeText(envelope(run, { hints: ["mail"], firstAtMs })))], always);
    // whose clock was ahead, and who knows of none
    const ahead = envelope(run, { hints: ["mail"], firstAtMs: world.clock.nowMs() + 500 });
    await coordinate(world.engine, [received(envelopeText(ahead))], always);
    await coordinate(world.engine, [received(envelopeText(envelope(run, { hints: ["mail"] })))], always);
    expect(ages()).toEqual([4000, 0, 0]);
  });

  test("with wake-ups for runs of one id that are two tenants' moves both", async () => {
    const world = worldOf({ hasWatchdog: false });
    const tenants = ["acme", "default"];
    const runs = [];
    for (const tenant of tenants)
      runs.push((await start(world.engine, { workflow: "w", tenant, runId: "r", input: null })).run);
    await world.advance(1000);
    for (const tenant of tenants) await decide(world.engine, { tenant, runId: "r" }, { gate: "g", approved: true });
    const batch = runs.map((run) => received(wakeUp(run, { hints: ["1/0/1"] }).body, run.tenant));
    expect(await coordinate(world.engine, batch, always)).toEqual([]);
    for (const tenant of tenants)
      expect((await findRun(world.engine, { tenant, runId: "r" }))?.active.map((each) => each.node)).toEqual([2]);
  });

  test("hints of one run's messages add up", async () => {
    const two: readonly NodeDef[] = [
      { kind: "gate", name: "g" },
      { kind: "gate", name: "h" },
      stepNode("z", ["g", "h"]),
    ];
    const world = createWorld({ registry: rawRegistry([definitionOf("w", two)], { "work@1": () => 1 }) });
    const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null });
    for (const gate of ["g", "h"]) await decide(world.engine, refOf("r"), { gate, approved: true });
    const batch = ["0/0/1", "1/0/1"].map((hint) => received(wakeUp(run, { hints: [hint] }).body, hint));
    await coordinate(world.engine, batch, always);
    expect(world.metrics.total("commits")).toBe(1);
    expect((await runOf(world, "r")).active.map((each) => each.node)).toEqual([2]);
  });

  test("bodies that cannot be read go to the dead-letter queue with the reason, and neighbours never suffer (M6)", async () => {
    const world = worldOf({ hasWatchdog: false });
    const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null });
    await world.advance(1000);
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    const bad = ["?", "not json", "[]", '{"runId":"a b"}', "null"];
    const batch = [
      ...bad.map((body, at) => received(body, `bad-${at}`)),
      received(wakeUp(run, { hints: ["1/0/1"] }).body, "good"),
    ];
    expect(await coordinate(world.engine, batch, always)).toEqual([]);
    expect((await runOf(world, "r")).active.map((each) => each.node)).toEqual([2]);
    const dead = world.queue.messages(queues.dead);
    expect(dead.length).toBe(bad.length);
    for (const each of dead) expect(each.reason?.length).toBeGreaterThan(10);
    expect(world.metrics.total("messages-dead")).toBe(bad.length);
    for (const name of ["work", "bury"] as const) {
      const consume =
        name === "work"
          ? work(world.engine, "default", [received("?")], always)
          : bury(world.engine, [received("?")], always);
      expect(await consume).toEqual([]);
    }
    expect(world.queue.messages(queues.dead).length).toBe(bad.length + 2);
  });

  test("that cannot even be buried is handed back, only what it is", async () => {
    let isDown = false;
    const world = worldOf({
      queueHooks: { before: () => (isDown ? { kind: "lose-request" } : undefined) },
    });
    const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null });
    isDown = true;
    const batch = [received("?", "bad"), received(wakeUp(run, { hints: ["mail"] }).body, "good")];
    expect(await coordinate(world.engine, batch, always)).toEqual(["bad"]);
  });

  test("with a message of a newer format hands that one on, to the same queue, a minute later, and never to the dead", async () => {
    const world = worldOf({ hasWatchdog: false });
    const body = '{"format":2,"runId":"r","shiny":true}';
    expect(await coordinate(world.engine, [received(body)], always, queues.wake("bulk"))).toEqual([]);
    expect(world.queue.messages(queues.wake("bulk")).map((each) => each.body)).toEqual([body]);
    expect(world.queue.delayed(queues.wake("bulk"))).toBe(1);
    expect(world.queue.messages(queues.dead)).toEqual([]);
    expect(world.metrics.total("format-ahead")).toBe(1);
  });

  test("with a run whose row has a newer format waits for the deploy as a new message: it is never written, and never dies", async () => {
    const world = worldOf({ hasWatchdog: false });
    const { run } = await start(world.engine, { workflow: "w", runId: "r", input: null });
    const key = { pk: "default#r", sk: "STATE" };
    await world.store.write({
      kind: "edit",
      key,
      edits: [{ kind: "set", path: ["f"], value: 2 }],
      when: [{ kind: "exists", path: ["pk"] }],
    });
    const before = world.store.snapshot();
    for (const receiveCount of [1, 1, 1])
      expect(await coordinate(world.engine, [received(wakeUp(run, {}).body, "m", receiveCount)], always)).toEqual([]);
    expect(world.queue.delayed(queues.wake("standard"))).toBe(3);
    await world.advance(30 * minute);
    expect(world.queue.messages(queues.dead)).toEqual([]);
    expect(world.store.snapshot()).toEqual(before);
    expect(world.metrics.total("strikes")).toBe(0);
    expect(world.metrics.total("format-ahead")).toBeGreaterThanOrEqual(3);
    expect(faultsOf(world)).toEqual([]);
  });

  test("for which no time is left is handed back untouched, each record once (L10)", async () => {
    const world = worldOf({ hasWatchdog: false });
    const batch = await Promise.all(
      Array.from({ length: 25 }, async (_, at) => {
        const { run } = await start(world.engine, { workflow: "w", runId: `r${at}`, input: null });
        return received(wakeUp(run, {}).body, `m${at}`);
      }),
    );
    let asked = 0;
    // the time runs out after the first ten runs
    const remaining = () => (asked++ === 0 ? 900_000 : 1000);
    const back = await world.clock.drive(coordinate(world.engine, batch, remaining));
    expect(back.length).toBe(15);
    expect(new Set(back).size).toBe(15);
    expect(world.metrics.total("requeues")).toBe(10);
  });
});

describe("an unknown run", () => {
  test("is acknowledged and metered, and leaves no trace (D15)", async () => {
    const world = worldOf();
    expect(await coordinate(world.engine, [received('{"runId":"nobody"}')], always)).toEqual([]);
    expect(await work(world.engine, "default", [received('{"runId":"nobody","task":"0/0/1"}')], always)).toEqual([]);
    expect(world.metrics.total("runs-missing")).toBeGreaterThan(0);
    expect(world.store.snapshot()).toEqual([]);
    expect(world.queue.messages()).toEqual([]);
  });
});

describe("a wake-up by hand", () => {
  test("looks at everything", async () => {
    const world = worldOf({ hasWatchdog: false, queueHooks: {} });
    await start(world.engine, { workflow: "w", runId: "r", input: null });
    await world.advance(1000);
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    // the decision's own wake-up is lost
    for (const each of world.queue.receive(queues.wake("standard"))) world.queue.ack(each);
    await coordinate(world.engine, [received('{"runId":"r"}')], always);
    expect((await ended(world, "r", minute)).status).toBe("succeeded");
  });
});

describe("parking", () => {
  const flow = definitionOf("w", [stepNode("a", [], { handler: "gone@1" }), stepNode("z", ["a"])], ref("z"));

  test("a node whose handler is not there parks its run, no try burnt; a build that has it goes on from there", async () => {
    const world = createWorld({ registry: rawRegistry([flow], { "work@1": () => 7 }) });
    await start(world.engine, { workflow: "w", runId: "r", input: null });
    await world.advance(10 * minute);
    const parked = await runOf(world, "r");
    expect(statusOf(parked)).toBe("parked");
    expect(parked.active).toMatchObject([{ attempt: 1, lost: 0 }]);
    expect(world.metrics.total("attempts-claimed")).toBe(0);
    await world.advance(86_400_000);
    expect(statusOf(await runOf(world, "r"))).toBe("parked");
    world.withEngine({ build: "build-2", registry: rawRegistry([flow], { "work@1": () => 7, "gone@1": () => 1 }) });
    expect(await ended(world, "r", 10 * minute)).toMatchObject({ status: "succeeded", output: 7 });
    expect((await runOf(world, "r")).attempts).toBe(2);
    expect(faultsOf(world)).toEqual([]);
  });

  test("what still has no handler parks again, and costs no try", async () => {
    const world = createWorld({ registry: rawRegistry([flow], {}) });
    await start(world.engine, { workflow: "w", runId: "r", input: null });
    for (const build of ["build-2", "build-3", "build-4"]) {
      world.withEngine({ build });
      await world.advance(10 * minute);
    }
    expect(world.metrics.total("runs-parked")).toBeGreaterThanOrEqual(4);
    const run = await runOf(world, "r");
    expect(statusOf(run)).toBe("parked");
    expect(run.active).toMatchObject([{ attempt: 1, lost: 0 }]);
  });

  test("a parked run reaches its deadline", async () => {
    const world = createWorld({ registry: rawRegistry([flow], {}) });
    await start(world.engine, { workflow: "w", runId: "r", input: null, deadlineMs: 3_600_000 });
    await world.advance(3_600_000 + 3 * minute);
    expect(await runOf(world, "r")).toMatchObject({ phase: "failed", reason: { code: "deadline" } });
  });
});
