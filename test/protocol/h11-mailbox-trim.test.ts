import * as v from "valibot";
import { expect, test } from "vitest";
import { cancel, pause, signal as sendSignal } from "../../lib/engine/commands.ts";
import { signal, workflow } from "../../lib/index.ts";
import { beforeEach, createStage, input, isCommit, isTrim, plus, type Stage, wakes } from "./stage.ts";

const go = signal("go", v.object({ n: v.number() }));
const twice = workflow("twice", { input }, (f) =>
  f.series((s) => {
    s.signal(go, { name: "first" });
    return s.signal(go, { name: "second" });
  }),
);

const send = (stage: Stage, n: number) =>
  sendSignal(stage.world.engine, stage.ref, { signal: "go", payload: { n }, id: `go-${n}` });

test("H11: a trim whose reply was lost and that is repeated takes no entry that nobody read", async () => {
  const stage = createStage([twice]);
  await stage.begin("twice");
  await send(stage, 1);
  const wake = stage.only(wakes);
  // the second signal comes between this tick's load and its trim; the trim's reply is lost
  stage.store.once(isCommit, () => send(stage, 2));
  stage.store.once(isTrim, { kind: "repeat" });
  stage.store.once(isTrim, { kind: "repeat" });
  await stage.drive(stage.coordinate(wake));
  expect(stage.mailOf()?.signals.map(({ seq }) => seq)).not.toContain(0);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 2 } });
});

test("H11: a repeated trim takes no command that nobody read", async () => {
  const stage = createStage([twice]);
  await stage.begin("twice");
  await pause(stage.world.engine, stage.ref, "ann");
  const wake = stage.only(wakes);
  stage.store.once(isCommit, () => cancel(stage.world.engine, stage.ref, "ann"));
  stage.store.once(isTrim, { kind: "repeat" });
  stage.store.once(isTrim, { kind: "repeat" });
  await stage.drive(stage.coordinate(wake));
  expect(stage.mailOf()?.commands.map(({ kind }) => kind)).toEqual(["cancel"]);
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "cancelled" });
});

test("H11: the mailbox is trimmed after the commit, so a signal outlives a commit that loses", async () => {
  const both = workflow("both", { input }, (f, given) => {
    const got = f.signal(go);
    f.run(plus("a"), given);
    return got;
  });
  const stage = createStage([both]);
  await stage.begin("both");
  await send(stage, 1);
  // somebody else, who has not seen the mail, commits first
  const stale = await stage.wake();
  beforeEach(stage.store, 1, isCommit, async () => {
    await stage.work(...stage.take("task:default"));
  });
  await stage.drive(stage.coordinate(stale));
  expect(await stage.toEnd(1_000)).toMatchObject({ phase: "succeeded", output: { n: 1 } });
});
