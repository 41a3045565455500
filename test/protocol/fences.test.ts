import * as v from "valibot";
import { expect, test } from "vitest";
import { signal as sendSignal, terminate } from "../../lib/engine/commands.ts";
import { commit } from "../../lib/engine/commit.ts";
import { purge } from "../../lib/engine/purge.ts";
import { appendMail } from "../../lib/engine/records/mail.ts";
import { stateKey } from "../../lib/engine/records/state.ts";
import { requeueDelaySeconds } from "../../lib/engine/requeue.ts";
import { signal, workflow } from "../../lib/index.ts";
import type { Fields, Key, RunStore } from "../../lib/ports.ts";
import type { MemoryStore } from "../../lib/testing/memory-store.ts";
import { crash, createStage, input, isCommit, isLoad, plus, type Stage, tasks, wakes } from "./stage.ts";

const go = signal("go", v.object({ n: v.number() }));
const chain = workflow("chain", { input }, (f, given) => f.run(plus("b"), f.run(plus("a"), given)));
const both = workflow("both", { input }, (f, given) => {
  const a = f.run(plus("a"), given);
  const b = f.run(plus("b"), given);
  return f.run(plus("c"), { n: a.n }, { after: [b] });
});
const late = workflow("late", { input }, (f, given) => {
  const done = f.run(plus("a"), given);
  return f.signal(go, { after: [done] });
});

const send = (stage: Stage, n: number) => sendSignal(stage.world.engine, stage.ref, { signal: "go", payload: { n } });

test("version: two processings of one version never both commit, so no outcome is lost", async () => {
  const stage = createStage([both]);
  await stage.begin("both");
  const [first, second] = stage.take(tasks);
  if (!first || !second) throw new Error("two tasks were sent");
  const held = stage.store.hold(isCommit);
  const slow = stage.work(first);
  await stage.settle();
  const { recordVersion } = stage.run();
  await stage.work(second);
  held.release();
  await stage.drive(slow);
  expect([stage.nodeOf(0), stage.nodeOf(1)]).toEqual(["done", "done"]);
  expect(stage.run().recordVersion).toBe(recordVersion + 2);
  expect(stage.world.metrics.total("conflicts")).toBe(1);
  // of the tries to commit, in their order: one lost, one won
  const tries = stage.world.metrics.entries.filter(({ name }) => name === "conflicts-percent");
  expect(tries.slice(-2).map(({ value }) => value)).toEqual([100, 0]);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded" });
});

test("live: a commit on a run that has ended is refused, even with the right version", async () => {
  const stage = createStage([chain]);
  await stage.begin("chain");
  const before = stage.run();
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
  const ended = stage.run();
  const wrong = { ...before, recordVersion: ended.recordVersion };
  expect(await commit(stage.world.engine, wrong, { ...wrong, transitionSeq: 99 }, 1)).toMatchObject({ kind: "ended" });
  expect(stage.run()).toEqual(ended);
});

/** A run that is ended and purged while a processing stands before its commit; another run takes its place at the same version. */
async function replaced() {
  const stage = createStage([chain]);
  await stage.begin("chain");
  const old = stage.run();
  const task = stage.only(tasks);
  const held = stage.store.hold(isCommit);
  const slow = stage.work(task);
  await stage.settle();
  await terminate(stage.world.engine, stage.ref, "ann");
  await stage.coordinate(...stage.take(wakes));
  await purge(stage.world.engine, stage.ref);
  await stage.begin("chain");
  expect(stage.run().recordVersion).toBe(old.recordVersion);
  return { stage, old, task, held, slow };
}

test("uid: a commit meant for a purged run does not touch the one that took its place", async () => {
  const { stage, held, slow } = await replaced();
  const fresh = stage.world.store.peek(stateKey(stage.ref));
  held.release();
  await stage.drive(slow);
  expect(stage.world.store.peek(stateKey(stage.ref))).toEqual(fresh);
  expect(stage.world.metrics.total("conflicts"), "it is no conflict, as that run is gone").toBe(0);
  expect(stage.world.metrics.total("runs-missing")).toBe(1);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("uid: a message that names a purged run is acknowledged, and its successor is not processed for it", async () => {
  const { stage, old, slow, held } = await replaced();
  held.release();
  await stage.drive(slow);
  const before = stage.world.metrics.total("runs-missing");
  await stage.coordinate(await stage.wake({ runUid: old.runUid, isAll: true }));
  expect(stage.world.metrics.total("runs-missing")).toBe(before + 1);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("uid: messages of a purged run that are received again are no evidence against its successor", async () => {
  const { stage, old, slow, held } = await replaced();
  held.release();
  await stage.drive(slow);
  for (let message = 0; message < 5; message++) {
    // and their function dies, after it has looked whose message it is
    let loads = 0;
    stage.store.once((call) => isLoad(call) && ++loads === 2, crash);
    void stage.coordinate(stage.again(await stage.wake({ runUid: old.runUid })));
    await stage.pass(200_000);
  }
  expect(stage.strikesOf()).toBeUndefined();
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("uid: a task of a purged run is not claimed for its successor", async () => {
  const ran: number[] = [];
  const one = workflow("one", { input }, (f, given) =>
    f.run(
      plus("a", {}, (n) => {
        ran.push(n);
        return n + 1;
      }),
      given,
    ),
  );
  const stage = createStage([one]);
  await stage.begin("one");
  const task = stage.only(tasks);
  await terminate(stage.world.engine, stage.ref, "ann");
  await stage.coordinate(...stage.take(wakes));
  await purge(stage.world.engine, stage.ref);
  await stage.begin("one");
  await stage.work(task);
  expect(ran).toEqual([]);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded" });
  expect(ran).toHaveLength(1);
});

test("uid: a mailbox takes entries of its own run only, also if another's has the same short name", async () => {
  const stage = createStage([late]);
  await stage.begin("late");
  await send(stage, 1);
  const twin = { ...stage.run(), runUid: `${stage.run().runUid.slice(0, 8)}ffffffff` };
  const entry = { lane: "signals", text: "{}", idHash: "s0" } as const;
  expect(await stage.world.store.write(appendMail(twin, entry, { dueAtMs: 1 }))).toMatchObject({ kind: "refused" });
  expect(stage.mailOf()?.signals).toHaveLength(1);
  expect(await stage.toEnd()).toMatchObject({ phase: "succeeded", output: { n: 1 } });
});

/** From `lag.isOn` on, reads that are not asked to be consistent meet every record as it was before its last change. */
const stale =
  (lag: { isOn: boolean }) =>
  (inner: MemoryStore): RunStore => {
    const previous = new Map<string, Fields | undefined>();
    const id = (key: Key) => `${key.pk} ${key.sk}`;
    inner.watch((write, before) => void previous.set(id(write.key), before));
    const old = (key: Key, now: Fields | undefined) => (previous.has(id(key)) ? previous.get(id(key)) : now);
    return {
      ...inner,
      async read(keys, options) {
        const records = await inner.read(keys, options);
        return options.isConsistent || !lag.isOn ? records : keys.map((key, at) => old(key, records[at]));
      },
      async list(from) {
        const page = await inner.list(from);
        if (from.isConsistent || !lag.isOn) return page;
        const items = page.items.flatMap((item) => {
          const fields = old(item, item);
          return fields ? [{ ...fields, pk: item.pk, sk: item.sk }] : [];
        });
        return { ...page, items };
      },
    };
  };

test("consistent: a wake-up sees the signal that it tells of", async () => {
  const lag = { isOn: false };
  const stage = createStage([workflow("waits", { input }, (f) => f.signal(go))], { store: stale(lag) });
  await stage.begin("waits");
  await send(stage, 5);
  lag.isOn = true;
  await stage.coordinate(stage.only(wakes));
  expect(stage.run().phase).toBe("succeeded");
  expect(await stage.toEnd(1_000)).toMatchObject({ output: { n: 5 } });
});

test("consistent: a tick sees the result that was recorded right before it", async () => {
  const stage = createStage([chain], { store: stale({ isOn: true }) });
  await stage.begin("chain");
  await stage.work(stage.only(tasks));
  expect(stage.nodeOf(0)).toBe("done");
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 3 } });
});

test("consistent: the second look at the mailbox sees what came right before it", async () => {
  const stage = createStage([late], { store: stale({ isOn: true }) });
  await stage.begin("late");
  const opens = stage.store.hold(isCommit);
  const job = stage.work(stage.only(tasks));
  await stage.settle();
  await send(stage, 7);
  // its wake-up finds nobody who waits; the mailbox is written last by the append
  for (const wake of stage.take(wakes)) stage.world.queue.ack(wake);
  opens.release();
  await stage.drive(job);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 7 } });
});

test("jitter: requeues are spread over whole seconds, never all at once", () => {
  for (const n of [1, 4, 7, 12, 40, 2000]) {
    const delays = Array.from({ length: 100 }, (_, at) => requeueDelaySeconds(n, at / 100));
    expect(new Set(delays).size).toBeGreaterThan(1);
    expect(Math.min(...delays)).toBe(1);
    expect(Math.max(...delays)).toBeLessThanOrEqual(10);
  }
});

test("jitter: losers of a commit wait for a random part of their window before they try again", async () => {
  const pauses = new Set<number>();
  for (let seed = 0; seed < 8; seed++) {
    const stage = createStage([both], { seed });
    await stage.begin("both");
    const [first, second] = stage.take(tasks);
    if (!first || !second) throw new Error("two tasks were sent");
    const held = stage.store.hold(isCommit);
    const slow = stage.work(first);
    await stage.settle();
    await stage.work(second);
    held.release();
    const fromMs = stage.nowMs();
    await stage.drive(slow);
    pauses.add(stage.nowMs() - fromMs);
    expect(await stage.toEnd(10_000)).toMatchObject({ phase: "succeeded" });
  }
  expect(pauses.size).toBeGreaterThan(2);
});

test("order: what a commit owes is sent when it has been applied, and not before (W1, W10)", async () => {
  const stage = createStage([chain]);
  await stage.begin("chain");
  const held = stage.store.hold(isCommit);
  const slow = stage.work(stage.only(tasks));
  await stage.settle();
  expect(held.isReached).toBe(true);
  // the result is recorded; the row does not yet say that b is wanted
  expect(stage.take(tasks)).toEqual([]);
  held.release();
  await stage.drive(slow);
  expect(stage.take(tasks)).toHaveLength(1);
});

test("order: a processing whose commit is refused has sent nothing of what it had in mind (L9)", async () => {
  const stage = createStage([chain]);
  await stage.begin("chain");
  const held = stage.store.hold(isCommit);
  const slow = stage.work(stage.only(tasks));
  await stage.settle();
  await terminate(stage.world.engine, stage.ref, "ann");
  await stage.coordinate(...stage.take(wakes));
  held.release();
  await stage.drive(slow);
  expect(stage.take(tasks)).toEqual([]);
  expect(stage.run().phase).toBe("terminated");
});
