import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { call, eq, external, FatalError, must, step, workflow } from "../../lib/index.ts";
import { type Fake, fail, fakes, succeed, testWorkflow } from "../../lib/testing/index.ts";

const id = v.string();

// "Hand a film to the encoder and ask every minute, later more rarely, whether it is done; for two hours at most. If the encoder
// says that the film is broken, give up at once and take it back."
describe("polling a job elsewhere", () => {
  const job = v.object({ jobId: id });
  const status = v.object({ state: v.picklist(["running", "done"]), url: v.optional(id) });
  const submit = step("submit", { input: v.object({ film: id }), output: job }, ({ film }) => ({
    jobId: `job-${film}`,
  }));
  const takeBack = step("take-back", { input: job }, () => {});
  const look = step("look", { input: job, output: status }, ({ jobId }) => ({
    state: "done" as const,
    url: `/${jobId}`,
  }));
  const encode = workflow("encode", { input: v.object({ film: id }) }, (flow, input) => {
    const submitted = flow.run(submit, { film: input.film }, { compensate: (sent) => call(takeBack, sent) });
    const done = flow.repeat(look, submitted, {
      until: ({ state }) => eq(state, "done"),
      every: "1m",
      factor: 2,
      longest: "10m",
      limit: 15,
    });
    return { url: must(done.url) };
  });
  const running = succeed({ state: "running" });

  it("asks until it is done, ever more rarely", async () => {
    const run = await testWorkflow(encode, {
      input: { film: "f" },
      steps: fakes(
        { look },
        { look: (_, { index }) => (index < 4 ? { state: "running" } : { state: "done", url: "/f" }) },
      ),
    });
    expect([await run.end(), run.output]).toEqual(["succeeded", { url: "/f" }]);
    expect(run.calls("look").map(({ atMs }) => atMs / 60_000)).toEqual([0, 1, 3, 7, 15]);
  });

  it("takes it back when it is broken, or takes too long", async () => {
    const broken = await testWorkflow(encode, {
      input: { film: "f" },
      steps: { look: fail(new FatalError("broken")) },
    });
    expect([await broken.end(), broken.reason?.code, broken.calls("take-back").length]).toEqual(["failed", "fatal", 1]);
    const slow = await testWorkflow(encode, { input: { film: "f" }, steps: { look: running } });
    expect([await slow.end(), slow.reason?.code, slow.calls("take-back").length]).toEqual([
      "failed",
      "repeat-limit",
      1,
    ]);
  });
});

// "Ask three suppliers for a price, which they send when they like, and take the first answer. One that cannot be reached does not
// matter while another may answer. If none has after two days, or none can be reached, go on without a price."
describe("the first answer of three, in time", () => {
  const quote = v.object({ supplier: id, cents: v.number() });
  const ask = external(
    "ask",
    { input: v.object({ supplier: id, sku: id }), output: quote, completeWithin: "5d", retry: { attempts: 1 } },
    () => {},
  );
  const buy = workflow("buy", { input: v.object({ sku: id }) }, (flow, input) => {
    const asked = (supplier: string) => flow.external(ask, { supplier, sku: input.sku }, { name: supplier });
    const answers = { ada: asked("ada"), bo: asked("bo"), cy: asked("cy"), late: flow.sleep("late", "2d") };
    const first = flow.first(answers, { onFailure: "continue" });
    const taken = flow.given(first, (answer, answered) =>
      answered.choose(answer, "winner", { late: () => ({ cents: null }) }, ({ value }) => ({ cents: value.cents })),
    );
    return { from: first.winner, cents: taken.cents };
  });
  const start = (fake: Fake<{ readonly supplier: string }, void> = () => {}) =>
    testWorkflow(buy, { input: { sku: "s" }, steps: fakes({ ask }, { ask: fake }) });

  it("is taken, and the others come too late", async () => {
    const run = await start();
    await run.advance("1d");
    await run.external("bo").complete({ supplier: "bo", cents: 5 });
    expect([run.status, run.output]).toEqual(["succeeded", { from: "bo", cents: 5 }]);
    await expect(run.external("ada").complete({ supplier: "ada", cents: 1 })).rejects.toThrow("has ended");
  });

  it("may come from the only one that can be reached", async () => {
    const run = await start(({ supplier }) => {
      if (supplier !== "cy") throw new Error("no such address");
    });
    await run.external("cy").complete({ supplier: "cy", cents: 7 });
    expect([await run.end(), run.output]).toEqual(["succeeded", { from: "cy", cents: 7 }]);
  });

  it("is not waited for longer than two days", async () => {
    const run = await start();
    await run.advance("2d");
    expect([run.status, run.output]).toEqual(["succeeded", { from: "late", cents: null }]);
  });
});

// "A contract is signed on another company's page. It calls us when the customer is at it, which may take days, and when it is
// signed. Not heard of for an hour while somebody is at it: send it once more, then give up."
describe("a webhook that says that it is alive", () => {
  const signed = v.object({ by: id });
  const sign = external(
    "sign",
    { input: v.object({ contract: id }), output: signed, completeWithin: "7d", beat: "1h", retry: { attempts: 2 } },
    () => {},
  );
  const archive = step("archive", { input: signed }, () => {});
  const contract = workflow("contract", { input: v.object({ contract: id }) }, (flow, input) => {
    const done = flow.external(sign, { contract: input.contract });
    flow.run(archive, { by: done.by });
    return done;
  });

  it("is archived when it is signed, however long that takes", async () => {
    const run = await testWorkflow(contract, { input: { contract: "c" } });
    for (let minutes = 0; minutes < 600; minutes += 50) {
      await run.advance("50m");
      await run.external("sign").beat();
    }
    await run.external("sign").complete({ by: "kim" });
    expect([run.status, run.output, run.calls("sign").length]).toEqual(["succeeded", { by: "kim" }, 1]);
  });

  it("is sent twice with one idempotency key, and the first link is worth nothing then", async () => {
    const run = await testWorkflow(contract, { input: { contract: "c" } });
    await run.advance("65m");
    const [first, second] = run.calls("sign");
    expect(second?.idempotencyKey).toBe(first?.idempotencyKey);
    await expect(run.external(first?.token ?? "").complete({ by: "kim" })).rejects.toThrow();
    await run.advance("3h");
    expect([run.status, run.calls("archive")]).toEqual(["failed", []]);
  });
});

// "A campaign starts a process for each of its channels. Calling the campaign off calls them off too, wherever they are, and what
// they have put up is taken down again."
describe("children that are cancelled with their parent", () => {
  const poster = v.object({ poster: id });
  const putUp = step("put-up", { input: v.object({ channel: id }), output: poster }, ({ channel }) => ({
    poster: `p-${channel}`,
  }));
  const takeDown = step("take-down", { input: poster }, () => {});
  const channelRun = workflow("channel", { input: v.object({ channel: id }) }, (flow, input) => {
    const up = flow.run(putUp, { channel: input.channel }, { compensate: (made) => call(takeDown, made) });
    const enough = flow.gate("enough", { after: [up] });
    return { poster: up.poster, by: enough.by };
  });
  const campaign = workflow("campaign", { input: v.object({ channels: v.array(id) }) }, (flow, input) => ({
    posters: flow.map(input.channels, (channel) => call(channelRun, { channel })),
  }));

  it("take down what they put up", async () => {
    const run = await testWorkflow(campaign, { input: { channels: ["web", "radio"] } });
    const [web, radio] = [await run.child("channel", 0), await run.child("channel", 1)];
    await web.decide("enough", { approved: true });
    await run.cancel({ by: "ops" });
    await run.end();
    await Promise.all([web.refresh(), radio.refresh()]);
    expect([run.status, web.status, radio.status]).toEqual(["cancelled", "succeeded", "cancelled"]);
    expect(run.calls("take-down").map(({ input }) => input)).toEqual([{ poster: "p-radio" }]);
  });
});
