import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RetryPolicy } from "../../lib/core/definition.ts";
import { toDelaySeconds } from "../../lib/core/delay.ts";
import { dueOf } from "../../lib/core/due.ts";
import { defaultLimits, fixed } from "../../lib/core/limits.ts";
import { newlyOwed, owed } from "../../lib/core/owed.ts";
import { retryDelayMs } from "../../lib/core/retry.ts";
import type { Active, ActiveState, Run } from "../../lib/core/run.ts";
import { freshRun, programWith, stepNode, t0 } from "./fixture.ts";

const program = programWith([stepNode("a"), stepNode("b")]);
const entry = (state: ActiveState, more: Partial<Active> = {}): Active => ({
  node: 0,
  index: 0,
  attempt: 1,
  state,
  sinceMs: t0,
  untilMs: t0 + 100_000,
  sends: 1,
  lost: 0,
  token: "",
  ...more,
});
const runWith = (active: readonly Active[], more: Partial<Run> = {}) => freshRun(program, { active, ...more });
const keysOf = (run: Run, nowMs = t0) => owed(run, program, nowMs).map((each) => each.key);
const dueAt = (run: Run, nowMs = t0) => dueOf(run, undefined, nowMs, defaultLimits);
const minute = 60_000;

describe("owed, by the state of what is in flight", () => {
  test.each<[ActiveState, Partial<Active>, readonly string[]]>([
    ["task", {}, ["task/0/0/1/1"]],
    ["task", { sinceMs: t0 + 900_000 }, ["task/0/0/1/1"]],
    ["task", { sinceMs: t0 + 900_001 }, []],
    ["held", { token: "00000000000000aa" }, []],
    ["sleep", { untilMs: t0 + 900_000 }, [`timer/0/0/1/1/${t0 + 900_000}`]],
    ["sleep", { untilMs: t0 + 900_001 }, []],
    ["sleep", { untilMs: t0 }, []],
    ["signal", { untilMs: 0 }, []],
    ["signal", { untilMs: t0 + 1 }, [`timer/0/0/1/1/${t0 + 1}`]],
    ["gate", { untilMs: 0 }, ["event/0123456789abcdef/gate/a"]],
    ["gate", { untilMs: t0 + 1 }, [`timer/0/0/1/1/${t0 + 1}`, "event/0123456789abcdef/gate/a"]],
    ["gate", { untilMs: 0, sinceMs: t0 - fixed.gateEventMs + 1 }, ["event/0123456789abcdef/gate/a"]],
    ["gate", { untilMs: 0, sinceMs: t0 - fixed.gateEventMs }, []],
    ["child", {}, ["start/0/0/1/1"]],
    ["unwanted", {}, ["cancel/0/0/1/1/true"]],
    ["parked", { untilMs: 0 }, []],
  ])("%s %o owes %j", (state, more, keys) => {
    expect(keysOf(runWith([entry(state, more)]))).toEqual(keys);
    expect(keysOf(runWith([entry(state, more)], { isPaused: true }))).toEqual([]);
  });

  test("a terminal run owes its parent a notice and its children a cancel; an event while it is not settled", () => {
    const ended = { phase: "failed", hasParent: true, endedAtMs: t0 } as const;
    expect(keysOf(runWith([entry("unwanted")], ended))).toEqual(["cancel/0/0/1/1/false", "notice"]);
    expect(keysOf(runWith([], { phase: "succeeded" }))).toEqual([]);
    const due = { kind: "at", atMs: t0 } as const;
    expect(keysOf(runWith([], { phase: "succeeded", due }))).toEqual(["event/0123456789abcdef/end"]);
    expect(keysOf(runWith([], { ...ended, due: { kind: "ended-badly", atMs: t0 } }))).toEqual(["notice"]);
  });

  test("a sending again, a further attempt and another instant are new; the same is not", () => {
    const before = runWith([entry("task")]);
    const again = (more: Partial<Active>) =>
      newlyOwed(runWith([entry("task", more)]), before, program, t0).map((each) => each.key);
    expect(again({})).toEqual([]);
    expect(again({ untilMs: t0 + 1 })).toEqual([]);
    expect(again({ sends: 2 })).toEqual(["task/0/0/1/2"]);
    expect(again({ attempt: 2 })).toEqual(["task/0/0/2/1"]);
    const timer = runWith([entry("gate", { untilMs: t0 + 1000 })]);
    const later = runWith([entry("gate", { untilMs: t0 + 2000 })]);
    expect(newlyOwed(later, timer, program, t0).length).toBe(1);
  });

  test("a task that waited for its due is new at that instant, whoever ticks then", () => {
    const waiting = entry("task", { attempt: 2, sinceMs: t0 + 3_600_000, untilMs: t0 + 3_700_000 });
    const before = runWith([waiting], { due: { kind: "at", atMs: t0 + 3_600_000 } });
    const after = { ...before, due: { kind: "at", atMs: t0 + 3_700_000 } } as const;
    expect(newlyOwed(after, before, program, t0 + 3_600_000).map((each) => each.key)).toEqual(["task/0/0/2/1"]);
  });

  test("a resumed run owes again what it owed, a paused one nothing new", () => {
    const running = runWith([entry("task")]);
    const paused = { ...running, isPaused: true };
    expect(newlyOwed(paused, running, program, t0)).toEqual([]);
    expect(newlyOwed(running, paused, program, t0).length).toBe(1);
  });
});

describe("due, by the state of what is in flight", () => {
  test.each<[string, Run, number]>([
    ["a task: when it is looked at again", runWith([entry("task", { untilMs: t0 + 95_000 })]), t0 + 95_000],
    [
      "a task that no message can carry: its instant",
      runWith([entry("task", { sinceMs: t0 + 2e6, untilMs: t0 + 3e6 })]),
      t0 + 2e6,
    ],
    [
      "an inline step: its lease's end and the grace of a dispatch",
      runWith([entry("held", { untilMs: t0 + 35_000 })]),
      t0 + 95_000,
    ],
    ["a near timer: its instant and slack", runWith([entry("sleep", { untilMs: t0 + 900_000 })]), t0 + 905_000],
    ["a far timer: its instant", runWith([entry("sleep", { untilMs: t0 + 900_001 })]), t0 + 900_001],
    ["a child: when its row is read", runWith([entry("child", { untilMs: t0 + minute })]), t0 + minute],
    ["a wait without end: the heartbeat", runWith([entry("gate", { untilMs: 0 })]), t0 + 7 * 86_400_000],
    ["the earliest of all", runWith([entry("gate", { untilMs: 0 }), entry("child", { untilMs: t0 + 5 })]), t0 + 5],
    ["a paused run: the heartbeat", runWith([entry("task"), entry("sleep")], { isPaused: true }), t0 + 7 * 86_400_000],
    ["the deadline, if that is earlier", runWith([entry("gate", { untilMs: 0 })], { deadlineAtMs: t0 + 77 }), t0 + 77],
    ["never the past", runWith([entry("child", { untilMs: t0 - 5 })]), t0 + 1],
  ])("%s", (_, run, atMs) => {
    expect(dueAt(run)).toEqual({ kind: "at", atMs });
  });

  test("a parked run is in the partition of what is parked, by its deadline", () => {
    const run = runWith([entry("parked", { untilMs: 0 })], { isParked: true });
    expect(dueAt(run)).toEqual({ kind: "parked", atMs: run.deadlineAtMs });
  });

  test("a terminal run that owes is due soon; one that owes nothing is found only if it ended badly", () => {
    const ended = { endedAtMs: t0 } as const;
    expect(dueAt(runWith([], { ...ended, phase: "succeeded", hasParent: true }))).toEqual({
      kind: "at",
      atMs: t0 + minute,
    });
    expect(dueAt(runWith([], { ...ended, phase: "succeeded" }))).toBeUndefined();
    expect(dueAt(runWith([], { ...ended, phase: "cancelled" }))).toEqual({ kind: "ended-badly", atMs: t0 });
  });

  test("is kept while it is neither over nor later than wanted, as a write on the index costs", () => {
    const run = runWith([entry("task", { untilMs: t0 + 95_000 })]);
    const early = { kind: "at", atMs: t0 + 10 } as const;
    expect(dueOf(run, early, t0, defaultLimits)).toBe(early);
    expect(dueOf(run, early, t0 + 10, defaultLimits)).toEqual({ kind: "at", atMs: t0 + 95_000 });
    expect(dueOf(run, { kind: "at", atMs: t0 + 95_001 }, t0, defaultLimits)).toEqual({ kind: "at", atMs: t0 + 95_000 });
  });
});

describe("due of what has ended or is parked", () => {
  const owing = runWith([entry("unwanted")], { phase: "failed", endedAtMs: t0 });
  const grace = defaultLimits.owedGraceMs;
  const kept = (run: Run, due: Run["due"]) => dueOf(run, due, t0, defaultLimits);

  test.each([
    ["stands as long as it is ahead and soon enough", t0 + 1, t0 + 1],
    ["stands at the very end of the time that is given", t0 + grace, t0 + grace],
    ["is set anew when it has come", t0, t0 + grace],
    ["is set anew when it is over", t0 - 1, t0 + grace],
    ["is set anew when it is later than wanted", t0 + grace + 1, t0 + grace],
  ])("what a terminal run owes %s", (_, storedMs, wantedMs) => {
    const stored = { kind: "at", atMs: storedMs } as const;
    const due = kept(owing, stored);
    expect(due).toEqual({ kind: "at", atMs: wantedMs });
    // the same reference: the index is left alone, which costs
    expect(due === stored).toBe(storedMs === wantedMs);
  });

  test("a terminal run owes nothing for what is not unwanted, and is found by its end alone", () => {
    const settled = runWith([entry("child")], { phase: "failed", endedAtMs: t0 });
    expect(kept(settled, { kind: "at", atMs: t0 + 1 })).toEqual({ kind: "ended-badly", atMs: t0 });
  });

  test("a parked run that is in its partition already stays there, unless its deadline is another", () => {
    const parked = runWith([entry("parked", { untilMs: 0 })], { isParked: true });
    const stored = { kind: "parked", atMs: parked.deadlineAtMs } as const;
    expect(kept(parked, stored)).toBe(stored);
    expect(kept(parked, { ...stored, atMs: stored.atMs - 1 })).toEqual(stored);
    expect(kept(parked, { kind: "at", atMs: parked.deadlineAtMs })).toEqual(stored);
  });
});

describe("the pause before another try", () => {
  const policies = fc.record<RetryPolicy>({
    attempts: fc.integer({ min: 1, max: 100 }),
    firstDelayMs: fc.integer({ min: 0, max: 3_600_000 }),
    longestDelayMs: fc.integer({ min: 3_600_000, max: 400 * 86_400_000 }),
    factor: fc.double({ min: 1, max: 100, noNaN: true }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  test("is whole, within its bounds, and the same in every process", () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 100 }), fc.string(), (policy, tries, seed) => {
        const delay = retryDelayMs(policy, tries, seed);
        expect(Number.isSafeInteger(delay)).toBe(true);
        const full = Math.min(policy.longestDelayMs, policy.firstDelayMs * policy.factor ** (tries - 1));
        expect(delay).toBeLessThanOrEqual(Math.round(full));
        expect(delay).toBeGreaterThanOrEqual(Math.floor(full * (1 - policy.jitter)));
        expect(retryDelayMs(policy, tries, seed)).toBe(delay);
      }),
    );
  });

  test("never shrinks from one try to the next without jitter", () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 99 }), (policy, tries) => {
        const even = { ...policy, jitter: 0 };
        expect(retryDelayMs(even, tries + 1, "")).toBeGreaterThanOrEqual(retryDelayMs(even, tries, ""));
      }),
    );
  });

  test("with full jitter spreads over the whole window", () => {
    const policy = { attempts: 5, firstDelayMs: 1000, longestDelayMs: 1000, factor: 1, jitter: 1 };
    const delays = Array.from({ length: 200 }, (_, at) => retryDelayMs(policy, 1, `run-${at}/0/0/1`));
    expect(Math.min(...delays)).toBeLessThan(100);
    expect(Math.max(...delays)).toBeGreaterThan(900);
  });
});

test.each([
  [0, 0],
  [1, 1],
  [100, 1],
  [999, 1],
  [1000, 1],
  [1001, 2],
  [10_000, 10],
  [899_999, 900],
  [900_000, 900],
  [900_001, 900],
  [-5, 0],
])("a delay of %i ms is %i whole seconds for the queue (Q1)", (ms, seconds) => {
  expect(toDelaySeconds(ms)).toBe(seconds);
});

test("a delay that is no number is refused, not sent (Q1)", () => {
  expect(() => toDelaySeconds(Number.NaN)).toThrow(RangeError);
});
