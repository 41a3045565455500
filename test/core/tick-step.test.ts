import { describe, expect, test } from "vitest";
import { defaultLimits } from "../../lib/core/limits.ts";
import { statusOf } from "../../lib/core/run.ts";
import { drive, programWith, ref, stepNode, t0 } from "./fixture.ts";

describe("a step", () => {
  test("is dispatched by the first tick, and its run ends with it", () => {
    const it = drive(programWith([stepNode("a")]));
    expect(it.names()).toEqual(["a"]);
    expect(it.owed()).toEqual(["task/0/0/1/1"]);
    it.ok("a");
    expect(it.run.phase).toBe("succeeded");
    expect(it.run.due).toBeUndefined();
    expect(it.run.active).toEqual([]);
  });

  test("waits for what it reads and for what it names in after", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"]), stepNode("c", [], { after: ["b"] })]));
    expect(it.names()).toEqual(["a"]);
    it.ok("a");
    expect(it.names()).toEqual(["b"]);
    it.ok("b");
    expect(it.names()).toEqual(["c"]);
  });

  test("two that wait for nothing run beside each other, and a third waits for both", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b"), stepNode("c", ["a", "b"])]));
    expect(it.names()).toEqual(["a", "b"]);
    it.ok("b");
    expect(it.has("c")).toBe(false);
    it.ok("a");
    expect(it.names()).toEqual(["c"]);
  });

  test("is skipped if its condition is false, and what waits for it goes on", () => {
    const nodes = [
      stepNode("a", [], { when: { $: ["eq", ref("$input", "go"), true] } }),
      stepNode("b", ["a"]),
      stepNode("c", [], { when: { $: ["exists", ref("b", "x")] } }),
    ];
    const it = drive(programWith(nodes), { input: { go: false } });
    expect(it.stateOf("a")).toBe("skipped");
    expect(it.names()).toEqual(["b"]);
    it.ok("b", { x: 1 });
    expect(it.names()).toEqual(["c"]);
  });

  test("fails if its condition is neither true nor false", () => {
    const it = drive(programWith([stepNode("a", [], { when: ref("$input", "go") })]), { input: { go: "yes" } });
    expect(it.run.phase).toBe("failed");
    expect(it.run.reason?.code).toBe("not-comparable");
  });

  test("fails if a fact of its condition is a fault", () => {
    const it = drive(programWith([stepNode("a", [], { when: { $: ["gt", ref("$input", "n"), 1] } })]), { input: {} });
    expect(it.run.reason?.code).toBe("not-comparable");
  });

  test("facts leave the row with their last reader", () => {
    const when = { $: ["eq", ref("a", "x"), 1] };
    const it = drive(programWith([stepNode("a"), stepNode("g"), stepNode("b", ["g"], { when })]));
    it.ok("a", { x: 1 });
    expect(it.run.facts.size).toBe(1);
    it.ok("g");
    expect(it.names()).toEqual(["b"]);
    expect(it.run.facts.size).toBe(0);
  });
});

describe("an attempt", () => {
  test("that nobody claims is looked at ever more rarely, and in the end every quarter of an hour and its lease", () => {
    const it = drive(programWith([stepNode("a")]), { run: { deadlineAtMs: t0 + 30 * 86_400_000 } });
    const { dispatchGraceMs, dispatchGraceMsMax, clockSlackMs } = defaultLimits;
    const pauses: number[] = [];
    for (let sends = 1; sends <= 12; sends++) {
      pauses.push(it.entry("a").untilMs - it.nowMs);
      it.nowMs = it.entry("a").untilMs;
      it.look();
      expect(it.entry("a").sends).toBe(sends + 1);
    }
    const leaseMs = (pauses[0] ?? 0) - dispatchGraceMs;
    expect(leaseMs).toBeGreaterThan(clockSlackMs);
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
    expect(pauses.at(-1)).toBe(dispatchGraceMsMax + leaseMs);
  });

  test("that failed pauses by a chance of its own: another run's, node's or try's is another", () => {
    const retry = { attempts: 9, firstDelayMs: 1_000_000, longestDelayMs: 1_000_000, factor: 1, jitter: 1 };
    const nodes = [stepNode("a", [], { retry }), stepNode("b", [], { retry })];
    const pauses: number[] = [];
    for (const runUid of ["00000000000000a1", "00000000000000a2"]) {
      const it = drive(programWith(nodes), { run: { runUid } });
      for (const name of ["a", "b"])
        for (let tries = 0; tries < 3; tries++) {
          it.fail(name);
          pauses.push(it.entry(name).sinceMs - it.nowMs);
        }
    }
    expect(new Set(pauses).size).toBe(pauses.length);
  });

  test("that failed is tried again after the policy's pause, as often as the policy says", () => {
    const it = drive(programWith([stepNode("a")]));
    it.fail("a");
    expect(it.entry("a")).toMatchObject({ attempt: 2, sinceMs: t0 + 1000, sends: 1 });
    it.at(1000).fail("a");
    expect(it.entry("a")).toMatchObject({ attempt: 3, sinceMs: t0 + 3000 });
    it.at(3000).fail("a", { message: "for good" });
    expect(it.run.phase).toBe("failed");
    expect(it.run.reason).toEqual({ code: "handler-failed", message: "a: for good" });
    expect(it.run.due).toEqual({ kind: "ended-badly", atMs: t0 + 3000 });
  });

  test("that asks for a pause of its own gets it in place of the policy's", () => {
    const it = drive(programWith([stepNode("a")]));
    it.fail("a", { afterMs: 42_000 });
    expect(it.entry("a").sinceMs).toBe(t0 + 42_000);
  });

  test("that says fatal is not tried again", () => {
    const it = drive(programWith([stepNode("a")]));
    it.fail("a", { code: "fatal" });
    expect(it.run.reason?.code).toBe("fatal");
  });

  test("whose failure is data lets the run go on", () => {
    const nodes = [
      stepNode("a", [], { onFailure: "continue" }),
      stepNode("b", [], { when: { $: ["eq", ref("a", "ok"), false] } }),
      stepNode("c", [], { when: { $: ["eq", ref("a", "ok"), true] } }),
    ];
    const it = drive(programWith(nodes));
    it.fail("a", { code: "fatal", message: "no" });
    expect(it.stateOf("a")).toBe("failed");
    expect(it.names()).toEqual(["b"]);
    expect(it.stateOf("c")).toBe("skipped");
    expect(it.run.tiny).toMatchObject([{ kind: "fault", node: 0 }]);
    it.ok("b");
    expect(it.run.phase).toBe("succeeded");
  });

  test("that nobody claimed is sent again, later each time, and not while its queue is behind", () => {
    const it = drive(programWith([stepNode("a")]));
    const first = it.entry("a").untilMs;
    expect(first).toBe(t0 + 60_000 + 35_000);
    it.at(first - t0).look();
    expect(it.entry("a")).toMatchObject({ sends: 2, attempt: 1, untilMs: first + 120_000 + 35_000 });
    const second = it.entry("a").untilMs;
    it.nowMs = second;
    const { node, index, attempt } = it.entry("a");
    it.tick({ attempts: new Map([[`${node}/${index}/${attempt}`, undefined]]), behind: new Set(["default"]) });
    // as long again as it has waited
    expect(it.entry("a")).toMatchObject({ sends: 2, untilMs: second + (second - t0) + 35_000 });
  });

  test("that nobody looked for is left alone, however late it is", () => {
    const it = drive(programWith([stepNode("a")]));
    it.nowMs = t0 + 200_000;
    const before = it.run;
    const after = it.tick();
    expect(after.active).toEqual(before.active);
    expect(after.transitionSeq).toBe(before.transitionSeq);
  });

  test("whose lease ran out is closed as lost, and the next one opens", () => {
    const it = drive(programWith([stepNode("a")]));
    it.claim("a");
    it.at(35_000).look();
    expect(it.closed).toEqual(["lost a/0/1"]);
    expect(it.entry("a")).toMatchObject({ attempt: 2, lost: 0 });
  });

  test("whose heartbeat came at the same instant is not closed: the record disposes", () => {
    const it = drive(programWith([stepNode("a")]));
    it.claim("a");
    const stale = it.records.get("0/0/1");
    it.records.set("0/0/1", { ...stale!, leaseUntilMs: t0 + 70_000 });
    it.nowMs = t0 + 35_000;
    it.tick({ attempts: new Map([["0/0/1", stale]]) });
    expect(it.closed).toEqual(["lost a/0/1"]);
    expect(it.entry("a").attempt).toBe(1);
  });

  test("that is claimed moves its due to the lease's end, without progress", () => {
    const it = drive(programWith([stepNode("a", [], { timeoutMs: 600_000 })]));
    const seq = it.run.transitionSeq;
    it.nowMs = it.entry("a").untilMs - 1000;
    it.claim("a", 605_000);
    it.nowMs += 1000;
    it.look();
    expect(it.entry("a").untilMs).toBe(it.nowMs - 1000 + 605_000);
    expect(it.run.transitionSeq).toBe(seq);
  });

  test("lost in delivery is no try, and the third loss fails the node as never-claimed", () => {
    const it = drive(programWith([stepNode("a", [], { retry: { ...stepNode("x").retry, attempts: 1 } })]));
    it.end("a", { kind: "lost", isUnclaimed: true });
    expect(it.entry("a")).toMatchObject({ attempt: 2, lost: 1 });
    it.end("a", { kind: "lost", isUnclaimed: true });
    expect(it.entry("a")).toMatchObject({ attempt: 3, lost: 2 });
    it.end("a", { kind: "lost", isUnclaimed: true });
    expect(it.run.reason?.code).toBe("never-claimed");
  });

  test("lost deliveries and failures count apart", () => {
    const it = drive(programWith([stepNode("a")]));
    it.end("a", { kind: "lost", isUnclaimed: true });
    it.fail("a");
    it.fail("a");
    expect(it.entry("a")).toMatchObject({ attempt: 4, lost: 1 });
    it.fail("a");
    expect(it.run.reason?.code).toBe("handler-failed");
  });

  test("that timed out is tried again; the last one fails the node as timed-out", () => {
    const it = drive(programWith([stepNode("a")]));
    for (let tries = 0; tries < 3; tries++) it.end("a", { kind: "timed-out" });
    expect(it.run.reason?.code).toBe("timed-out");
  });

  test("with startWithin fails if no worker took it in time, and not a moment before", () => {
    const it = drive(programWith([stepNode("a", [], { startWithinMs: 120_000 })]));
    it.at(119_999).look();
    expect(it.run.phase).toBe("running");
    it.at(120_000).look();
    expect(it.closed).toEqual(["never-claimed a/0/1"]);
    expect(it.run.reason?.code).toBe("never-claimed");
  });

  test("with startWithin is due when that is over", () => {
    const it = drive(programWith([stepNode("a", [], { startWithinMs: 10_000 })]));
    expect(it.run.due).toEqual({ kind: "at", atMs: t0 + 10_000 });
  });

  test("that ends after its node moved on changes nothing: late", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"])]));
    it.fail("a");
    const before = it.run;
    const late = { node: 0, index: 0, attempt: 1, outcome: { kind: "ok", facts: new Map() } } as const;
    expect(it.tick({ attempts: new Map([["0/0/1", late]]) })).toBe(before);
  });

  test("reported twice counts once", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"])]));
    it.ok("a");
    const before = it.run;
    expect(it.tick({ attempts: new Map([["0/0/1", it.records.get("0/0/1")]]) })).toBe(before);
  });

  test("long back-off is no message: its due sends it", () => {
    const it = drive(programWith([stepNode("a")]));
    it.fail("a", { afterMs: 3_600_000 });
    expect(it.owed()).toEqual([]);
    expect(it.run.due).toEqual({ kind: "at", atMs: t0 + 95_000 });
    it.at(95_000).look();
    expect(it.run.due).toEqual({ kind: "at", atMs: t0 + 3_600_000 });
    it.at(3_600_000);
    expect(it.owed()).toEqual(["task/0/0/2/1"]);
  });
});

describe("an inline step", () => {
  const chain = () =>
    programWith([
      stepNode("a", [], { isInline: true }),
      stepNode("b", ["a"], { isInline: true }),
      stepNode("c", ["b"], { isInline: true, group: "other" }),
    ]);
  const held = (results: readonly object[] = [], more = {}) =>
    ({ token: "00000000000000aa", group: "default", untilMs: t0 + 900_000, results, ...more }) as never;
  const ok = (node: number, attempt = 1) => ({
    node,
    index: 0,
    attempt,
    startedAtMs: t0,
    endedAtMs: t0,
    outcome: { kind: "ok", facts: new Map(), output: { kind: "value", text: "1" } },
  });

  test("is taken by whoever names its task, and one commit says that it is done and the next one runs", () => {
    const it = drive(chain());
    it.tick({
      held: held([], { claim: { node: 0, index: 0, attempt: 1 } }),
      attempts: new Map([["0/0/1", undefined]]),
    });
    expect(it.entry("a")).toMatchObject({ state: "held", token: "00000000000000aa", untilMs: t0 + 35_000 });
    expect(it.owed()).toEqual([]);
    it.tick({ held: held([ok(0)]) });
    expect(it.stateOf("a")).toBe("done");
    expect(it.entry("b")).toMatchObject({ state: "held", token: "00000000000000aa" });
    it.tick({ held: held([ok(1)]) });
    // of another group: a hop
    expect(it.entry("c")).toMatchObject({ state: "task", token: "" });
  });

  test("is dispatched when the function has no time left for its time-out", () => {
    const it = drive(chain());
    it.tick({
      held: held([], { claim: { node: 0, index: 0, attempt: 1 } }),
      attempts: new Map([["0/0/1", undefined]]),
    });
    it.tick({ held: held([ok(0)], { untilMs: t0 + 29_999 }) });
    expect(it.entry("b").state).toBe("task");
  });

  test("whose holder vanished is closed as lost at the lease's end, and tried again", () => {
    const it = drive(chain());
    it.tick({
      held: held([], { claim: { node: 0, index: 0, attempt: 1 } }),
      attempts: new Map([["0/0/1", undefined]]),
    });
    expect(it.at(34_999).look()).toBe(it.run);
    it.at(35_000).look();
    expect(it.closed).toEqual(["inline-lost a/0/1"]);
    expect(it.entry("a")).toMatchObject({ state: "task", attempt: 2 });
  });

  test("that was taken before another tick closed it runs on: its holder's result counts, and it is not run beside itself", () => {
    const it = drive(chain());
    const mine = held([], { claim: { node: 0, index: 0, attempt: 1 } });
    it.tick({ held: mine, attempts: new Map([["0/0/1", undefined]]) });
    it.records.set("0/0/1", { node: 0, index: 0, attempt: 1, outcome: { kind: "cancelled" } });
    expect(it.at(34_999).look()).toBe(it.run);
    // nothing came by the end of its lease: that was a try
    it.at(35_000).look();
    expect(it.entry("a")).toMatchObject({ state: "task", attempt: 2, lost: 0 });
  });

  test("whose holder kept its result as a record is done, even if its lease is over (W6)", () => {
    const it = drive(chain());
    it.tick({
      held: held([], { claim: { node: 0, index: 0, attempt: 1 } }),
      attempts: new Map([["0/0/1", undefined]]),
    });
    it.records.set("0/0/1", { node: 0, index: 0, attempt: 1, outcome: { kind: "ok", facts: new Map() } });
    it.at(40_000).tick();
    expect(it.stateOf("a")).toBe("done");
  });

  test("result of a holder whose token the row does not show is late", () => {
    const it = drive(chain());
    const before = it.run;
    expect(it.tick({ held: held([ok(0)]) })).toBe(before);
  });

  test("failure waits on the row, and the next attempt is dispatched with its pause", () => {
    const it = drive(chain());
    it.tick({
      held: held([], { claim: { node: 0, index: 0, attempt: 1 } }),
      attempts: new Map([["0/0/1", undefined]]),
    });
    const failed = { ...ok(0), outcome: { kind: "failed", fault: { code: "handler-failed", message: "x" } } };
    it.tick({ held: held([failed]) });
    expect(it.entry("a")).toMatchObject({ state: "task", attempt: 2, sinceMs: t0 + 1000 });
    expect(it.run.tiny).toMatchObject([{ kind: "fault", attempt: 1 }]);
  });
});

describe("parking", () => {
  const parks = [{ node: 0, index: 0, attempt: 1, fault: { code: "bad-input", message: "" } }] as const;

  test("burns no try, and a deploy sends the same attempt again", () => {
    const it = drive(programWith([stepNode("a")]));
    it.tick({ parks });
    expect(statusOf(it.run)).toBe("parked");
    expect(it.entry("a")).toMatchObject({ state: "parked", attempt: 1, lost: 0 });
    expect(it.run.due?.kind).toBe("parked");
    expect(it.owed()).toEqual([]);
    expect(it.tick()).toBe(it.run);
    it.tick({ isUnpark: true });
    expect(it.entry("a")).toMatchObject({ state: "task", attempt: 1, sends: 2 });
    expect(it.run.due?.kind).toBe("at");
  });

  test("of one node lets the others go on, and the run is parked only when nothing else moves", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b")]));
    it.tick({ parks });
    expect(statusOf(it.run)).toBe("running");
    it.ok("b");
    expect(statusOf(it.run)).toBe("parked");
  });

  test("does not keep a run from its deadline", () => {
    const it = drive(programWith([stepNode("a")]));
    it.tick({ parks });
    expect(it.run.due).toEqual({ kind: "parked", atMs: it.run.deadlineAtMs });
    it.nowMs = it.run.deadlineAtMs;
    it.tick();
    expect(it.run).toMatchObject({ phase: "failed", reason: { code: "deadline" } });
  });
});

test("an empty workflow has succeeded when it is created", () => {
  const it = drive(programWith([]));
  expect(it.run.phase).toBe("succeeded");
});
