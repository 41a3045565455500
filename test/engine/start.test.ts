import { describe, expect, test } from "vitest";
import type { NodeDef } from "../../lib/core/definition.ts";
import { fixed } from "../../lib/core/limits.ts";
import { childRunId } from "../../lib/engine/child-id.ts";
import { cancelChild } from "../../lib/engine/children.ts";
import { pause, resume } from "../../lib/engine/commands.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import { purge } from "../../lib/engine/purge.ts";
import { putSent } from "../../lib/engine/records/strikes.ts";
import { start } from "../../lib/engine/start.ts";
import { Fault } from "../../lib/index.ts";
import type { PayloadStore } from "../../lib/ports.ts";
import { createMemoryPayloads } from "../../lib/testing/memory-payloads.ts";
import type { MemoryStore, StoreCall } from "../../lib/testing/memory-store.ts";
import { createWorld } from "../../lib/testing/world.ts";
import { ref, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, rawRegistry, refOf, runOf } from "./raw.ts";

const echo = (input: unknown) => input as { $input?: unknown } as never;
const flow = definitionOf("w", [stepNode("a", ["$input"])], ref("a"));
const worldOf = (more = {}) => createWorld({ registry: rawRegistry([flow], { "work@1": echo }), ...more });
const codeOf = async (act: Promise<unknown>): Promise<string> =>
  await act.then(
    () => "none",
    (error: unknown) => (Fault.is(error) ? error.code : String(error)),
  );

describe("start", () => {
  test("ends what its own first tick has opened and no longer wants: a gate beside what needs no time", async () => {
    const nodes: readonly NodeDef[] = [
      { kind: "gate", name: "g", oneOf: "one" },
      { kind: "sleep", name: "s", until: "2020-01-01T00:00:00Z", oneOf: "one" },
    ];
    const quick = definitionOf("w", nodes, { g: { $: ["exists", ref("g")] }, s: { $: ["exists", ref("s")] } });
    const world = createWorld({ registry: rawRegistry([quick]) });
    await expect(start(world.engine, { workflow: "w", runId: "r", input: null })).resolves.toBeDefined();
    expect(await ended(world, "r")).toMatchObject({ status: "succeeded" });
    expect(faultsOf(world)).toEqual([]);
  });

  test("is idempotent: eight at once are one run and eight equal answers (W19)", async () => {
    const world = worldOf();
    const all = await Promise.all(
      Array.from({ length: 8 }, () => start(world.engine, { workflow: "w", runId: "r", input: { n: 1 } })),
    );
    expect(new Set(all.map((each) => each.runUid)).size).toBe(1);
    expect(all.filter((each) => each.isNew).length).toBe(1);
    await ended(world, "r");
    expect(world.store.snapshot().filter((each) => each.sk === "STATE").length).toBe(1);
    expect(world.metrics.total("runs-started")).toBe(1);
    expect(world.metrics.total("attempts-claimed")).toBe(1);
    expect(faultsOf(world)).toEqual([]);
  });

  test("again, also after the end, gives the run that is there; another input or workflow is run-conflict", async () => {
    const other = definitionOf("other", [stepNode("a")]);
    const world = createWorld({ registry: rawRegistry([flow, other], { "work@1": echo }) });
    const first = await start(world.engine, { workflow: "w", runId: "r", input: { n: 1 } });
    await ended(world, "r");
    const again = await start(world.engine, { workflow: "w", runId: "r", input: { n: 1 } });
    expect(again).toMatchObject({ runUid: first.runUid, isNew: false, run: { phase: "succeeded" } });
    expect(await codeOf(start(world.engine, { workflow: "w", runId: "r", input: { n: 2 } }))).toBe("run-conflict");
    expect(await codeOf(start(world.engine, { workflow: "other", runId: "r", input: { n: 1 } }))).toBe("run-conflict");
  });

  test("of another tenant is another run", async () => {
    const world = worldOf();
    const one = await start(world.engine, { workflow: "w", runId: "r", tenant: "t1", input: 1 });
    const other = await start(world.engine, { workflow: "w", runId: "r", tenant: "t2", input: 2 });
    expect(one.runUid).not.toBe(other.runUid);
  });

  test.each([
    [{ runId: "a b" }, "bad-input"],
    [{ runId: "a#b" }, "bad-input"],
    [{ tenant: "#DEF" }, "bad-input"],
    [{ deadlineMs: 0 }, "bad-input"],
    [{ deadlineMs: 401 * 86_400_000 }, "bad-input"],
    [{ workflow: "nobody" }, "unknown-workflow"],
  ])("with %o is %s, and nothing is stored", async (more, code) => {
    const world = worldOf();
    expect(await codeOf(start(world.engine, { workflow: "w", input: 1, ...more }))).toBe(code);
    expect(world.store.snapshot()).toEqual([]);
  });

  test("treats a run whose retention is over as absent, collected or not (D11)", async () => {
    const world = worldOf({ hasWatchdog: false });
    const first = await start(world.engine, { workflow: "w", runId: "r", input: 1 });
    const { run } = await ended(world, "r");
    const expiresAtS = Number(world.store.peek({ pk: "default#r", sk: "STATE" })?.["x"]);
    expect(expiresAtS).toBe(Math.ceil((run.endedAtMs! + world.engine.limits.retentionMs) / 1000));
    await world.clock.advance(expiresAtS * 1000 - 1 - world.clock.nowMs());
    expect((await start(world.engine, { workflow: "w", runId: "r", input: 1 })).runUid).toBe(first.runUid);
    await world.clock.advance(1);
    expect(await findRun(world.engine, refOf("r"))).toBeUndefined();
    expect(await codeOf(readResult(world.engine, refOf("r")))).toBe("run-not-found");
    expect(await codeOf(pause(world.engine, refOf("r"), "ann"))).toBe("run-not-found");
    const next = await start(world.engine, { workflow: "w", runId: "r", input: 2 });
    expect(next).toMatchObject({ isNew: true });
    expect(next.runUid).not.toBe(first.runUid);
    expect((await ended(world, "r")).output).toEqual({ input: 2 });
  });

  test("never writes a TTL on a live run, nor one in milliseconds (D11)", async () => {
    const world = worldOf();
    await start(world.engine, { workflow: "w", runId: "r", input: 1 });
    expect(world.store.peek({ pk: "default#r", sk: "STATE" })?.["x"]).toBeUndefined();
    await ended(world, "r");
    for (const each of world.store.snapshot())
      if (each["x"] !== undefined) expect(Number(each["x"])).toBeLessThan(1e11);
  });

  test.each([
    ["nothing", null],
    ["a small one", { n: 1 }],
    ["one beside the row", "x".repeat(fixed.tinyOutputBytesMax)],
    ["one in the payload store", "x".repeat(fixed.itemPayloadBytesMax + 1)],
  ])("takes an input: %s", async (_, input) => {
    const world = worldOf();
    await start(world.engine, { workflow: "w", runId: "r", input });
    expect(await ended(world, "r")).toMatchObject({ status: "succeeded", output: { input } });
    expect(faultsOf(world)).toEqual([]);
  });

  test("with more than a payload may have names both sizes, and stores no run", async () => {
    const world = worldOf();
    const act = start(world.engine, { workflow: "w", runId: "r", input: "x".repeat(fixed.payloadBytesMax) });
    await expect(act).rejects.toThrow(
      `${fixed.payloadBytesMax + 2} bytes; a payload may have ${fixed.payloadBytesMax}`,
    );
    expect(world.store.peek({ pk: "default#r", sk: "STATE" })).toBeUndefined();
  });

  test("above an item's limit without a bucket is payload-too-big, whoever would store it", async () => {
    const refusal = "350003 bytes; without a payload bucket 350000 is the most";
    const none: PayloadStore = {
      put: async () => {
        throw new Fault("payload-too-big", refusal);
      },
      get: async () => undefined,
      remove: async () => undefined,
    };
    const world = createWorld({
      registry: rawRegistry([flow], { "work@1": () => "x".repeat(fixed.itemPayloadBytesMax + 1) }),
      payloads: none,
    });
    const act = start(world.engine, { workflow: "w", runId: "big", input: "x".repeat(fixed.itemPayloadBytesMax + 1) });
    await expect(act).rejects.toThrow(refusal);
    expect(world.store.peek({ pk: "default#big", sk: "STATE" })).toBeUndefined();
    await start(world.engine, { workflow: "w", runId: "r", input: 1 });
    const { run } = await ended(world, "r");
    expect(run.reason).toEqual({ code: "payload-too-big", message: `a: ${refusal}` });
    expect(run.attempts).toBe(1);
  });

  test("that a crash interrupts before its row leaves nothing that a later start would meet", async () => {
    let isOn = true;
    let crash = () => {};
    const crashed = new Promise<void>((resolve) => {
      crash = resolve;
    });
    const world = worldOf({
      storeHooks: {
        before: (call: { op: string; write?: { key: { sk: string } } }) => {
          if (!isOn || call.op !== "write" || call.write?.key.sk !== "STATE") return undefined;
          isOn = false;
          crash();
          return { kind: "crash-before" };
        },
      },
    });
    void start(world.engine, { workflow: "w", runId: "r", input: "x".repeat(1000) });
    await crashed;
    const next = await start(world.engine, { workflow: "w", runId: "r", input: 5 });
    expect(next.isNew).toBe(true);
    expect((await ended(world, "r")).output).toEqual({ input: 5 });
  });

  test("whose reply is lost is a new run all the same, and is dispatched (D1)", async () => {
    let lost = 0;
    const world = worldOf({
      storeHooks: {
        before: (call: { op: string; write?: { key: { sk: string } } }) =>
          call.op === "write" && call.write?.key.sk === "STATE" && lost++ === 0 ? { kind: "lose-reply" } : undefined,
      },
      hasWatchdog: false,
    });
    const started = await start(world.engine, { workflow: "w", runId: "r", input: 1 });
    expect(started.isNew).toBe(true);
    expect((await ended(world, "r", 60_000)).status).toBe("succeeded");
  });
});

test("a timer that is over before the row is written is sent all the same: no watchdog has to find it", async () => {
  const nap: NodeDef = { kind: "sleep", name: "nap", forMs: 1_000 };
  const world = createWorld({
    registry: rawRegistry([definitionOf("w", [nap])]),
    hasWatchdog: false,
    store: (inner: MemoryStore): MemoryStore => ({
      ...inner,
      write: async (write, options) => {
        if (write.kind === "put" && write.key.sk === "STATE") await world.clock.sleep(3_000);
        return await inner.write(write, options);
      },
    }),
  });
  const starting = start(world.engine, { workflow: "w", runId: "r", input: null });
  for (let second = 0; second < 5; second++) await world.advance(1_000);
  await starting;
  await world.advance(20_000);
  expect((await runOf(world, "r")).phase).toBe("succeeded");
});

describe("a tombstone", () => {
  test("stands where a cancelled child would be created later, and its parent is told", async () => {
    const kid = definitionOf("kid", [stepNode("k")]);
    const hash = rawRegistry([kid]).workflow("kid")!.hash;
    const child: NodeDef = { kind: "child", name: "c", workflow: "kid", definition: hash, input: {} };
    const parent = definitionOf("parent", [child]);
    const world = createWorld({ registry: rawRegistry([parent, kid], { "work@1": echo }) });
    await start(world.engine, { workflow: "parent", runId: "p", input: null });
    const run = await runOf(world, "p");
    const entry = run.active[0]!;
    const childRun = childRunId(run, entry);
    // as if the start had not come through yet
    await purgeQuietly(world, childRun);
    await cancelChild(world.engine, run, entry);
    expect(await runOf(world, childRun)).toMatchObject({ phase: "cancelled" });
    await world.until(async () => (await runOf(world, "p")).endedAtMs !== undefined);
    expect(await runOf(world, childRun)).toMatchObject({ phase: "cancelled" });
    expect(await runOf(world, "p")).toMatchObject({ phase: "failed", reason: { code: "child-failed" } });
    expect(world.metrics.total("attempts-claimed")).toBe(0);
  });
});

async function purgeQuietly(world: ReturnType<typeof createWorld>, runId: string): Promise<void> {
  for (const each of world.store.snapshot())
    if (each.pk === `default#${runId}`)
      await world.store.write({
        kind: "delete",
        key: { pk: each.pk, sk: each.sk },
        when: [{ kind: "exists", path: ["pk"] }],
      });
}

describe("purge", () => {
  test("refuses a live run and an unknown one", async () => {
    const world = worldOf();
    await start(world.engine, { workflow: "w", runId: "r", input: 1 });
    expect(await codeOf(purge(world.engine, refOf("r")))).toBe("run-live");
    expect(await codeOf(purge(world.engine, refOf("nobody")))).toBe("run-not-found");
  });

  test("deletes all that a run left, payloads included, and a restart never meets it", async () => {
    const payloads = createMemoryPayloads();
    const world = createWorld({ registry: rawRegistry([flow], { "work@1": (input) => input }), payloads });
    const big = "x".repeat(fixed.itemPayloadBytesMax + 10);
    for (const runId of ["r", "r2"]) {
      await start(world.engine, { workflow: "w", runId, input: big });
      for (const verb of [pause, resume]) await verb(world.engine, refOf(runId), "ann");
      await ended(world, runId);
    }
    const ofRun = (runId: string) => payloads.names().filter((name) => name.startsWith(`default/${runId}/`));
    const kept = ofRun("r2");
    const { runUid } = await runOf(world, "r");
    const sent = { dueAtMs: 1, atMs: 1, intervalMs: 1 };
    await world.store.write(putSent({ ...refOf("r"), runUid }, sent, false, 2_000_000_000));
    expect([ofRun("r").length, kept.length]).toEqual([2, 2]);
    expect(world.store.snapshot().filter((each) => each.pk === "default#r").length).toBeGreaterThan(2);
    await purge(world.engine, refOf("r"));
    expect(world.store.snapshot().filter((each) => each.pk === "default#r")).toEqual([]);
    expect([ofRun("r"), ofRun("r2")]).toEqual([[], kept]);
    await start(world.engine, { workflow: "w", runId: "r", input: "small" });
    expect(await ended(world, "r")).toMatchObject({ status: "succeeded", output: { input: "small" } });
  });

  test("whose last request is lost says so, and is called again", async () => {
    let isLost = true;
    const before = ({ op, ...call }: StoreCall) =>
      op === "write" && "write" in call && call.write.kind === "delete" && call.write.key.sk === "STATE" && isLost
        ? ({ kind: "lose-request" } as const)
        : undefined;
    const world = worldOf({ storeHooks: { before } });
    await start(world.engine, { workflow: "w", runId: "r", input: 1 });
    await ended(world, "r");
    expect(await codeOf(purge(world.engine, refOf("r")))).toBe("unavailable");
    expect(await findRun(world.engine, refOf("r"))).toBeDefined();
    isLost = false;
    expect(await codeOf(purge(world.engine, refOf("r")))).toBe("none");
    expect(world.store.snapshot().filter((each) => each.pk === "default#r")).toEqual([]);
  });

  test("that gets no answer for a record beside the row leaves the row, so that it is called again and leaves nothing", async () => {
    let isDeaf = false;
    const world = createWorld({
      registry: rawRegistry([definitionOf("w", [stepNode("a")])], { "work@1": () => 1 }),
      storeHooks: {
        before: ({ op, ...call }) => {
          const isMeant = op === "write" && "write" in call && call.write.kind === "delete";
          return isDeaf && isMeant && call.write.key.sk.startsWith("ATT#") ? { kind: "lose-request" } : undefined;
        },
      },
    });
    await start(world.engine, { workflow: "w", runId: "r", input: 1 });
    await ended(world, "r");
    isDeaf = true;
    expect(await codeOf(purge(world.engine, refOf("r")))).toBe("unavailable");
    isDeaf = false;
    await purge(world.engine, refOf("r"));
    expect(world.store.snapshot().filter(({ pk }) => pk === "default#r")).toEqual([]);
  });

  test("of one run leaves its neighbours' records alone, and late messages of the purged one are acknowledged", async () => {
    const world = worldOf();
    const first = await start(world.engine, { workflow: "w", runId: "r", input: 1 });
    await start(world.engine, { workflow: "w", runId: "r2", input: 1 });
    const [task] = world.queue.messages("task:default");
    await ended(world, "r");
    await ended(world, "r2");
    await purge(world.engine, refOf("r"));
    const again = await start(world.engine, { workflow: "w", runId: "r", input: 7 });
    expect(again.runUid).not.toBe(first.runUid);
    // the old run's task once more: it names another uid
    await world.queue.send([task!]);
    expect(await ended(world, "r")).toMatchObject({ status: "succeeded", output: { input: 7 } });
    expect(await ended(world, "r2")).toMatchObject({ status: "succeeded" });
    expect(world.metrics.total("attempts-claimed")).toBe(3);
    expect(faultsOf(world)).toEqual([]);
  });
});
