import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { call, coalesce, eq, ne, not, orElse, signal, step, workflow } from "../../lib/index.ts";
import { testWorkflow } from "../../lib/testing/index.ts";

const id = v.string();
const mail = step("mail", { input: v.object({ to: id, message: v.string() }) }, () => {});

// "An expense needs the manager's yes. If the manager does not answer within a day, the director has two; no answer from either is
// a no. Tell whoever asked how it ended."
describe("approval with escalation", () => {
  const payOut = step(
    "pay-out",
    { input: v.object({ expense: id }), output: v.object({ transfer: id }) },
    ({ expense }) => ({
      transfer: `t-${expense}`,
    }),
  );
  const approval = workflow("approval", { input: v.object({ expense: id, email: id }) }, (flow, input) => {
    const about = { expense: input.expense };
    const manager = flow.gate("manager", { about, timeout: "1d", onTimeout: "continue", onReject: "continue" });
    const director = flow.when(eq(manager.timedOut, true), (late) =>
      late.gate("director", { about, timeout: "2d", onTimeout: "continue", onReject: "continue" }),
    );
    const decision = coalesce(director, manager);
    const paid = flow.run(payOut, { expense: input.expense }, { when: decision.approved });
    const answer = orElse(decision.comment, "nobody said why");
    flow.run(mail, { to: input.email, message: answer }, { when: not(decision.approved) });
    return { transfer: paid.transfer };
  });
  const input = { expense: "taxi", email: "x@example.com" };

  it("pays on the manager's word, and asks nobody else", async () => {
    const run = await testWorkflow(approval, { input });
    await run.decide("manager", { approved: true });
    expect([run.status, run.output, run.calls("mail")]).toEqual(["succeeded", { transfer: "t-taxi" }, []]);
  });

  it("does not pay against it", async () => {
    const run = await testWorkflow(approval, { input });
    await run.decide("manager", { approved: false, comment: "walk" });
    expect([run.status, run.output, run.calls("pay-out")]).toEqual(["succeeded", {}, []]);
    expect(run.calls("mail")[0]?.input).toEqual({ to: "x@example.com", message: "walk" });
  });

  it("asks the director after a day, and takes silence for a no after two more", async () => {
    const run = await testWorkflow(approval, { input });
    await run.advance("1d");
    expect(run.waitingFor).toEqual([{ kind: "gate", name: "director" }]);
    await run.decide("director", { approved: true });
    expect(run.output).toEqual({ transfer: "t-taxi" });
    const silent = await testWorkflow(approval, { input });
    await silent.advance("3d");
    expect([silent.status, silent.output]).toEqual(["succeeded", {}]);
  });
});

// "A machine translates; a person reads it, and either takes it or says what is wrong. Then the machine tries again with that
// comment in hand, until the person is content."
describe("a loop of corrections", () => {
  const draft = v.object({ text: v.string() });
  const task = v.object({ source: v.string(), last: v.optional(v.string()), comment: v.optional(v.string()) });
  const translate = step("translate", { input: task, output: draft }, ({ source, last, comment }) => ({
    text: last === undefined ? source.toUpperCase() : `${last} (${comment})`,
  }));
  const translation = workflow("translation", { input: task, output: draft }, (flow, input) => {
    const made = flow.run(translate, input);
    const read = flow.gate("read", { about: { text: made.text }, onReject: "continue" });
    const better = flow.when(not(read.approved), (again) =>
      again.self({ source: input.source, last: made.text, comment: read.comment }),
    );
    return { text: coalesce(better.text, made.text) };
  });

  it("ends with the first draft that is taken", async () => {
    const run = await testWorkflow(translation, { input: { source: "hello" } });
    await run.decide("read", { approved: false, comment: "too loud" });
    const second = await run.child("self");
    await second.decide("read", { approved: false, comment: "better" });
    const third = await second.child("self");
    expect(third.waitingFor).toEqual([{ kind: "gate", name: "read" }]);
    await third.decide("read", { approved: true });
    expect([await run.end(), run.output]).toEqual(["succeeded", { text: "HELLO (too loud) (better)" }]);
  });
});

// "A paper is accepted when two of its three readers say so, and turned down when two say that. The third need not bother then."
describe("a review by quorum", () => {
  const publish = step("publish", { input: v.object({ paper: id }), output: v.object({ url: id }) }, ({ paper }) => ({
    url: `/papers/${paper}`,
  }));
  const vote = signal("vote", v.object({ reader: id, accepts: v.boolean() }));
  const review = workflow("review", { input: v.object({ paper: id }) }, (flow, input) => {
    const [first, second] = flow.series((inOrder) => [
      inOrder.signal(vote, { name: "first-vote", timeout: "30d" }),
      inOrder.signal(vote, { name: "second-vote", timeout: "30d" }),
    ]);
    const third = flow.signal(vote, { name: "third-vote", when: ne(first.accepts, second.accepts), timeout: "30d" });
    const accepted = coalesce(third.accepts, second.accepts);
    const published = flow.run(publish, { paper: input.paper }, { when: accepted });
    return { url: published.url };
  });
  const cast = async (...votes: readonly boolean[]) => {
    const run = await testWorkflow(review, { input: { paper: "p" } });
    for (const [at, accepts] of votes.entries()) await run.signal(vote, { reader: `${at}`, accepts }, { id: `${at}` });
    return run;
  };

  it("ends with the second vote if it is like the first, else with the third", async () => {
    expect((await cast(true, true)).output).toEqual({ url: "/papers/p" });
    expect((await cast(false, false)).output).toEqual({});
    expect((await cast(false, true, true)).output).toEqual({ url: "/papers/p" });
    expect((await cast(true, false, false)).output).toEqual({});
  });

  it("counts nobody twice", async () => {
    const run = await cast(true);
    await run.signal(vote, { reader: "0", accepts: true }, { id: "0" });
    expect(run.waitingFor).toEqual([{ kind: "signal", name: "second-vote" }]);
  });
});

// "A new colleague gets a task a month for half a year, and a talk at the end of it. While on leave nothing happens, and afterwards
// it goes on where it was. Whoever leaves the company is struck off, and hears no more."
describe("a long onboarding with a pause", () => {
  const months = [1, 2, 3, 4, 5, 6];
  const strikeOff = step("strike-off", { input: v.object({ name: id }) }, () => {});
  const enrol = step("enrol", { input: v.object({ name: id }), output: v.object({ name: id }) }, ({ name }) => ({
    name,
  }));
  const welcome = workflow("welcome", { input: v.object({ name: id, boss: id }) }, (flow, input) => {
    const enrolled = flow.run(enrol, { name: input.name }, { compensate: ({ name }) => call(strikeOff, { name }) });
    const talk = flow.series((inOrder) => {
      for (const month of months) {
        inOrder.sleep(`month-${month}`, "30d", { after: [enrolled] });
        inOrder.run(mail, { to: enrolled.name, message: `task ${month}` }, { name: `task-${month}` });
      }
      return inOrder.gate("talk", { about: { name: enrolled.name }, onReject: "continue" });
    });
    return { stays: talk.approved };
  });
  const start = () => testWorkflow(welcome, { input: { name: "kim", boss: "lee" }, deadline: "400d" });

  it("sends a task a month, and goes on after the leave", async () => {
    const run = await start();
    await run.advance("61d");
    expect(run.calls("mail")).toHaveLength(2);
    await run.pause({ by: "lee", reason: "leave" });
    await run.advance("90d");
    expect([run.status, run.calls("mail").length]).toEqual(["paused", 2]);
    await run.resume({ by: "lee" });
    await run.end();
    expect(run.waitingFor).toEqual([{ kind: "gate", name: "talk" }]);
    await run.decide("talk", { approved: true });
    expect([run.status, run.output, run.calls("mail").length]).toEqual(["succeeded", { stays: true }, 6]);
  });

  it("strikes off whoever leaves", async () => {
    const run = await start();
    await run.advance("40d");
    await run.cancel({ by: "lee" });
    expect([await run.end(), run.calls("strike-off").length, run.calls("mail").length]).toEqual(["cancelled", 1, 1]);
  });

  it("is over after thirty days unless its start says how long it may take", async () => {
    const run = await testWorkflow(welcome, { input: { name: "kim", boss: "lee" } });
    expect([await run.end(), run.reason?.code]).toEqual(["failed", "deadline"]);
  });
});
