import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { coordinate } from "../../lib/engine/coordinate.ts";
import { isSampled } from "../../lib/engine/run-log.ts";
import { FatalError, signal, step, workflow } from "../../lib/index.ts";
import { testWorkflow } from "../../lib/testing/index.ts";

const secret = "4111-1111-1111-1111";
const card = v.object({ card: v.string() });
const charge = step("charge", { input: card, output: card }, ({ card }) => ({ card }));
const note = step("note", { input: card, output: card, inline: true }, ({ card }) => ({ card }));
const paid = signal("paid", card);

const pay = workflow("pay", { input: card }, (flow, input) => {
  const charged = flow.run(charge, input);
  const noted = flow.run(note, { card: charged.card });
  const ok = flow.gate("ok", { about: { card: noted.card } });
  const told = flow.signal(paid, { after: [ok] });
  return { card: told.card };
});

const linesOf = (run: { readonly world: { readonly log: { readonly entries: readonly unknown[] } } }) =>
  JSON.stringify(run.world.log.entries);

describe("the log of a run", () => {
  test("has its commits and its end, and nothing of what it holds", async () => {
    const run = await testWorkflow(pay, { input: { card: secret } });
    await run.end();
    await run.decide("ok", { approved: true, by: "kim", comment: secret });
    await run.signal(paid, { card: secret });
    expect(await run.end()).toBe("succeeded");
    expect(run.output).toEqual({ card: secret });
    const { log } = run.world;
    expect(log.of("run.committed").length).toBeGreaterThan(3);
    expect(log.of("run.ended")).toMatchObject([{ level: "info", fields: { runId: run.runId, status: "succeeded" } }]);
    expect(linesOf(run)).not.toContain(secret);
  });

  test("has every attempt that failed, in the words of its error, and none of a value that did not fit", async () => {
    const broken = step("broken", { input: card, output: card }, () => {
      throw new FatalError("the bank said no");
    });
    const wrong = step(
      "wrong",
      { input: card, output: v.object({ cents: v.number() }), retry: { attempts: 1 } },
      ({ card }) => ({ cents: card }) as never,
    );
    const both = workflow("both", { input: card }, (flow, input) => {
      flow.run(broken, input, { onFailure: "continue" });
      flow.run(wrong, input);
    });
    const run = await testWorkflow(both, { input: { card: secret } });
    expect(await run.end()).toBe("failed");
    const failed = run.world.log.of("attempt.failed").map(({ fields }) => [fields["node"], fields["code"]]);
    expect(failed).toEqual(
      expect.arrayContaining([
        ["broken", "fatal"],
        ["wrong", "bad-output"],
      ]),
    );
    expect(linesOf(run)).toContain("the bank said no");
    expect(linesOf(run)).not.toContain(secret);
  });

  test("does not print what nobody can read", async () => {
    const run = await testWorkflow(pay, { input: { card: secret } });
    const message = { id: "m", body: `{"card": "${secret}"`, receiveCount: 1 };
    await coordinate(run.world.engine, [message], () => 30_000);
    expect(run.world.log.of("message.unreadable")).toMatchObject([{ fields: { messageId: "m" } }]);
    expect(linesOf(run)).not.toContain(secret);
  });

  test("is at one level from its first commit to its last", async () => {
    const run = await testWorkflow(pay, { input: { card: secret } });
    await run.cancel();
    await run.end();
    const levels = run.world.log.of("run.committed").map(({ level }) => level);
    expect(new Set(levels).size).toBe(1);
    expect(run.world.log.of("run.ended")).toHaveLength(1);
  });
});

test("a share of runs is sampled, each the same everywhere", () => {
  const uids = Array.from({ length: 4096 }, (_, at) => `${((at << 20) >>> 0).toString(16).padStart(8, "0")}00000000`);
  const sampled = uids.filter((uid) => isSampled(uid, 0.25));
  expect(sampled.length).toBe(1024);
  expect(uids.filter((uid) => isSampled(uid, 0))).toEqual([]);
  expect(uids.filter((uid) => isSampled(uid, 1))).toEqual(uids);
});
