import { expect, test } from "vitest";
import { pause, resume } from "../../lib/engine/commands.ts";
import { workflow } from "../../lib/index.ts";
import { beforeEach, createStage, input, isCommit, isEnd, plus, type Stage, tasks, wakes } from "./stage.ts";

/** Two inline steps, whose holder loses every commit of the second one's result to commands; what ran. */
async function losing(more: (faults: Stage["store"]) => void = () => {}) {
  const ran: string[] = [];
  const step = (name: string) =>
    plus(name, { inline: true, timeout: "60s", retry: { attempts: 2 } }, (n) => {
      ran.push(name);
      return n + 1;
    });
  const stage = createStage([workflow("one", { input }, (f, given) => f.run(step("b"), f.run(step("a"), given)))]);
  await stage.begin("one");
  let verbs = 0;
  beforeEach(
    stage.store,
    5,
    (call) => isCommit(call) && ran.length > 1,
    async () => {
      await (verbs++ % 2 === 0 ? resume : pause)(stage.world.engine, stage.ref, "ann");
      for (const wake of stage.take(wakes)) await stage.coordinate(wake);
    },
  );
  more(stage.store);
  await stage.drive(stage.work(stage.only(tasks)));
  expect(stage.run()).toMatchObject({ isPaused: false, mail: { commands: 5 } });
  return { ran, stage };
}

test("W6: the result of a holder that lost all its commits counts, also for whoever finds its lease dead", async () => {
  const { ran, stage } = await losing();
  expect(stage.attemptOf(1)).toMatchObject({ v: "ok" });
  // the requeued message is late; another one comes after the lease's end, and does not know of the record
  await stage.pass(70_000);
  await stage.coordinate(await stage.wake({ hints: ["mail"] }));
  expect(stage.run().phase).toBe("succeeded");
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 3 } });
  expect(ran).toEqual(["a", "b"]);
});

test("W6: the requeued message carries the hint, so nobody waits for the lease", async () => {
  const { ran, stage } = await losing();
  expect(await stage.toEnd(30_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
  expect(ran).toEqual(["a", "b"]);
});

test("W6: a result that nobody else has is written down again if its request was lost", async () => {
  const { ran, stage } = await losing((faults) => faults.once(isEnd("ok"), { kind: "lose-request" }));
  expect(stage.attemptOf(1)).toMatchObject({ v: "ok" });
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 3 } });
  expect(ran).toEqual(["a", "b"]);
});

test("W6: a holder whose lease was closed meanwhile comes late: the record decides, not the row", async () => {
  const stage = createStage([
    workflow("one", { input }, (f, given) =>
      f.run(plus("a", { inline: true, timeout: "60s", retry: { attempts: 2, firstDelay: "1s" } }), given),
    ),
  ]);
  await stage.begin("one");
  let commits = 0;
  const result = stage.store.hold((call) => isCommit(call) && ++commits === 2);
  const slow = stage.work(stage.only(tasks));
  await stage.settle();
  await stage.pass(66_000);
  const lost = stage.store.hold(isEnd("lost"));
  const noticing = stage.coordinate(await stage.wake());
  await stage.settle();
  lost.release();
  await stage.drive(noticing);
  result.release();
  await stage.drive(slow);
  expect(stage.attemptOf(0)).toMatchObject({ v: "lost" });
  expect(stage.world.metrics.total("attempts-late")).toBe(1);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 2 } });
});
