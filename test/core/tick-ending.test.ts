import { describe, expect, test } from "vitest";
import type { NodeDef } from "../../lib/core/definition.ts";
import { noInputs } from "../../lib/core/inputs.ts";
import { defaultLimits } from "../../lib/core/limits.ts";
import { statusOf } from "../../lib/core/run.ts";
import { tick } from "../../lib/core/tick.ts";
import { drive, programWith, ref, stepBody, stepNode, t0, undo } from "./fixture.ts";

const dayMs = 86_400_000;
const saga = () => programWith([stepNode("a"), stepNode("b", ["a"]), stepNode("c", ["b"]), undo("a"), undo("b")]);

describe("a saga", () => {
  test("undoes what was done, newest first, one after the other, and has failed when all is undone", () => {
    const it = drive(saga());
    it.ok("a");
    it.ok("b");
    it.fail("c", { code: "fatal" });
    expect(it.run.phase).toBe("compensating");
    expect(it.names()).toEqual(["b.undo"]);
    it.ok("b.undo");
    expect(it.names()).toEqual(["a.undo"]);
    expect(it.run.phase).toBe("compensating");
    it.ok("a.undo");
    expect(it.run).toMatchObject({ phase: "failed", isUncompensated: false, reason: { code: "fatal" } });
  });

  test("undoes nothing that was not done", () => {
    const it = drive(saga());
    it.fail("a", { code: "fatal" });
    expect(it.run.phase).toBe("failed");
    expect(it.run.isUncompensated).toBe(false);
  });

  test("does not look at its compensations while all goes well", () => {
    const it = drive(saga());
    it.ok("a");
    it.ok("b");
    it.ok("c");
    expect(it.run.phase).toBe("succeeded");
  });

  test("tries a compensation again by its policy, and reports the one that failed for good while it undoes the others", () => {
    const it = drive(saga());
    it.ok("a");
    it.ok("b");
    it.fail("c", { code: "fatal" });
    it.fail("b.undo", { message: "stuck" });
    expect(it.entry("b.undo").attempt).toBe(2);
    it.at(60_000).fail("b.undo", { message: "stuck" });
    it.fail("b.undo", { message: "stuck" });
    expect(it.names()).toEqual(["a.undo"]);
    expect(it.notes.uncompensated).toBe(1);
    it.ok("a.undo");
    expect(it.run).toMatchObject({
      phase: "failed",
      isUncompensated: true,
      reason: { code: "handler-failed", message: "b.undo: not undone: stuck" },
    });
  });

  test("awaits what runs and can be undone, and undoes it too", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b"), undo("a")]));
    it.claim("a");
    it.fail("b", { code: "fatal" });
    expect(it.run.phase).toBe("compensating");
    expect(it.names()).toEqual(["a"]);
    it.ok("a");
    expect(it.names()).toEqual(["a.undo"]);
    it.ok("a.undo");
    expect(it.run.phase).toBe("failed");
  });

  test("closes what was not claimed, so that it cannot begin", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b"), undo("a")]));
    it.fail("b", { code: "fatal" });
    expect(it.closed).toEqual(["cancelled a/0/1"]);
    expect(it.run.phase).toBe("failed");
  });

  test("fails for its true reason, not for what was closed because of it", () => {
    const it = drive(programWith([stepNode("a"), { kind: "gate", name: "g" }, stepNode("b", ["g"]), stepNode("c")]));
    it.fail("c", { code: "fatal", message: "broken" });
    expect(it.closed).toEqual(["cancelled a/0/1", "cancelled g/0/1"]);
    expect(it.run.reason).toEqual({ code: "fatal", message: "c: broken" });
  });

  test("that another tick began and nobody committed opens what it had closed again, and burns no try", () => {
    const it = drive(programWith([stepNode("a"), { kind: "gate", name: "g" }, stepNode("b", ["a", "g"])]));
    const closed = { index: 0, attempt: 1, outcome: { kind: "cancelled" } } as const;
    it.records.set("0/0/1", { node: 0, ...closed });
    it.records.set("1/0/1", { node: 1, ...closed });
    it.look();
    expect(it.entry("a")).toMatchObject({ attempt: 2, lost: 1, state: "task" });
    expect(it.entry("g")).toMatchObject({ attempt: 2, state: "gate" });
    it.ok("a");
    it.decide("g", true);
    expect(it.names()).toEqual(["b"]);
  });

  test("awaits an inline step that was taken before another tick closed it, and undoes what it did", () => {
    const it = drive(programWith([stepNode("a", [], { isInline: true }), stepNode("b"), undo("a")]));
    const mine = { token: "00000000000000aa", group: "default", untilMs: t0 + 30_000 };
    const claim = { node: 0, index: 0, attempt: 1 };
    it.tick({ held: { ...mine, results: [], claim } as never, attempts: new Map([["0/0/1", undefined]]) });
    // closed by a tick that had not seen the claim, and whose commit lost
    it.records.set("0/0/1", { node: 0, index: 0, attempt: 1, outcome: { kind: "cancelled" } });
    it.fail("b", { code: "fatal" });
    it.look();
    expect(it.names()).toEqual(["a"]);
    expect(it.run.phase).not.toBe("failed");
    const done = { ...claim, startedAtMs: t0, endedAtMs: t0 };
    const outcome = { kind: "ok", facts: new Map(), output: { kind: "value", text: "1" } };
    it.tick({ held: { ...mine, results: [{ ...done, outcome }] } as never });
    expect(it.names()).toEqual(["a.undo"]);
  });

  test("leaves alone what runs and cannot be undone: it comes late", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b")]));
    it.claim("a");
    it.fail("b", { code: "fatal" });
    // the tick did not know of the claim, asked to close it, and learnt
    expect(it.closed).toEqual(["cancelled a/0/1"]);
    expect(it.run.phase).toBe("failed");
    const before = it.run;
    const late = { node: 0, index: 0, attempt: 1, outcome: { kind: "ok", facts: new Map() } } as const;
    expect(it.tick({ attempts: new Map([["0/0/1", late]]) })).toBe(before);
  });

  test("closes an awaited attempt whose lease ran out, and does not try it again", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b"), undo("a")]));
    it.claim("a");
    it.fail("b", { code: "fatal" });
    it.at(35_000).look();
    expect(it.closed).toContain("lost a/0/1");
    expect(it.run.phase).toBe("failed");
  });
});

describe("cancel", () => {
  test("lets a running step that can be undone end, undoes it, and then the run is cancelled", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"]), undo("a")]));
    it.claim("a");
    it.command("cancel");
    expect(it.run).toMatchObject({ phase: "cancelling", reason: { code: "cancelled", message: "cancel by ann" } });
    it.ok("a");
    expect(it.has("b")).toBe(false);
    it.ok("a.undo");
    expect(it.run).toMatchObject({ phase: "cancelled", isUncompensated: false });
    expect(it.run.due?.kind).toBe("ended-badly");
  });

  test("of a run that waits for a gate closes the gate first: a decision that came before is not lost, nor heeded", () => {
    const it = drive(programWith([{ kind: "gate", name: "g" }, stepNode("b", ["g"])]));
    it.command("cancel");
    expect(it.closed).toEqual(["cancelled g/0/1"]);
    expect(it.run.phase).toBe("cancelled");
  });

  test("of a failing run changes nothing about how it ends", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"]), undo("a")]));
    it.ok("a");
    it.fail("b", { code: "fatal" });
    it.command("cancel");
    it.ok("a.undo");
    expect(it.run).toMatchObject({ phase: "failed", reason: { code: "fatal" } });
  });

  test("of a paused run lifts the pause, and so does one of a run that is paused while it fails", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"]), undo("a")]));
    it.ok("a");
    it.command("pause");
    it.command("cancel");
    expect(it.run.isPaused).toBe(false);
    expect(it.owed()).toEqual(["task/2/0/1/1"]);
    it.command("pause");
    expect(it.owed()).toEqual([]);
    it.command("cancel");
    expect(it.owed()).toEqual(["task/2/0/1/1"]);
  });

  test("of a parked run ends it", () => {
    const it = drive(programWith([stepNode("a")]));
    it.tick({ parks: [{ node: 0, index: 0, attempt: 1, fault: { code: "bad-input", message: "" } }] });
    it.command("cancel");
    expect(it.run.phase).toBe("cancelled");
  });
});

describe("terminate", () => {
  test("ends at once, in every live status, and says what is left to undo", () => {
    for (const before of [[], ["pause"], ["cancel"], ["pause", "resume"]] as const) {
      const it = drive(programWith([stepNode("a"), stepNode("b", ["a"]), undo("a")]));
      it.ok("a");
      for (const kind of before) it.command(kind);
      it.command("terminate");
      expect(it.run).toMatchObject({ phase: "terminated", isUncompensated: true, active: [] });
      expect(it.notes.uncompensated).toBe(1);
    }
  });

  test("with nothing to undo leaves nothing uncompensated, and closes what was not claimed", () => {
    const it = drive(programWith([stepNode("a")]));
    it.command("terminate");
    expect(it.closed).toEqual(["cancelled a/0/1"]);
    expect(it.run).toMatchObject({ phase: "terminated", isUncompensated: false });
  });
});

describe("pause", () => {
  test("dispatches nothing more; what runs may end; resume sends what is in flight and unclaimed", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"])]));
    it.command("pause");
    expect(statusOf(it.run)).toBe("paused");
    it.ok("a");
    expect(it.names()).toEqual(["b"]);
    expect(it.owed()).toEqual([]);
    it.command("resume");
    expect(it.owed()).toEqual(["task/1/0/1/1"]);
    it.ok("b");
    expect(it.run.phase).toBe("succeeded");
  });

  test("has a heartbeat for its due, and the deadline still comes", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"])]));
    it.nowMs = it.run.due!.atMs;
    it.command("pause");
    expect(it.run.due).toEqual({ kind: "at", atMs: it.nowMs + defaultLimits.heartbeatMs });
    it.nowMs = it.run.deadlineAtMs;
    it.look();
    expect(it.run).toMatchObject({ phase: "failed", isPaused: false, reason: { code: "deadline" } });
  });
});

describe("the deadline", () => {
  test("fails the run, which may undo what it did within a day", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"]), undo("a")]));
    it.ok("a");
    it.nowMs = it.run.deadlineAtMs;
    it.look();
    expect(it.run).toMatchObject({ phase: "compensating", reason: { code: "deadline" } });
    expect(it.names()).toEqual(["a.undo"]);
    it.nowMs += dayMs - 1;
    it.look();
    expect(it.run.phase).toBe("compensating");
    it.nowMs += 1;
    it.look();
    expect(it.run).toMatchObject({ phase: "failed", isUncompensated: true });
  });

  test("leaves a run that fails shortly before it the same day to undo what it did", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"]), undo("a")]));
    it.ok("a");
    it.nowMs = it.run.deadlineAtMs - 1000;
    it.fail("b", { code: "fatal" });
    it.nowMs += 2000;
    it.look();
    expect(it.run.phase).toBe("compensating");
    it.nowMs += dayMs;
    it.look();
    expect(it.run.phase).toBe("failed");
  });

  test("leaves a cancelled run a day, too", () => {
    const it = drive(programWith([stepNode("a"), stepNode("b", ["a"]), undo("a")]));
    it.ok("a");
    it.nowMs = it.run.deadlineAtMs - 1000;
    it.command("cancel");
    it.nowMs += 2000;
    it.ok("a.undo");
    expect(it.run.phase).toBe("cancelled");
  });
});

describe("budgets", () => {
  test("of commits and attempts fail the run with a fault that says so", () => {
    const ticks = drive(programWith([stepNode("a"), stepNode("b", ["a"])]), { limits: { ticksMax: 2 } });
    ticks.ok("a");
    expect(ticks.run).toMatchObject({ phase: "failed", reason: { code: "budget" } });
    const attempts = drive(programWith([stepNode("a"), stepNode("b", ["a"])]), { limits: { attemptsMax: 1 } });
    attempts.ok("a");
    attempts.ok("b");
    expect(attempts.run.phase).toBe("failed");
  });

  test("of children fail the run in the middle of a map", () => {
    const nodes: NodeDef[] = [
      {
        kind: "map",
        name: "m",
        items: [1, 2, 3],
        body: { kind: "child", workflow: "w", definition: "0".repeat(32), input: ref("$item") },
        concurrency: 3,
      },
    ];
    const it = drive(programWith(nodes), { limits: { childrenMax: 2 } });
    expect(it.run).toMatchObject({ phase: "failed", reason: { code: "budget" } });
    expect(it.run.active.map((each) => each.state)).toEqual(["unwanted", "unwanted"]);
  });
});

describe("a terminal run (W8)", () => {
  test.each(["succeeded", "failed", "cancelled", "terminated"] as const)(
    "%s stays as it is, whatever comes",
    (phase) => {
      const program = programWith([stepNode("a"), { kind: "gate", name: "g" }, stepNode("b", ["g"])]);
      const it = drive(program, { run: { phase, endedAtMs: t0, due: { kind: "ended-badly", atMs: t0 } } });
      const settled = it.run;
      const late = { node: 0, index: 0, attempt: 1, outcome: { kind: "ok", facts: new Map() } } as const;
      for (const kind of ["cancel", "terminate", "pause", "resume"] as const) expect(it.command(kind)).toBe(settled);
      expect(it.signal("go")).toBe(settled);
      it.nowMs = t0 + 500 * dayMs;
      expect(it.tick({ attempts: new Map([["0/0/1", late]]), isUnpark: true })).toBe(settled);
    },
  );

  test("is the same in every order of cancel, last result, time-out and signal; the first that ends it wins", () => {
    const orders = permutations(["cancel", "result", "deadline", "terminate"]);
    for (const order of orders) {
      const it = drive(programWith([stepNode("a")]));
      let ended: string | undefined;
      for (const each of order) {
        if (each === "result" && it.has("a")) it.ok("a");
        else if (each === "deadline") {
          it.nowMs = Math.max(it.nowMs, it.run.deadlineAtMs);
          it.look();
        } else if (each === "cancel" || each === "terminate") it.command(each);
        ended ??= ["running", "cancelling", "compensating"].includes(it.run.phase) ? undefined : it.run.phase;
        if (ended) expect(it.run.phase).toBe(ended);
      }
      expect(ended).toBeDefined();
    }
  });
});

describe("a map", () => {
  const map = (more: Partial<Extract<NodeDef, { kind: "map" }>> = {}): NodeDef => ({
    kind: "map",
    name: "m",
    items: ref("$input", "list"),
    body: stepBody(),
    concurrency: 2,
    ...more,
  });
  const list = (count: number) => ({ input: { list: Array.from({ length: count }, (_, at) => at) } });

  test("keeps as many items in flight as it may, and the next nodes see how many there were", () => {
    const last = stepNode("z", [], { when: { $: ["eq", { $: ["size", ref("m")] }, 3] } });
    const it = drive(programWith([map(), last]), list(3));
    expect(it.run.active.map((each) => each.index)).toEqual([0, 1]);
    it.ok("m", 1, 1);
    expect(it.run.active.map((each) => each.index)).toEqual([0, 2]);
    expect(it.run.maps).toMatchObject([{ total: 3, next: 3, done: 1, failed: 0 }]);
    it.ok("m", 1, 0);
    it.ok("m", 1, 2);
    expect(it.names()).toEqual(["z"]);
    expect(it.run.maps).toEqual([]);
  });

  test("of nothing is done at once", () => {
    expect(drive(programWith([map()]), list(0)).run.phase).toBe("succeeded");
  });

  test("of what is no list fails, and so does one of more items than a map takes", () => {
    expect(drive(programWith([map()]), { input: { list: 5 } }).run.phase).toBe("failed");
    expect(drive(programWith([map()]), { input: {} }).run.reason?.code).toBe("missing-value");
    const huge = drive(programWith([stepNode("a"), map({ items: ref("a") })]));
    huge.end("a", {
      kind: "ok",
      facts: new Map([
        [0, { kind: "value", value: 1_000_001 }],
        [1, { kind: "missing" }],
      ]),
    });
    expect(huge.run.reason?.code).toBe("bad-input");
  });

  test("fails at the first item too many, closes the rest, and says which fault was the last", () => {
    const it = drive(programWith([map()]), list(5));
    it.fail("m", { code: "fatal", message: "bad item" }, 0);
    expect(it.closed).toEqual(["cancelled m/1/1"]);
    expect(it.run).toMatchObject({
      phase: "failed",
      maps: [],
      reason: { code: "item-failures", message: "m: 1 of 5 items failed; the last: bad item" },
    });
  });

  test.each([
    [{ count: 2 }, 2, "succeeded"],
    [{ count: 1 }, 2, "failed"],
    [{ share: 0.5 }, 2, "succeeded"],
    [{ share: 0.49 }, 2, "failed"],
    [{ share: 1 }, 4, "succeeded"],
  ] as const)("that tolerates %o of four and loses %i has %s", (tolerate, failures, phase) => {
    const it = drive(programWith([map({ tolerate, concurrency: 4 })]), list(4));
    for (let at = 0; at < 4 && it.run.phase === "running"; at++)
      if (at < failures) it.fail("m", { code: "fatal" }, at);
      else it.ok("m", null, at);
    expect(it.run.phase).toBe(phase);
  });

  test("that failed and may lets the others use its room, and the run goes on", () => {
    const nodes = [map({ concurrency: 64, onFailure: "continue" }), stepNode("z", [], { after: ["m"] })];
    const many = Array.from({ length: 70 }, (_, at) => stepNode(`s${at}`));
    const it = drive(programWith([...nodes, ...many]), list(64));
    expect(it.run.active.length).toBe(64);
    it.fail("m", { code: "fatal" }, 0);
    expect(it.stateOf("m")).toBe("failed");
    expect(it.run.maps).toEqual([]);
    expect(it.run.active.length).toBe(64);
    for (let at = 0; at < 64; at++) if (it.has(`s${at}`)) it.ok(`s${at}`);
    for (const name of [...it.names()]) it.ok(name);
    for (const name of [...it.names()]) it.ok(name);
    expect(it.run.phase).toBe("succeeded");
  });

  test("is undone once, if any of its items was done, also those that ended after it had failed", () => {
    const nodes = [map(), undo("m")];
    const it = drive(programWith(nodes), list(2));
    it.claim("m", 35_000, 1);
    it.fail("m", { code: "fatal" }, 0);
    expect(it.run.phase).toBe("compensating");
    expect(it.run.active).toMatchObject([{ index: 1 }]);
    it.ok("m", null, 1);
    expect(it.names()).toEqual(["m.undo"]);
    it.ok("m.undo");
    expect(it.run.phase).toBe("failed");
  });

  test("is not undone if none of its items was done", () => {
    const it = drive(programWith([map(), undo("m")]), list(2));
    it.fail("m", { code: "fatal" }, 0);
    expect(it.run.phase).toBe("failed");
    expect(it.run.isUncompensated).toBe(false);
  });

  test("of children that is undone awaits those that are cancelled", () => {
    const body = { kind: "child", workflow: "w", definition: "0".repeat(32), input: ref("$item") } as const;
    const it = drive(programWith([map({ body }), undo("m")]), list(2));
    it.end("m", { kind: "failed", fault: { code: "child-failed", message: "x" } }, 0);
    expect(it.run.active).toMatchObject([{ index: 1, state: "unwanted" }]);
    expect(it.run.phase).toBe("compensating");
    it.ok("m", null, 1);
    expect(it.names()).toEqual(["m.undo"]);
  });
});

describe("a full row", () => {
  test("holds 64 in flight; the others follow as room comes, and several wide maps share it", () => {
    const wide = (name: string): NodeDef => ({
      kind: "map",
      name,
      items: ref("$input", "list"),
      body: stepBody(),
      concurrency: 64,
    });
    const steps = Array.from({ length: 100 }, (_, at) => stepNode(`s${at}`));
    const it = drive(programWith([wide("m0"), wide("m1"), ...steps]), {
      input: { list: Array.from({ length: 50 }, (_, at) => at) },
    });
    for (let turn = 0; turn < 250 && it.run.phase === "running"; turn++) {
      expect(it.run.active.length).toBeLessThanOrEqual(64);
      const entry = it.run.active[(turn * 7) % it.run.active.length]!;
      it.ok(it.program.nodes[entry.node]!.def.name, null, entry.index);
    }
    expect(it.run.phase).toBe("succeeded");
  });
});

test("a tick that has nothing to do gives the same reference back, at any instant before the due", () => {
  const it = drive(programWith([stepNode("a"), { kind: "gate", name: "g" }, stepNode("z", ["a", "g"])]));
  for (const ms of [0, 1, 1000, 94_999]) {
    it.at(ms);
    expect(tick(it.run, it.program, noInputs, it.nowMs, defaultLimits)).toMatchObject({ kind: "next" });
    expect(it.tick()).toBe(it.run);
  }
  expect(it.ticks).toBe(1);
});

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}
