import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { childRunId } from "../../lib/engine/child-id.ts";
import { signal as tellSignal } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { complete } from "../../lib/engine/external.ts";
import { findRun } from "../../lib/engine/inspect.ts";
import {
  call,
  eq,
  external,
  FatalError,
  type Flow,
  must,
  orElse,
  type Ref,
  signal,
  step,
  workflow,
} from "../../lib/index.ts";
import type { World } from "../../lib/testing/world.ts";
import { hour, minute, second, tell } from "./story.ts";

const paid = signal("paid", v.object({ by: v.string() }));
const none = v.object({});
const text = v.object({ text: v.string() });

const race = (body: (flow: Flow) => unknown) => workflow("race", { input: none }, (flow) => ({ result: body(flow) }));

/** A step that takes its time. */
function slow(name: string, takesMs: number, world: () => World, extra: object = {}) {
  const log: string[] = [];
  const made = step(name, { input: none, output: text, timeout: "10m", ...extra }, async (_, { signal: abort }) => {
    log.push("begun");
    await world().clock.sleep(takesMs, abort);
    log.push("ended");
    return { text: name };
  });
  return { step: made, log };
}

describe("the first of several", () => {
  const against = (flow: Flow) => {
    const first = flow.first({ paid: flow.signal(paid), late: flow.sleep("late", "3d") });
    return flow.choose(first, "winner", { paid: ({ value }) => value.by, late: () => "nobody" });
  };

  it("is the signal, if that comes before the timer", async () => {
    const story = tell(race(against));
    await story.begin();
    await story.world.advance(hour);
    await tellSignal(story.engine, story.ref, { signal: "paid", payload: { by: "ann" } });
    const { output, tookMs } = await story.end();
    expect(output).toEqual({ result: "ann" });
    expect(tookMs).toBeLessThan(minute);
  });

  it("is the timer, if no signal came", async () => {
    const story = tell(race(against));
    await story.begin();
    expect(await story.end()).toMatchObject({ status: "succeeded", output: { result: "nobody" }, tookMs: 72 * hour });
  });

  it("is one of the two, whatever comes in one tick", async () => {
    const story = tell(race(against));
    await story.begin();
    await story.world.advance(72 * hour - 1);
    const told = tellSignal(story.engine, story.ref, { signal: "paid", payload: { by: "ann" } });
    await story.world.advance(1);
    await told;
    const { output } = await story.end();
    expect([{ result: "ann" }, { result: "nobody" }]).toContainEqual(output);
  });

  it("is a person's decision, or the timer, and then nobody decides any more", async () => {
    const body = (flow: Flow) => {
      const first = flow.first({ gate: flow.gate("ok"), late: flow.sleep("late", "2d") });
      return { winner: first.winner, approved: first.value.approved };
    };
    const withRef = race(body as (flow: Flow) => unknown);
    const decided = tell(withRef);
    await decided.begin();
    await decided.world.advance(hour);
    await decide(decided.engine, decided.ref, { gate: "ok", approved: true });
    expect((await decided.end()).output).toEqual({ result: { winner: "gate", approved: true } });
    const late = tell(withRef);
    await late.begin();
    expect((await late.end()).output).toEqual({ result: { winner: "late" } });
    await expect(decide(late.engine, late.ref, { gate: "ok", approved: true })).rejects.toThrow(/has ended/);
  });

  it("fails the run if one of them fails first", async () => {
    const bad = step("bad", { input: none, output: text }, () => {
      throw new FatalError("no");
    });
    const story = tell(race((flow) => flow.first({ bad: flow.run(bad, {}), late: flow.sleep("late", "1h") }).winner));
    await story.begin();
    expect(await story.end()).toMatchObject({ status: "failed", message: "bad: no" });
  });

  const bad = (name: string) =>
    step(name, { input: none, output: text }, () => {
      throw new FatalError("no");
    });
  const good = step("good", { input: none, output: text }, () => ({ text: "good" }));

  it("is another than one that failed, if that was allowed", async () => {
    const first = (flow: Flow) =>
      flow.first(
        { bad: flow.run(bad("bad"), {}), good: flow.run(good, {}, { after: [flow.sleep("nap", "1h")] }) },
        { onFailure: "continue" },
      );
    const story = tell(race(first));
    await story.begin();
    expect(await story.end()).toMatchObject({
      status: "succeeded",
      output: { result: { winner: "good", value: { text: "good" } } },
    });
  });

  it("is nobody if all of them failed and might", async () => {
    const first = (flow: Flow) => {
      const gate = flow.gate("gate", { timeout: "1h", onTimeout: "reject" });
      const items = flow.map(
        flow.run(
          step("list", { input: none, output: v.array(none) }, () => [{}]),
          {},
        ),
        bad("item"),
      );
      const all = { bad: flow.run(bad("bad"), {}), gate, items };
      const end = flow.first(all, { onFailure: "continue" });
      return flow.given(end, (known) => known.winner);
    };
    const story = tell(race(first));
    await story.begin();
    expect(await story.end()).toMatchObject({ status: "succeeded", output: {}, tookMs: hour });
  });

  it("undoes what won among some that failed, and nothing else, if the run fails later", async () => {
    const undone: string[] = [];
    const undo = step("undo", { input: text }, ({ text: what }) => void undone.push(what));
    const story = tell(
      race((flow) => {
        const compensate = (out: Ref<{ text: string }>) => call(undo, { text: out.text });
        const all = { bad: flow.run(bad("bad"), {}, { compensate }), good: flow.run(good, {}, { compensate }) };
        const { winner } = flow.first(all, { onFailure: "continue" });
        return flow.run(bad("later"), {}, { when: eq(winner, "good") });
      }),
    );
    await story.begin();
    expect(await story.end()).toMatchObject({ status: "failed", message: "later: no" });
    expect(undone).toEqual(["good"]);
  });

  it("does not wait for a loser that nobody claimed", async () => {
    let world: World | undefined;
    const { step: work, log } = slow("work", second, () => world as World);
    const story = tell(
      race((flow) => {
        const late = flow.sleep("nap", "1h");
        return flow.first({ paid: flow.signal(paid), work: flow.run(work, {}, { after: [late] }) }).winner;
      }),
    );
    world = story.world;
    await story.begin();
    await tellSignal(story.engine, story.ref, { signal: "paid", payload: { by: "ann" } });
    expect(await story.end()).toMatchObject({ status: "succeeded", output: { result: "paid" } });
    expect(log).toEqual([]);
  });

  it("closes a loser whose task nobody has taken yet: it never begins", async () => {
    let world: World | undefined;
    const { step: work, log } = slow("work", second, () => world as World, { group: "elsewhere" });
    const story = tell(race((flow) => flow.first({ paid: flow.signal(paid), work: flow.run(work, {}) }).winner));
    world = story.world;
    await tellSignalAtOnce(story);
    expect(await story.end()).toMatchObject({ output: { result: "paid" } });
    await story.world.advance(hour);
    expect(log).toEqual([]);
  });

  it("leaves a loser that runs and has no compensation alone: its result comes late", async () => {
    let world: World | undefined;
    const { step: work, log } = slow("work", 5 * minute, () => world as World);
    const story = tell(race((flow) => flow.first({ work: flow.run(work, {}), soon: flow.sleep("soon", "1m") }).winner));
    world = story.world;
    await story.begin();
    const { output, tookMs } = await story.end();
    expect(output).toEqual({ result: "soon" });
    expect(tookMs).toBeLessThan(2 * minute);
    await story.world.advance(hour);
    expect(log).toEqual(["begun", "ended"]);
    expect((await story.run()).phase).toBe("succeeded");
  });

  const undoing = (takesMs: number, extra: object = {}) => {
    let world: World | undefined;
    const undone: string[] = [];
    const { step: work, log } = slow("work", takesMs, () => world as World, extra);
    const undo = step(
      "undo",
      { input: text },
      ({ text: what }) => void undone.push(`${what} at ${world?.clock.nowMs()}`),
    );
    const wait = step("wait", { input: none, output: none, timeout: "10m" }, async () => {
      await (world as World).clock.sleep(8 * minute);
      return {};
    });
    const story = tell(
      race((flow) => {
        const first = flow.first({
          work: flow.run(work, {}, { compensate: (out) => call(undo, { text: out.text }) }),
          soon: flow.sleep("soon", "1m"),
        });
        // goes on meanwhile: undoing a loser holds nothing up
        flow.run(wait, {}, { when: eq(first.winner, "soon") });
        return first.winner;
      }),
    );
    world = story.world;
    return { story, undone, log };
  };

  it("awaits a loser that runs and has a compensation, undoes it at once, and never twice", async () => {
    const { story, undone } = undoing(5 * minute);
    await story.begin();
    const fromMs = story.world.clock.nowMs();
    expect(await story.end()).toMatchObject({ status: "succeeded", output: { result: "soon" } });
    expect(undone).toEqual([`work at ${fromMs + 5 * minute}`]);
  });

  it("does not undo a loser again when the run fails later", async () => {
    const { story, undone } = undoing(2 * minute);
    await story.begin();
    await story.world.until(() => undone.length === 1);
    await story.cancel();
    expect((await story.end()).status).toBe("cancelled");
    expect(undone).toHaveLength(1);
  });

  it("undoes nothing of a loser that was never claimed, and the winner's only if the run fails", async () => {
    const { story, undone } = undoing(second);
    await story.begin();
    expect((await story.end()).output).toEqual({ result: "work" });
    expect(undone).toEqual([]);
  });

  it("undoes a loser though the workers die on the way", async () => {
    const { story, undone } = undoing(5 * minute);
    story.inject(
      (each) => each.op === "write" && each.write.key.sk.startsWith("ATT#") && each.write.kind === "edit",
      { kind: "crash-after" },
      2,
    );
    await story.begin();
    expect((await story.end()).output).toEqual({ result: "soon" });
    expect(undone.length).toBeGreaterThanOrEqual(1);
  });

  it("has one winner when a step that runs inline ends after the signal was taken, and undoes what it did", async () => {
    let story: ReturnType<typeof tell> | undefined;
    const undone: string[] = [];
    const work = step("work", { input: none, output: text, inline: true }, async () => {
      const { engine, ref } = story as ReturnType<typeof tell>;
      await tellSignal(engine, ref, { signal: "paid", payload: { by: "ann" } });
      await engine.clock.sleep(second);
      return { text: "work" };
    });
    const undo = step("undo", { input: text }, ({ text: what }) => void undone.push(what));
    const told = workflow("race", { input: none }, (flow) => {
      const first = flow.first({
        paid: flow.signal(paid),
        work: flow.run(work, {}, { compensate: (out) => call(undo, { text: out.text }) }),
      });
      return { winner: first.winner };
    });
    story = tell(told);
    await story.begin();
    expect((await story.end()).output).toEqual({ winner: "paid" });
    expect(undone).toEqual(["work"]);
  });

  it("cancels a child that lost", async () => {
    const long = workflow("long", { input: none }, (flow) => {
      const nap = flow.sleep("nap", "30d");
      return { nap };
    });
    const story = tell(
      race((flow) => flow.first({ child: flow.child(long, {}), soon: flow.sleep("soon", "1m") }).winner),
    );
    await story.begin();
    expect(await story.end()).toMatchObject({ status: "succeeded", output: { result: "soon" } });
    await story.world.advance(hour);
    const id = childRunId(await story.run(), { node: 0, index: 0, attempt: 1 });
    expect((await findRun(story.engine, { ...story.ref, runId: id }))?.phase).toBe("cancelled");
  });

  it("refuses the completion of an external that lost", async () => {
    let token = "";
    const begin = external("begin", { input: none, output: text, completeWithin: "1d" }, (_, context) => {
      token = context.token;
    });
    const story = tell(
      race((flow) => flow.first({ outside: flow.external(begin, {}), soon: flow.sleep("soon", "1m") }).winner),
    );
    await story.begin();
    expect((await story.end()).output).toEqual({ result: "soon" });
    await expect(complete(story.engine, token, { text: "x" })).rejects.toThrow(/has ended/);
  });

  it("has no winner if all were skipped", async () => {
    const nap = (flow: Flow, name: string) => flow.sleep(name, "1m", { when: false });
    const story = tell(race((flow) => orElse(flow.first({ a: nap(flow, "a"), b: nap(flow, "b") }).winner, "nobody")));
    await story.begin();
    expect((await story.end()).output).toEqual({ result: "nobody" });
  });

  it("lets later nodes read who won, and what, also in their conditions", async () => {
    const note = step(
      "note",
      { input: v.object({ by: v.string() }), output: v.object({ by: v.string() }) },
      (input) => input,
    );
    const story = tell(
      race((flow) => {
        const first = flow.first({ paid: flow.signal(paid), late: flow.sleep("late", "1h") });
        const thanks = flow.run(
          note,
          { by: must(first.value.by as Ref<string | undefined>) },
          { when: eq(first.value.by as Ref<string | undefined>, "ann") },
        );
        return { by: thanks.by };
      }),
    );
    await tellSignalAtOnce(story);
    expect((await story.end()).output).toEqual({ result: { by: "ann" } });
  });
});

async function tellSignalAtOnce(story: ReturnType<typeof tell>) {
  await story.begin();
  await tellSignal(story.engine, story.ref, { signal: "paid", payload: { by: "ann" } });
}
