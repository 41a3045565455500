import { expect, test } from "vitest";
import { cancel } from "../../lib/engine/commands.ts";
import { call, workflow } from "../../lib/index.ts";
import { createStage, input, isClaim, isEnd, plus, tasks, wakes } from "./stage.ts";

/** A payment, and what undoes it; which of them ran. */
function payment() {
  const ran: string[] = [];
  const told = (name: string) => (n: number) => {
    ran.push(name);
    return n + 1;
  };
  const pay = plus("pay", {}, told("pay"));
  const refund = plus("refund", {}, told("refund"));
  const flow = workflow("order", { input }, (f, given) =>
    f.run(pay, given, { compensate: (paid) => call(refund, paid) }),
  );
  return { ran, stage: createStage([flow]) };
}

test("H8: a cancel closes the unclaimed attempt before it commits, so no worker begins it after the end", async () => {
  const { ran, stage } = payment();
  await stage.begin("order");
  const claim = stage.store.hold(isClaim);
  const slow = stage.work(stage.only(tasks));
  await stage.settle();
  expect(claim.isReached).toBe(true);
  await cancel(stage.world.engine, stage.ref, "ann");
  await stage.coordinate(...stage.take(wakes));
  expect(stage.run().phase).toBe("cancelled");
  claim.release();
  await stage.drive(slow);
  expect(ran).toEqual([]);
  expect(await stage.toEnd()).toMatchObject({ phase: "cancelled" });
  expect(ran).toEqual([]);
});

test("H8: a claim that came first is awaited if it can be undone, and is undone", async () => {
  const { ran, stage } = payment();
  await stage.begin("order");
  const result = stage.store.hold(isEnd("ok"));
  const slow = stage.work(stage.only(tasks));
  await stage.settle();
  await cancel(stage.world.engine, stage.ref, "ann");
  await stage.coordinate(...stage.take(wakes));
  expect(stage.run()).toMatchObject({ phase: "cancelling" });
  result.release();
  await stage.drive(slow);
  expect(await stage.toEnd()).toMatchObject({ phase: "cancelled" });
  expect(ran).toEqual(["pay", "refund"]);
});
