import { describe, expect, test } from "vitest";
import { type Envelope, envelopeFrom } from "../../lib/core/envelope.ts";
import { merged, type Processing, processingOf } from "../../lib/engine/processing.ts";
import { createWorld } from "../../lib/testing/world.ts";
import { rawRegistry } from "./raw.ts";

const { engine } = createWorld({ registry: rawRegistry([]) });
const of = (fields: object, receiveCount = 1): Processing => {
  const body: Envelope = envelopeFrom(JSON.stringify({ format: 1, runId: "r1", uid: "u1", why: "hint", ...fields }));
  return processingOf(engine, body, receiveCount, () => 60_000);
};
const hinted = { hints: ["0/0/1"] };

describe("what a message makes a processing look at, and do", () => {
  test.each([
    ["a hint: what it names", hinted, 1, false, false],
    ["a task: its own attempt", { task: "0/0/1" }, 1, false, false],
    ["nothing named: every attempt in flight", {}, 1, true, false],
    ["a timer's: every attempt in flight", { ...hinted, why: "timer" }, 1, true, false],
    ["a deploy's: every attempt in flight", { ...hinted, why: "unpark" }, 1, true, false],
    ["a watchdog's: every attempt, and everything that is owed", { ...hinted, why: "watchdog" }, 1, true, true],
    ["flagged: every attempt, and everything that is owed", { ...hinted, all: true }, 1, true, true],
    ["received again: every attempt, and everything that is owed", hinted, 2, true, true],
    ["a task received again: the same", { task: "0/0/1" }, 2, true, true],
  ])("%s", (_, fields, receiveCount, isLoadAll, isPerformAll) => {
    expect(of(fields, receiveCount)).toMatchObject({ isLoadAll, isPerformAll });
  });

  test("its age counts from the first sending, and from now if it has none", () => {
    expect(of({ at: 7 }).firstAtMs).toBe(7);
    expect(of({}).firstAtMs).toBe(engine.clock.nowMs());
  });
});

describe("messages of one run in one batch are one processing", () => {
  const modest = of(hinted);
  const both = (other: Processing) => [merged([modest, other]), merged([other, modest])];

  test("that looks at what any of them names, or at everything if any of them asks for it", () => {
    for (const one of both(of({ hints: ["mail"] }))) expect([...one.hints].sort()).toEqual(["0/0/1", "mail"]);
    for (const one of both(of({}))) expect(one).toMatchObject({ isLoadAll: true, isPerformAll: false });
    expect(merged([modest, modest])).toMatchObject({ isLoadAll: false, isPerformAll: false });
  });

  test("that performs everything if any of them asks for it", () => {
    for (const one of both(of({ ...hinted, all: true }))) expect(one.isPerformAll).toBe(true);
  });

  test("that has the counts of the one which was requeued most, so that no livelock begins anew", () => {
    for (const one of both(of({ ...hinted, n: 7, seq: 12, doubts: 3 })))
      expect(one).toMatchObject({ requeues: 7, requeuesAtSeq: 12, doubts: 3 });
  });

  test("that knows the record which the watchdog found, whoever brought it", () => {
    for (const one of both(of({ why: "watchdog", sk: "STATE#MAIL#u1" }))) expect(one.sk).toBe("STATE#MAIL#u1");
  });

  test("that is for one run only if all of them name the same: otherwise the row decides", () => {
    for (const one of both(of({ ...hinted, uid: "u2" }))) expect(one.runUid).toBeUndefined();
    for (const one of both(of({ ...hinted }))) expect(one.runUid).toBe("u1");
  });

  test.each([
    ["timer", "hint", "timer"],
    ["unpark", "timer", "unpark"],
    ["unpark", "watchdog", "unpark"],
    ["hint", "watchdog", "hand"],
    ["hint", "hint", "hint"],
  ])("that is for %s and %s as %s: what only one of them makes it do is done", (one, other, why) => {
    const [first, second] = [of({ ...hinted, why: one }), of({ ...hinted, why: other })];
    expect([merged([first, second]).why, merged([second, first]).why]).toEqual([why, why]);
  });

  test("and of none of them is a mistake of the caller", () => {
    expect(() => merged([])).toThrow(RangeError);
  });
});
