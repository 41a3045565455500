import { describe, expect, test } from "vitest";
import type { GateNode, NodeDef, SignalNode } from "../../lib/core/definition.ts";
import type { Signal } from "../../lib/core/inputs.ts";
import { fixed } from "../../lib/core/limits.ts";
import { drive, programWith, ref, stepNode, t0 } from "./fixture.ts";

const sleepOf = (name: string, forMs: number, after: readonly string[] = []): NodeDef => ({
  kind: "sleep",
  name,
  forMs,
  after,
});
const signalOf = (name: string, more: Partial<SignalNode> = {}): SignalNode => ({
  kind: "signal",
  name,
  signal: name,
  ...more,
});
const gateOf = (name: string, more: Partial<GateNode> = {}): GateNode => ({ kind: "gate", name, ...more });

describe("a sleep", () => {
  test("ends at its instant, and an early timer changes nothing (S4)", () => {
    const it = drive(programWith([sleepOf("z", 60_000), stepNode("a", [], { after: ["z"] })]));
    expect(it.owed()).toEqual([`timer/0/0/1/1/${t0 + 60_000}`]);
    expect(it.at(59_999).look()).toBe(it.run);
    it.at(60_000).look();
    expect(it.stateOf("z")).toBe("done");
    expect(it.names()).toEqual(["a"]);
  });

  test.each([
    [899_000, 1],
    [900_000, 1],
    [900_001, 0],
    [86_400_000, 0],
  ])("of %i ms owes %i message: what is longer is the row's due (S2, Q11)", (forMs, messages) => {
    const it = drive(programWith([sleepOf("z", forMs), stepNode("a", [], { after: ["z"] })]));
    expect(it.owed().length).toBe(messages);
    const slack = messages === 1 ? 5000 : 0;
    expect(it.run.due).toEqual({ kind: "at", atMs: t0 + forMs + slack });
  });

  test("of a paused run keeps its instant and fires when the run is resumed", () => {
    const it = drive(programWith([sleepOf("z", 60_000), stepNode("a", [], { after: ["z"] })]));
    it.command("pause");
    expect(it.owed()).toEqual([]);
    it.at(90_000).look();
    expect(it.stateOf("z")).toBe("pending");
    it.command("resume");
    expect(it.stateOf("z")).toBe("done");
  });
});

describe("a signal", () => {
  test("that came before its wait is taken by the tick that opens the wait (W3)", () => {
    const it = drive(programWith([stepNode("a"), signalOf("go", { after: ["a"] }), stepNode("b", ["go"])]));
    it.signal("go", { n: 1 });
    expect(it.run.mail).toEqual({ signals: 0, mask: 0, commands: 0 });
    it.ok("a");
    expect(it.names()).toEqual(["b"]);
    expect(it.run.mail.signals).toBe(1);
    expect(it.run.tiny).toMatchObject([{ node: 1, kind: "value", text: '{"n":1}' }]);
  });

  test("that nobody waits for stands before nothing", () => {
    const it = drive(programWith([signalOf("go"), signalOf("late", { after: ["go"] })]));
    const before = it.run;
    expect(it.signal("late")).toBe(before);
    it.signal("go");
    expect(it.run.phase).toBe("succeeded");
    expect(it.run.mail).toEqual({ signals: 2, mask: 0, commands: 0 });
  });

  test("is taken once, by the first of two waits; the second takes the second", () => {
    const it = drive(programWith([signalOf("one", { signal: "s" }), signalOf("two", { signal: "s" })]));
    it.signal("s");
    expect(it.names()).toEqual(["two"]);
    it.tick();
    expect(it.names()).toEqual(["two"]);
    it.signal("s");
    expect(it.run.phase).toBe("succeeded");
  });

  test.each([
    [undefined, "failed"],
    ["continue", "succeeded"],
  ] as const)("that does not come in time, with onTimeout %s, ends the run as %s", (onTimeout, phase) => {
    const it = drive(programWith([signalOf("go", { timeoutMs: 1000, ...(onTimeout && { onTimeout }) })]));
    it.at(999).look();
    expect(it.run.phase).toBe("running");
    it.at(1000).look();
    expect(it.run.phase).toBe(phase);
  });

  test("that came beats its time-out, whatever the clock says by now", () => {
    const it = drive(programWith([signalOf("go", { timeoutMs: 1000 })]));
    it.at(5000).signal("go");
    expect(it.run.phase).toBe("succeeded");
  });

  test("of a full mailbox whose head nobody waits for is given up, one a tick", () => {
    const it = drive(programWith([signalOf("go")]));
    const signals: Signal[] = Array.from({ length: fixed.mailboxSignalsMax }, (_, seq) => ({
      seq,
      name: "other",
      payload: { kind: "value", value: null },
      atMs: t0,
    }));
    it.tick({ mail: { signals, commands: [], isFull: true } });
    expect(it.run.mail.signals).toBe(1);
    expect(it.notes.undelivered).toBe(1);
  });

  test("at the head of a full mailbox is not given up by the tick that opens its wait (W7)", () => {
    const it = drive(programWith([stepNode("a"), signalOf("go", { after: ["a"] }), signalOf("z", { after: ["go"] })]));
    const signals: Signal[] = Array.from({ length: fixed.mailboxSignalsMax }, (_, seq) => ({
      seq,
      name: "go",
      payload: { kind: "value", value: seq },
      atMs: t0,
    }));
    const attempts = new Map([
      ["0/0/1", { node: 0, index: 0, attempt: 1, outcome: { kind: "ok", facts: new Map() } } as const],
    ]);
    it.tick({ attempts, mail: { signals, commands: [], isFull: true } });
    expect(it.run.tiny).toMatchObject([{ node: 1, text: "0" }]);
    expect(it.notes.undelivered).toBe(0);
  });

  test("facts of a payload decide a condition", () => {
    const nodes = [signalOf("go"), stepNode("b", [], { when: { $: ["gt", ref("go", "n"), 5] } })];
    const it = drive(programWith(nodes));
    it.signal("go", { n: 6 });
    expect(it.names()).toEqual(["b"]);
  });
});

describe("a gate", () => {
  test("yields the decision; a rejection fails the node unless it is data", () => {
    const approved = drive(programWith([gateOf("g"), stepNode("b", ["g"])]));
    approved.decide("g", true);
    expect(approved.names()).toEqual(["b"]);
    const rejected = drive(programWith([gateOf("g"), stepNode("b", ["g"])]));
    rejected.decide("g", false);
    expect(rejected.run).toMatchObject({
      phase: "failed",
      reason: { code: "rejected", message: "g: rejected by ann" },
    });
    const nodes = [gateOf("g", { onReject: "continue" }), stepNode("b", [], { when: ref("g", "approved") })];
    const data = drive(programWith(nodes));
    data.decide("g", false);
    expect(data.run.phase).toBe("succeeded");
    expect(data.stateOf("b")).toBe("skipped");
  });

  test.each([
    [undefined, "failed", "timed-out"],
    ["reject", "failed", "rejected"],
    ["approve", "succeeded", undefined],
    ["continue", "succeeded", undefined],
  ] as const)("whose time is over, with onTimeout %s, is %s", (onTimeout, phase, code) => {
    const it = drive(programWith([gateOf("g", { timeoutMs: 1000, ...(onTimeout && { onTimeout }) })], ref("g")));
    it.at(1000).look();
    expect(it.closed).toEqual(["timed-out g/0/1"]);
    expect(it.run.phase).toBe(phase);
    expect(it.run.reason?.code).toBe(code);
  });

  test("whose decision was recorded first is decided by it, though its time is over (W20)", () => {
    const it = drive(programWith([gateOf("g", { timeoutMs: 1000 })], ref("g")));
    const outcome = { kind: "decided", decision: { approved: true } } as const;
    it.records.set("0/0/1", { node: 0, index: 0, attempt: 1, outcome });
    // this tick does not know of it, asks for the time-out, and is told who won
    it.at(2000).tick();
    expect(it.closed).toEqual(["timed-out g/0/1"]);
    expect(it.run.phase).toBe("succeeded");
  });

  test("of a paused run takes a decision in, and does not time out", () => {
    const it = drive(programWith([gateOf("g", { timeoutMs: 1000 }), stepNode("b", ["g"])]));
    it.command("pause");
    it.at(2000).look();
    expect(it.closed).toEqual([]);
    it.decide("g", true);
    expect(it.stateOf("g")).toBe("done");
    expect(it.owed()).toEqual([]);
  });
});

describe("a child", () => {
  const child = (name: string, more = {}): NodeDef => ({
    kind: "child",
    name,
    workflow: "other",
    definition: "0".repeat(32),
    input: {},
    ...more,
  });

  test("is started once, and its end is the node's", () => {
    const it = drive(programWith([child("c"), stepNode("b", ["c"])]));
    expect(it.owed()).toEqual(["start/0/0/1/1"]);
    expect(it.run.children).toBe(1);
    it.ok("c", { x: 1 });
    expect(it.names()).toEqual(["b"]);
  });

  test("that failed fails the node with its own words", () => {
    const it = drive(programWith([child("c")]));
    it.end("c", { kind: "failed", fault: { code: "child-failed", message: "why" } });
    expect(it.run.reason).toEqual({ code: "child-failed", message: "c: why" });
  });

  test("is looked at after 1, 2, 4 ... 15 minutes, for a notice that was lost", () => {
    const it = drive(programWith([child("c")]));
    const polls = [60_000];
    for (let n = 0; n < 6; n++) {
      it.nowMs = it.entry("c").untilMs;
      it.look();
      polls.push(it.entry("c").untilMs - it.nowMs);
    }
    expect(polls).toEqual([60_000, 120_000, 240_000, 480_000, 900_000, 900_000, 900_000]);
    expect(it.owed()).toEqual(["start/0/0/1/7"]);
  });

  test("nested deeper than the budget fails the run with a fault that says so", () => {
    const it = drive(programWith([child("c")]), { run: { depth: 8 } });
    expect(it.run).toMatchObject({ phase: "failed", reason: { code: "budget" } });
  });

  test("of an ending run is cancelled until it has ended, at first and again at the end", () => {
    const it = drive(programWith([child("c"), stepNode("a")]));
    it.fail("a", { code: "fatal" });
    expect(it.run.phase).toBe("failed");
    expect(it.entry("c").state).toBe("unwanted");
    expect(it.owed()).toEqual(["cancel/0/0/1/1/false", "event/0123456789abcdef/end"]);
    expect(it.run.due).toEqual({ kind: "at", atMs: t0 + 60_000 });
  });
});

describe("signal waits beyond what fits in flight", () => {
  test("all open in the end: one taken at once makes room for the next", () => {
    const many = Array.from({ length: 70 }, (_, at) => signalOf(`s${at}`, { signal: `s${at}` }));
    const it = drive(programWith([stepNode("a"), ...many.map((each) => ({ ...each, after: ["a"] }))]));
    for (let at = 0; at < 5; at++) it.signal(`s${at}`);
    it.ok("a");
    expect(it.run.active.length).toBe(64);
    for (let at = 5; at < 70; at++) it.signal(`s${at}`);
    expect(it.run.phase).toBe("succeeded");
  });
});
