import { describe, expect, test } from "vitest";
import type { NodeDef, SignalNode } from "../../lib/core/definition.ts";
import { fixed } from "../../lib/core/limits.ts";
import { nodeState, statusOf } from "../../lib/core/run.ts";
import { cancel, command, pause, resume, signal, terminate } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { undelivered } from "../../lib/engine/mailbox.ts";
import { start } from "../../lib/engine/start.ts";
import { Fault } from "../../lib/index.ts";
import { createWorld } from "../../lib/testing/world.ts";
import { ref, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, faultsOf, rawRegistry, refOf, runOf } from "./raw.ts";

const wait = (name: string, more: Partial<SignalNode> = {}): SignalNode => ({
  kind: "signal",
  name,
  signal: name,
  ...more,
});
const gate = (name: string, more = {}): NodeDef => ({ kind: "gate", name, ...more });
const worldOf = (nodes: readonly NodeDef[], output = ref("a"), more = {}) =>
  createWorld({ registry: rawRegistry([definitionOf("w", nodes, output)], { "work@1": (input) => input }), ...more });
const begin = async (world: ReturnType<typeof worldOf>) =>
  await start(world.engine, { workflow: "w", runId: "r", input: null });
const send = (world: ReturnType<typeof worldOf>, name: string, payload: unknown = null, id?: string) =>
  signal(world.engine, refOf("r"), { signal: name, payload, ...(id !== undefined && { id }) });
const codeOf = async (act: Promise<unknown>): Promise<string> =>
  await act.then(
    () => "none",
    (error: unknown) => (Fault.is(error) ? error.code : String(error)),
  );

describe("a signal", () => {
  test("for a run that nobody knows is run-not-found, and leaves no orphan (W3)", async () => {
    const world = worldOf([wait("a")]);
    expect(await codeOf(signal(world.engine, refOf("nobody"), { signal: "a", payload: 1 }))).toBe("run-not-found");
    expect(world.store.snapshot()).toEqual([]);
    expect(world.queue.messages()).toEqual([]);
  });

  test("that the workflow does not wait for anywhere is bad-input", async () => {
    const world = worldOf([wait("a")]);
    await begin(world);
    expect(await codeOf(send(world, "other"))).toBe("bad-input");
  });

  test("before its wait is kept, and read by those behind the wait (W3)", async () => {
    const world = worldOf([stepNode("s"), wait("go", { after: ["s"] }), stepNode("a", ["go"])]);
    await begin(world);
    await send(world, "go", { n: 7 });
    expect((await ended(world, "r")).output).toEqual({ go: { n: 7 } });
  });

  test("at the finish line is consumed or reported undelivered, never gone (W3)", async () => {
    const seen = new Set<string>();
    // the signal is sent at every instant of a short run's life, between any two of its writes
    for (let write = 0; write < 12; write++) {
      let count = 0;
      let answer: Promise<string> | undefined;
      const world = worldOf(
        [stepNode("s"), wait("a", { timeoutMs: 1, onTimeout: "continue", after: ["s"] })],
        ref("a"),
        {
          storeHooks: {
            after: () => {
              count += 1;
              if (count === write * 2 + 6) answer = codeOf(send(world, "a", "here"));
            },
          },
        },
      );
      await begin(world);
      const { output } = await ended(world, "r");
      const code = await answer;
      if (code === undefined) continue;
      await world.advance(180_000);
      const left = await undelivered(world.engine, refOf("r"));
      const what = output === "here" ? "consumed" : left.length === 1 ? "undelivered" : "gone";
      seen.add(`${code} ${what}`);
      if (code === "none") expect(what).not.toBe("gone");
      expect(faultsOf(world)).toEqual([]);
    }
    expect(seen.has("none consumed")).toBe(true);
  });

  test("after the end is run-ended", async () => {
    const world = worldOf([wait("a")]);
    await begin(world);
    await send(world, "a", 1);
    await ended(world, "r");
    expect(await codeOf(send(world, "a", 2))).toBe("run-ended");
    expect(await undelivered(world.engine, refOf("r"))).toEqual([]);
  });

  test("repeated with its id is one signal, and the repeat gets the first one's number", async () => {
    const world = worldOf([wait("go"), wait("a", { signal: "go", after: ["go"] })]);
    await begin(world);
    expect(await send(world, "go", 1, "id-1")).toEqual({ seq: 0, isRepeat: false });
    expect(await send(world, "go", 1, "id-1")).toEqual({ seq: 0, isRepeat: true });
    await world.advance(1000);
    expect(await send(world, "go", 1, "id-1")).toEqual({ seq: 0, isRepeat: true });
    await world.advance(1000);
    expect(statusOf(await runOf(world, "r"))).toBe("running");
    expect(await send(world, "go", 2, "id-2")).toEqual({ seq: 1, isRepeat: false });
    expect((await ended(world, "r")).output).toBe(2);
  });

  test("beyond 32 that wait is mailbox-full with a time to come back; the head that nobody wants is given up, metered", async () => {
    const world = worldOf([gate("g"), wait("a", { after: ["g"] })], ref("a"), { hasWatchdog: false });
    await begin(world);
    // nobody processes a wake-up meanwhile
    for (let at = 0; at < fixed.mailboxSignalsMax; at++) await send(world, "a", at);
    const refused = await send(world, "a", 32).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "mailbox-full", details: { retryAfterS: 1 } });
    await cancelless(world);
    expect(world.metrics.total("signals-undelivered")).toBe(1);
    expect(await send(world, "a", 32)).toMatchObject({ isRepeat: false });
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    // the first was given up, so the second is what the wait takes
    expect((await ended(world, "r")).output).toBe(1);
    expect((await undelivered(world.engine, refOf("r"))).length).toBe(31);
  });

  test("commands find room in a full mailbox (W7)", async () => {
    const world = worldOf([gate("g"), wait("a", { after: ["g"] })], ref("a"), { hasWatchdog: false });
    await begin(world);
    for (let at = 0; at < fixed.mailboxSignalsMax; at++) await send(world, "a", at);
    await cancel(world.engine, refOf("r"), "ann");
    expect((await ended(world, "r")).status).toBe("cancelled");
  });

  test.each([
    ["beside the mailbox", fixed.mailEntryBytesMax],
    ["in the payload store", fixed.itemPayloadBytesMax + 1],
  ])("with a big payload is kept %s, its facts with it", async (_, bytes) => {
    const when = { $: ["eq", ref("go", "n"), 1] };
    const world = worldOf([wait("go"), stepNode("a", ["go"], { when })]);
    await begin(world);
    const payload = { n: 1, text: "x".repeat(bytes) };
    await send(world, "go", payload);
    expect((await ended(world, "r")).output).toEqual({ go: payload });
  });

  test("with a big payload says nothing of another node that waited for its name, and went without", async () => {
    const first = wait("a", { signal: "go", timeoutMs: 1_000, onTimeout: "continue" });
    const later = wait("b", { signal: "go", after: ["a"] });
    const asks = stepNode("c", ["b"], { when: { $: ["exists", ref("a")] } });
    const world = worldOf([first, later, asks], ref("b"));
    await begin(world);
    await world.advance(5_000);
    await send(world, "go", { text: "x".repeat(fixed.mailEntryBytesMax) });
    const { run, status } = await ended(world, "r");
    expect(status).toBe("succeeded");
    expect([0, 1, 2].map((position) => nodeState(run.nodes, position))).toEqual(["done", "done", "skipped"]);
  });

  test("whose wake-up the queue refuses is not acknowledged, and a repeat with its id is harmless", async () => {
    let isDown = false;
    const world = worldOf([wait("a")], ref("a"), {
      queueHooks: { before: () => (isDown ? { kind: "fail", fault: new Fault("unavailable", "down") } : undefined) },
    });
    await begin(world);
    isDown = true;
    expect(await codeOf(send(world, "a", 1, "id"))).toBe("unavailable");
    isDown = false;
    expect(await send(world, "a", 1, "id")).toMatchObject({ isRepeat: true });
    expect((await ended(world, "r")).output).toBe(1);
  });

  test("whose sender dies before the wake-up is looked at within two minutes all the same", async () => {
    let isDead = false;
    const world = worldOf([wait("a")], ref("a"), {
      queueHooks: { before: () => (isDead ? { kind: "crash-before" } : undefined) },
    });
    await begin(world);
    await world.advance(1000);
    isDead = true;
    void send(world, "a", 1);
    await world.clock.settle();
    isDead = false;
    expect((await ended(world, "r", 121_000)).output).toBe(1);
  });
});

/** Lets what is queued be processed, without time passing. */
async function cancelless(world: ReturnType<typeof worldOf>): Promise<void> {
  while ((await world.deliver()) > 0);
}

describe("a command", () => {
  const statuses = {
    running: async () => {},
    paused: async (world: ReturnType<typeof worldOf>) => void (await pause(world.engine, refOf("r"), "ann")),
    succeeded: async (world: ReturnType<typeof worldOf>) =>
      void (await decide(world.engine, refOf("r"), { gate: "a", approved: true })),
    cancelled: async (world: ReturnType<typeof worldOf>) => void (await cancel(world.engine, refOf("r"), "ann")),
    terminated: async (world: ReturnType<typeof worldOf>) => void (await terminate(world.engine, refOf("r"), "ann")),
  };
  const cases = Object.keys(statuses).flatMap((status) =>
    (["cancel", "terminate", "pause", "resume"] as const).map(
      (kind) => [kind, status as keyof typeof statuses] as const,
    ),
  );
  const expected: { readonly [name: string]: string } = {
    "cancel running": "cancelled",
    "cancel paused": "cancelled",
    "terminate running": "terminated",
    "terminate paused": "terminated",
    "pause running": "paused",
    "pause paused": "paused",
    "resume running": "running",
    "resume paused": "running",
  };

  test.each(cases)("%s on a run that is %s", async (kind, status) => {
    const world = worldOf([gate("a")]);
    await begin(world);
    await statuses[status](world);
    await world.advance(5000);
    expect(statusOf(await runOf(world, "r"))).toBe(status);
    const before = await runOf(world, "r");
    const code = await codeOf(command(world.engine, refOf("r"), { kind, by: "bob", reason: "why" }));
    await world.advance(5000);
    const after = await runOf(world, "r");
    const outcome = expected[`${kind} ${status}`];
    expect(code).toBe(outcome === undefined ? "run-ended" : "none");
    if (outcome === undefined) expect(after).toEqual(before);
    else expect(statusOf(after)).toBe(outcome);
    expect(faultsOf(world)).toEqual([]);
  });

  test("for a run that nobody knows is run-not-found", async () => {
    const world = worldOf([gate("a")]);
    expect(await codeOf(cancel(world.engine, refOf("r"), "ann"))).toBe("run-not-found");
  });

  test("pause holds what would be dispatched, and resume sends it", async () => {
    const world = worldOf([gate("g"), stepNode("a", ["g"])]);
    await begin(world);
    await pause(world.engine, refOf("r"), "ann");
    await world.advance(1000);
    await decide(world.engine, refOf("r"), { gate: "g", approved: true });
    await world.advance(3_600_000);
    expect(world.metrics.total("attempts-claimed")).toBe(0);
    await resume(world.engine, refOf("r"), "ann");
    expect(await ended(world, "r", 60_000)).toMatchObject({ status: "succeeded" });
  });

  test("cancel with a step running that can be undone waits for it, and undoes it", async () => {
    const order: string[] = [];
    let release = () => {};
    const nodes = [
      stepNode("a"),
      stepNode("b", ["a"]),
      stepNode("a.undo", ["a"], { compensates: "a", handler: "undo@1" }),
    ];
    const world = createWorld({
      registry: rawRegistry([definitionOf("w", nodes)], {
        "work@1": async (_, { node }) => {
          order.push(node);
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          return { id: 5 };
        },
        "undo@1": (input) => {
          order.push(`undo ${JSON.stringify(input)}`);
          return null;
        },
      }),
    });
    await begin(world);
    await world.deliver();
    await cancel(world.engine, refOf("r"), "ann", "changed my mind");
    await world.advance(1000);
    expect(statusOf(await runOf(world, "r"))).toBe("cancelling");
    release();
    const { status, run } = await ended(world, "r");
    expect(status).toBe("cancelled");
    expect(run.reason).toEqual({ code: "cancelled", message: "cancel by ann: changed my mind" });
    expect(order).toEqual(["a", 'undo {"a":{"id":5}}']);
    expect(run.isUncompensated).toBe(false);
  });
});

describe("a decision", () => {
  test("approve and reject at once, a hundred times: exactly one wins, and the loser learns which (W20)", async () => {
    for (let round = 0; round < 100; round++) {
      const world = worldOf([gate("a", { onReject: "continue" })], ref("a"), { seed: round });
      await begin(world);
      const say = (approved: boolean) =>
        decide(world.engine, refOf("r"), { gate: "a", approved, by: approved ? "ann" : "bob" }).then(
          () => ({ won: approved, winner: undefined }),
          (error: unknown) => {
            if (!Fault.is(error, "gate-decided")) throw error;
            return { won: undefined, winner: error.details["winner"] };
          },
        );
      const answers = await Promise.all(round % 2 === 0 ? [say(true), say(false)] : [say(false), say(true)]);
      const winners = answers.filter((each) => each.won !== undefined);
      expect(winners.length).toBe(1);
      const won = winners[0]!.won === true;
      const [loser] = answers.filter((each) => each.won === undefined);
      expect(loser?.winner).toEqual({ approved: won, by: won ? "ann" : "bob" });
      expect((await ended(world, "r")).output).toEqual({ approved: won, by: won ? "ann" : "bob" });
      expect(world.metrics.total("runs-ended")).toBe(1);
      expect(world.metrics.total("gates-decided")).toBe(1);
    }
  });

  test("of the same person twice is answered like the first, and is one record", async () => {
    const world = worldOf([gate("g"), gate("a", { after: ["g"] })]);
    await begin(world);
    const request = { gate: "g", approved: true, by: "ann", id: "click-1" };
    expect(await decide(world.engine, refOf("r"), request)).toEqual({ isRepeat: false });
    expect(await decide(world.engine, refOf("r"), request)).toEqual({ isRepeat: true });
    expect(world.store.snapshot().filter((each) => each.sk.startsWith("ATT#")).length).toBe(1);
  });

  test("against a time-out is a race on one record: whoever is second gets gate-decided, or is not asked", async () => {
    const world = worldOf([gate("a", { timeoutMs: 10_000, onTimeout: "approve" })]);
    await begin(world);
    await world.advance(9_999);
    await decide(world.engine, refOf("r"), { gate: "a", approved: true, by: "ann" });
    expect((await ended(world, "r")).output).toEqual({ approved: true, by: "ann" });
    const late = worldOf([gate("a", { timeoutMs: 10_000, onTimeout: "approve" })]);
    await begin(late);
    expect((await ended(late, "r")).output).toEqual({ approved: true, timedOut: true });
    expect(await codeOf(decide(late.engine, refOf("r"), { gate: "a", approved: false }))).toBe("run-ended");
  });

  test("of a run that is terminated in that instant is not told as heeded", async () => {
    const world = worldOf([gate("a")]);
    await begin(world);
    const deciding = decide(
      {
        ...world.engine,
        queue: {
          ...world.engine.queue,
          send: async (messages) => {
            await terminate(world.engine, refOf("r"), "ann");
            await world.advance(1000);
            return await world.engine.queue.send(messages);
          },
        },
      },
      refOf("r"),
      { gate: "a", approved: true, by: "kim" },
    );
    expect(await codeOf(deciding)).toBe("run-ended");
    expect((await runOf(world, "r")).phase).toBe("terminated");
  });

  test("at a gate that is not open, not there, or of a run that nobody knows says so", async () => {
    const world = worldOf([gate("g"), gate("a", { after: ["g"] })]);
    await begin(world);
    expect(await codeOf(decide(world.engine, refOf("r"), { gate: "a", approved: true }))).toBe("gate-not-open");
    expect(await codeOf(decide(world.engine, refOf("r"), { gate: "x", approved: true }))).toBe("gate-not-open");
    expect(await codeOf(decide(world.engine, refOf("x"), { gate: "a", approved: true }))).toBe("run-not-found");
  });

  test("that nobody woke the run for is looked at within two minutes", async () => {
    let isDead = false;
    const world = worldOf([gate("a")], ref("a"), {
      queueHooks: { before: () => (isDead ? { kind: "crash-before" } : undefined) },
    });
    await begin(world);
    isDead = true;
    void decide(world.engine, refOf("r"), { gate: "a", approved: true });
    await world.clock.settle();
    isDead = false;
    expect((await ended(world, "r", 121_000)).status).toBe("succeeded");
  });
});
