import { describe, expect, test } from "vitest";
import type { NodeDef } from "../../lib/core/definition.ts";
import { rowAttributes } from "../../lib/core/row-format.ts";
import { statusOf } from "../../lib/core/run.ts";
import { signal } from "../../lib/engine/commands.ts";
import { coordinate } from "../../lib/engine/coordinate.ts";
import { decide } from "../../lib/engine/decide.ts";
import { forceFail } from "../../lib/engine/force-fail.ts";
import { timeline } from "../../lib/engine/inspect.ts";
import { type Snapshot, snapshot } from "../../lib/engine/load.ts";
import { queues, wakeUp } from "../../lib/engine/messages.ts";
import { start } from "../../lib/engine/start.ts";
import { Fault } from "../../lib/index.ts";
import type { MemoryStore, StoreCall } from "../../lib/testing/memory-store.ts";
import { createWorld, type World, type WorldOptions } from "../../lib/testing/world.ts";
import { ref, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, rawRegistry, refOf, runOf } from "../engine/raw.ts";
import { type Violations, watchStore } from "./invariants.ts";

const minute = 60_000;
const always = () => 900_000;
const received = (body: string, id: string, receiveCount = 1) => ({ id, body, receiveCount, sentAtMs: 0 });

function worldWith(nodes: readonly NodeDef[], options: Partial<WorldOptions> = {}) {
  const violations: Violations = [];
  const world = createWorld({ registry: rawRegistry([definitionOf("w", nodes)], { "work@1": () => 1 }), ...options });
  watchStore(world, violations);
  return { world, violations };
}
const begin = (world: World, runId = "r") => start(world.engine, { workflow: "w", runId, input: null });
const isCommit = (call: StoreCall) =>
  call.op === "write" && call.write.kind === "edit" && call.write.key.sk === "STATE";

describe("one run under pressure", () => {
  test("fifty wake-ups at once: one commit per transition, conflicts metered, no error, nothing handed back (L8, W14)", async () => {
    const gates = Array.from({ length: 50 }, (_, at): NodeDef => ({ kind: "gate", name: `g${at}` }));
    const { world, violations } = worldWith([
      ...gates,
      stepNode(
        "z",
        gates.map((each) => each.name),
      ),
    ]);
    const { run } = await begin(world);
    for (const each of gates) await decide(world.engine, refOf("r"), { gate: each.name, approved: true });
    // none of the decisions' own wake-ups: fifty functions get one message each, at the same instant
    for (
      let all = world.queue.receive(queues.wake("standard"));
      all.length > 0;
      all = world.queue.receive(queues.wake("standard"))
    )
      for (const each of all) world.queue.ack(each);
    world.metrics.reset();
    const hints = (at: number) => [`${at}/0/1`];
    const back = await world.clock.drive(
      Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          coordinate(world.engine, [received(wakeUp(run, { hints: hints(at) }).body, `m${at}`)], always),
        ),
      ),
    );
    expect(back.flat()).toEqual([]);
    const { status } = await ended(world, "r", 10 * minute);
    expect(status).toBe("succeeded");
    expect(world.metrics.total("conflicts")).toBeGreaterThan(0);
    expect(world.metrics.total("commits")).toBeLessThanOrEqual(51);
    expect(world.metrics.total("force-fails")).toBe(0);
    expect(world.handedBack).toBe(0);
    expect(faultsOf(world)).toEqual([]);
    expect(violations).toEqual([]);
  });

  test("three thousand signals while it works: all are consumed, in their order, within the mailbox's back-pressure (W5)", async () => {
    const count = 3000;
    const waits = Array.from(
      { length: count },
      (_, at): NodeDef => ({
        kind: "signal",
        name: `s${at}`,
        signal: "tick",
        ...(at > 0 && { after: [`s${at - 1}`] }),
      }),
    );
    const { world, violations } = worldWith(waits);
    await begin(world);
    let full = 0;
    const sender = (async () => {
      for (let at = 0; at < count; ) {
        try {
          await signal(world.engine, refOf("r"), { signal: "tick", payload: at, id: `t${at}` });
          at += 1;
          await world.clock.sleep(20);
        } catch (error) {
          if (!Fault.is(error, "mailbox-full")) throw error;
          full += 1;
          await world.clock.sleep(Number(error.details["retryAfterS"]) * 1000);
        }
      }
    })();
    sender.catch(() => undefined);
    const { status, run } = await ended(world, "r", 3_600_000);
    await world.clock.drive(sender);
    expect(status).toBe("succeeded");
    expect(run.mail.signals).toBe(count);
    expect(world.metrics.total("force-fails")).toBe(0);
    expect(world.metrics.total("signals-undelivered")).toBe(0);
    expect(world.metrics.total("signals-appended")).toBe(count);
    expect(full).toBeLessThan(count / 10);
    expect(faultsOf(world)).toEqual([]);
    expect(violations).toEqual([]);
  }, 120_000);

  test("signals are taken in the order in which they were sent", async () => {
    const waits = Array.from(
      { length: 300 },
      (_, at): NodeDef => ({
        kind: "signal",
        name: `s${at}`,
        signal: "tick",
        ...(at > 0 && { after: [`s${at - 1}`] }),
      }),
    );
    const last = stepNode(
      "z",
      waits.map((each) => each.name),
    );
    const world = createWorld({
      registry: rawRegistry([definitionOf("w", [...waits, last], ref("z"))], {
        "work@1": (input) => Object.values(input as object) as never,
      }),
      isShuffled: true,
    });
    await begin(world);
    const sender = (async () => {
      for (let at = 0; at < 300; at++) {
        await signal(world.engine, refOf("r"), { signal: "tick", payload: at });
        await world.clock.sleep(50);
      }
    })();
    sender.catch(() => undefined);
    const { output } = await ended(world, "r", 3_600_000);
    await world.clock.drive(sender);
    expect(output).toEqual(Array.from({ length: 300 }, (_, at) => at));
  });

  test("a store that refuses every commit: ended after the bounded number of requeues, metered, with a reason (W5)", async () => {
    let isStuck = false;
    const { world } = worldWith([{ kind: "gate", name: "g" }, stepNode("z", ["g"])], {
      hasWatchdog: false,
      // every commit but the one that ends the run meets a version that somebody else seems to have written
      store: (inner: MemoryStore) => ({
        ...inner,
        write: async (write, options) =>
          isStuck && write.kind === "edit" && write.key.sk === "STATE" && !endsRun(write)
            ? { kind: "refused", now: inner.peek(write.key)!, isClear: true }
            : await inner.write(write, options),
      }),
    });
    await begin(world);
    await world.advance(1000);
    isStuck = true;
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    const { run } = await ended(world, "r", 3_600_000);
    const { requeuesMax } = world.engine.limits;
    expect(world.metrics.total("requeues")).toBe(requeuesMax);
    for (const attempt of ["1", "2", "3", "4", "5"])
      expect(world.metrics.total("conflicts", { attempt })).toBe(requeuesMax + 1);
    expect(world.metrics.total("livelocks")).toBe(1);
    expect(world.metrics.total("force-fails")).toBe(1);
    expect(run.reason?.code).toBe("livelock");
    expect(run.reason?.message).toContain(`${requeuesMax} requeues without progress`);
    expect(world.handedBack).toBe(0);
    expect(world.thrown).toEqual([]);
  });

  test("a chain of requeues does not fork, though its function dies right after each send (Q5)", async () => {
    let isStuck = false;
    let requeued = 0;
    const { world } = worldWith([{ kind: "gate", name: "g" }, stepNode("z", ["g"])], {
      hasWatchdog: false,
      functionMs: minute,
      visibilityMs: 6 * minute,
      store: (inner: MemoryStore) => ({
        ...inner,
        write: async (write, options) =>
          isStuck && write.kind === "edit" && write.key.sk === "STATE" && !endsRun(write)
            ? { kind: "refused", now: inner.peek(write.key)!, isClear: true }
            : await inner.write(write, options),
      }),
      queueHooks: {
        before: (call) =>
          call.messages.some((each) => each.taskKey.includes(":requeue-")) && requeued++ < 6
            ? { kind: "crash-after" }
            : undefined,
      },
    });
    await begin(world);
    await world.advance(1000);
    isStuck = true;
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    let most = 0;
    const end = world.clock.nowMs() + 5 * minute;
    while (world.clock.nowMs() < end) {
      await world.advance(1000);
      most = Math.max(most, world.queue.messages(queues.wake("standard")).length);
      if (requeued >= 6) isStuck = false;
    }
    // the copies whose function died wait hidden: one a crash, and no more
    expect(most).toBeLessThanOrEqual(8);
    expect((await ended(world, "r", 3_600_000)).status).toBe("succeeded");
    await world.advance(3_600_000);
    expect(world.queue.messages()).toEqual([]);
    expect(world.metrics.total("force-fails")).toBe(0);
  });
});

const endsRun = (write: { readonly edits?: readonly { readonly kind: string; readonly path: readonly unknown[] }[] }) =>
  write.edits?.some((edit) => edit.kind === "remove" && edit.path[0] === rowAttributes.live) === true;

describe("evidence, not age", () => {
  test("an hour without watchdog and with a backlog of an hour kills nobody, and takes two messages a run to recover", async () => {
    const runs = 40;
    const { world, violations } = worldWith([stepNode("a"), stepNode("b", ["a"])]);
    // nobody consumes for an hour, and the watchdog is off
    await Promise.all(Array.from({ length: runs }, (_, at) => begin(world, `r${at}`)));
    await world.clock.advance(3_600_000);
    const before = world.metrics.total("messages-sent");
    await world.until(
      async () =>
        (await Promise.all(Array.from({ length: runs }, (_, at) => runOf(world, `r${at}`)))).every(
          (run) => run.endedAtMs !== undefined,
        ),
      30 * minute,
    );
    for (let at = 0; at < runs; at++) expect(statusOf(await runOf(world, `r${at}`))).toBe("succeeded");
    // each run sends its second step's task, which is no recovery
    expect(world.metrics.total("messages-sent") - before - runs).toBeLessThanOrEqual(2 * runs);
    expect(world.metrics.total("force-fails")).toBe(0);
    expect(world.metrics.total("strikes")).toBe(0);
    expect(world.metrics.total("attempts-claimed")).toBe(2 * runs);
    expect(violations).toEqual([]);
  });

  test("a tick that always throws is ended, and not before a mended build has tried", async () => {
    const nodes: readonly NodeDef[] = [{ kind: "gate", name: "g" }, stepNode("z", ["g"])];
    const { world } = worldWith(nodes);
    await begin(world);
    await world.advance(1000);
    const broken = { ...definitionOf("w", nodes), nodes: [] };
    // the old build reads the definition in a way that cannot be
    const healthy = world.engine.registry;
    world.withEngine({
      registry: { ...healthy, byHash: (hash) => ({ ...healthy.byHash(hash)!, definition: broken }) },
    });
    await decide(world.engine, refOf("r"), { gate: "g", approved: true }).catch(() => undefined);
    await world.queue.send([wakeUp(await runOf(world, "r"), {})]);
    await world.advance(4 * minute);
    expect(world.metrics.total("strikes")).toBeGreaterThan(0);
    expect(statusOf(await runOf(world, "r"))).toBe("running");
    world.withEngine({ build: "build-2", registry: healthy });
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    expect((await ended(world, "r", 3_600_000)).status).toBe("succeeded");
    expect(world.metrics.total("force-fails")).toBe(0);
  });

  test("a tick that always throws is ended with what it threw, after the bounded number of strikes", async () => {
    const { world } = worldWith([{ kind: "gate", name: "g" }, stepNode("z", ["g"])]);
    await begin(world);
    await world.advance(1000);
    const healthy = world.engine.registry;
    const broken = { ...definitionOf("w", []) };
    world.withEngine({
      registry: { ...healthy, byHash: (hash) => ({ ...healthy.byHash(hash)!, definition: broken }) },
    });
    const began = world.clock.nowMs();
    await world.queue.send([wakeUp(await runOf(world, "r"), {})]);
    await world.until(async () => (await runOf(world, "r")).endedAtMs !== undefined, 24 * 3_600_000);
    const run = await runOf(world, "r");
    const { strikesMax, stuckAfterMs } = world.engine.limits;
    expect(run).toMatchObject({ phase: "failed", reason: { code: "stuck" } });
    expect(run.reason?.message).toContain(`${strikesMax} processings did not end`);
    expect(run.endedAtMs! - began).toBeGreaterThanOrEqual(stuckAfterMs);
    expect(world.metrics.total("strikes")).toBe(strikesMax);
    expect(world.metrics.total("force-fails")).toBe(1);
  });

  test("that ends a run with completed work to undo marks it uncompensated, metered", async () => {
    const nodes: readonly NodeDef[] = [
      stepNode("a"),
      { kind: "gate", name: "g", after: ["a"] },
      stepNode("z", ["g"]),
      stepNode("a.undo", ["a"], { compensates: "a" }),
    ];
    for (const isDone of [true, false]) {
      const { world } = worldWith(
        isDone ? nodes : nodes.slice(1, 3).map((each) => ({ ...each, after: [] }) as NodeDef),
        {
          store: (inner: MemoryStore) => ({
            ...inner,
            write: async (write, options) =>
              world?.clock.nowMs() > began && write.kind === "edit" && write.key.sk === "STATE" && !endsRun(write)
                ? { kind: "refused", now: inner.peek(write.key)!, isClear: true }
                : await inner.write(write, options),
          }),
        },
      );
      const began = world.clock.nowMs() + 1000;
      await begin(world);
      await world.advance(5000);
      await decide(world.engine, refOf("r"), { gate: "g", approved: true });
      const { run } = await ended(world, "r", 3_600_000);
      expect(run).toMatchObject({ reason: { code: "livelock" }, isUncompensated: isDone });
      expect(world.metrics.total("uncompensated")).toBe(isDone ? 1 : 0);
    }
  });

  test("leaves what the run was started with, and what it did, to whoever looks for the cause", async () => {
    const { world } = worldWith([
      stepNode("a", [], { isInline: true }),
      { kind: "gate", name: "g", after: ["a"] },
      stepNode("z", ["g"]),
    ]);
    await begin(world);
    await world.advance(1000);
    const before = await runOf(world, "r");
    expect(before.tiny.length).toBeGreaterThan(1);
    const seen = (await snapshot(world.engine, refOf("r"))) as Snapshot;
    expect(await forceFail(world.engine, seen, "stuck", "three processings did not end")).toBe("ended");
    const after = await runOf(world, "r");
    expect(after).toMatchObject({ phase: "failed", tiny: before.tiny, facts: new Map() });
    const [a] = (await timeline(world.engine, refOf("r"))).nodes;
    expect(a).toMatchObject({ name: "a", state: "done", attempts: [{ attempt: 1, state: "ok" }] });
  });

  test("a permission lost for ten minutes kills nobody", async () => {
    let isDenied = false;
    const { world, violations } = worldWith(
      [stepNode("a"), stepNode("b", ["a"], { isInline: true }), stepNode("c", ["b"])],
      {
        functionMs: minute,
        storeHooks: {
          before: () => (isDenied ? { kind: "fail", fault: new Fault("denied", "no permission to write") } : undefined),
        },
      },
    );
    await Promise.all(Array.from({ length: 20 }, (_, at) => begin(world, `r${at}`)));
    isDenied = true;
    await world.advance(10 * minute);
    isDenied = false;
    for (let at = 0; at < 20; at++) expect((await ended(world, `r${at}`, 24 * 3_600_000)).status).toBe("succeeded");
    expect(world.metrics.total("force-fails")).toBe(0);
    expect(violations).toEqual([]);
  });

  test("a thousand sleeping runs are no messages until they are due (Q11)", async () => {
    const { world } = worldWith([
      { kind: "sleep", name: "s", forMs: 6 * 3_600_000 },
      stepNode("z", [], { after: ["s"] }),
    ]);
    for (let at = 0; at < 1000; at++) await begin(world, `r${at}`);
    expect(world.queue.messages()).toEqual([]);
    const sent = world.metrics.total("messages-sent");
    for (let hour = 0; hour < 5; hour++) {
      await world.advance(3_600_000);
      expect(world.queue.messages()).toEqual([]);
    }
    expect(world.metrics.total("messages-sent")).toBe(sent);
    await world.advance(2 * 3_600_000);
    const rows = world.store.snapshot().filter((each) => each.sk === "STATE");
    expect(rows.filter((each) => each["s"] === "succeeded").length).toBe(1000);
  }, 120_000);

  test("a run that waits thirty days for a person is never touched (W6)", async () => {
    const { world } = worldWith([{ kind: "gate", name: "g" }, stepNode("z", ["g"])]);
    await start(world.engine, { workflow: "w", runId: "r", input: null, deadlineMs: 60 * 86_400_000 });
    const commits: number[] = [];
    world.store.watch((write) => {
      if (write.key.sk === "STATE") commits.push(world.clock.nowMs());
    });
    await world.advance(30 * 86_400_000);
    // one look a week
    expect(commits.length).toBeLessThanOrEqual(5);
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    expect((await ended(world, "r", minute)).status).toBe("succeeded");
  }, 120_000);
});

describe("processes out of time", () => {
  test("a zombie that wakes after another has committed meets a conflict, and sends nothing (L9)", async () => {
    let release = () => {};
    let isHolding = false;
    const { world, violations } = worldWith([{ kind: "gate", name: "g" }, stepNode("z", ["g"])], {
      hasWatchdog: false,
      storeHooks: {
        before: async (call) => {
          if (!isHolding || !isCommit(call)) return undefined;
          isHolding = false;
          // frozen between its tick and its commit
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          return undefined;
        },
      },
    });
    const { run } = await begin(world);
    await world.advance(1000);
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    isHolding = true;
    const zombie = coordinate(world.engine, [received(wakeUp(run, { hints: ["0/0/1"] }).body, "z")], always);
    await world.clock.settle();
    await world.advance(minute);
    expect((await runOf(world, "r")).phase).toBe("succeeded");
    const before = world.metrics.total("messages-sent");
    release();
    expect(await world.clock.drive(zombie)).toEqual([]);
    expect(world.metrics.total("messages-sent")).toBe(before);
    expect(world.metrics.total("attempts-claimed")).toBe(1);
    expect(violations).toEqual([]);
  });

  test("ten runs whose commits always conflict, with five seconds: back in time, each requeued or handed back, none both (L10)", async () => {
    let isStuck = false;
    const { world } = worldWith([{ kind: "gate", name: "g" }, stepNode("z", ["g"])], {
      hasWatchdog: false,
      store: (inner: MemoryStore) => ({
        ...inner,
        write: async (write, options) =>
          isStuck && write.kind === "edit" && write.key.sk === "STATE" && !endsRun(write)
            ? { kind: "refused", now: inner.peek(write.key)!, isClear: true }
            : await inner.write(write, options),
      }),
    });
    const batch = [];
    for (let at = 0; at < 10; at++) {
      const { run } = await begin(world, `r${at}`);
      await decide(world.engine, refOf(`r${at}`), { gate: "g", approved: true });
      batch.push(received(wakeUp(run, { hints: ["0/0/1"] }).body, `m${at}`));
    }
    isStuck = true;
    world.metrics.reset();
    const endAtMs = world.clock.nowMs() + 5000;
    const back = await world.clock.drive(coordinate(world.engine, batch, () => endAtMs - world.clock.nowMs()));
    expect(world.clock.nowMs()).toBeLessThan(endAtMs);
    expect(back.length + world.metrics.total("requeues")).toBe(10);
    expect(faultsOf(world)).toEqual([]);
  });
});
