import * as v from "valibot";
import { describe, expect, it } from "vitest";
import type { Verdict } from "../../lib/core/deploy-check.ts";
import { compareBuilds } from "../../lib/core/deploy-report.ts";
import { deployText } from "../../lib/core/deploy-text.ts";
import { statusOf } from "../../lib/core/run.ts";
import { checkDeploy } from "../../lib/engine/check-deploy.ts";
import { signal as send } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import {
  type AnyWorkflow,
  call,
  createRegistry,
  definitionsOf,
  FatalError,
  signal,
  step,
  workflow,
} from "../../lib/index.ts";
import { createWorld, type World } from "../../lib/testing/world.ts";

const ref = { tenant: "default", runId: "r" };
const cents = v.object({ cents: v.number() });
const receipt = v.object({ receiptId: v.string() });
const charge = step("charge", { input: cents, output: receipt }, ({ cents }) => ({ receiptId: `old-${cents}` }));
const pay = step("pay", { input: cents, output: receipt }, ({ cents }) => ({ receiptId: `pay-${cents}` }));
/** The same name, another input. */
const strict = v.object({ cents: v.number(), currency: v.string() });
const chargeStrict = step("charge", { input: strict, output: receipt }, () => ({ receiptId: "strict" }));
const chargeStrict2 = step("charge", { input: strict, output: receipt, version: "2" }, () => ({ receiptId: "two" }));
const tell = step("tell", { input: receipt }, () => {});
const refund = step("refund", { input: receipt }, () => {});
const go = signal("go", v.object({}));

const sale = (does: typeof charge, more: { readonly isTold?: boolean; readonly undo?: typeof refund } = {}) =>
  workflow("sale", { input: cents }, (flow, input) => {
    const ok = flow.gate("ok");
    const { undo } = more;
    const paid = flow.run(does, input, {
      after: [ok],
      ...(undo && { compensate: (out: Parameters<typeof call>[1]) => call(undo, out as never) }),
    });
    if (more.isTold) flow.run(tell, { receiptId: paid.receiptId });
    return { receiptId: paid.receiptId };
  });
const saleStrict = (does: typeof chargeStrict) =>
  workflow("sale", { input: strict }, (flow, input) => {
    const ok = flow.gate("ok");
    return { receiptId: flow.run(does, input, { after: [ok] }).receiptId };
  });
const waits = workflow("sale", { input: cents }, (flow) => void flow.signal(go));
const silent = workflow("sale", { input: cents }, (flow, input) => void flow.run(charge, input));
const other = workflow("other", { input: cents }, (flow, input) => void flow.run(charge, input));
const unrelated = workflow("unrelated", { input: receipt }, (flow, input) => void flow.run(tell, input));

const build = (...workflows: AnyWorkflow[]) => createRegistry(workflows);
const old = build(sale(charge));

/** A run that waits at its gate, started by a build. */
async function begun(registry = old): Promise<World> {
  const world = createWorld({ registry, isWatchdogLazy: true });
  await start(world.engine, { workflow: "sale", runId: "r", input: { cents: 5, currency: "EUR" } });
  await world.advance(1_000);
  return world;
}

let builds = 0;
function deploy(world: World, registry: ReturnType<typeof build>): void {
  builds += 1;
  world.withEngine({ registry, build: `build-${builds}` });
}

async function verdict(world: World, registry: ReturnType<typeof build>): Promise<Verdict | undefined> {
  const report = await checkDeploy({ ...world.engine, registry, programs: new Map() });
  const [definition] = report.definitions;
  expect(report.definitions).toHaveLength(1);
  return Object.keys(definition?.counts ?? {})[0] as Verdict;
}

async function goOn(world: World): Promise<string> {
  await decide(world.engine, ref, { gate: "ok", approved: true });
  await world.advance(10 * 60_000);
  return await statusIn(world);
}

async function statusIn(world: World): Promise<string> {
  const run = await findRun(world.engine, ref);
  return run ? statusOf(run) : "gone";
}

const receiptIn = async (world: World) => {
  const { output } = await readResult(world.engine, ref);
  return output?.ok ? output.value : undefined;
};

describe("a deploy with runs in flight", () => {
  it.each([
    ["nothing changed", old, "finishes", "succeeded", "old-5"],
    ["a changed graph", build(sale(charge, { isTold: true })), "finishes", "succeeded", "old-5"],
    ["a renamed step", build(sale(pay)), "parks", "parked", undefined],
    [
      "a renamed step, the old one kept",
      createRegistry([sale(pay)], { keep: [charge] }),
      "finishes",
      "succeeded",
      "old-5",
    ],
    ["a changed input schema", build(saleStrict(chargeStrict)), "may-park", "succeeded", "strict"],
    [
      "a new version, the old one kept",
      createRegistry([saleStrict(chargeStrict2)], { keep: [charge] }),
      "finishes",
      "succeeded",
      "old-5",
    ],
    ["a new version, the old one gone", build(saleStrict(chargeStrict2)), "parks", "parked", undefined],
    ["a removed workflow", build(unrelated), "parks", "parked", undefined],
    ["a removed workflow, its steps kept", build(other), "finishes", "succeeded", "old-5"],
  ] as const)("%s: %#", async (_, next, foreseen, status, receiptId) => {
    const world = await begun(receiptId === "strict" ? build(saleStrict(charge as never)) : old);
    expect(await verdict(world, next)).toBe(foreseen);
    deploy(world, next);
    expect(await goOn(world)).toBe(status);
    expect(await receiptIn(world)).toEqual(receiptId && { receiptId });
  });

  it("a changed schema that the input does not fit: it parks, burns no try, and resumes with the mended build", async () => {
    const world = await begun();
    const broken = build(saleStrict(chargeStrict));
    deploy(world, broken);
    expect(await goOn(world)).toBe("parked");
    expect((await findRun(world.engine, ref))?.active[0]).toMatchObject({ attempt: 1 });
    expect(await verdict(world, broken)).toBe("stays-parked");
    const mended = build(saleStrict(chargeStrict2), other);
    expect(await verdict(world, mended)).toBe("resumes");
    deploy(world, mended);
    await world.advance(10 * 60_000);
    expect([await statusIn(world), await receiptIn(world)]).toEqual(["succeeded", { receiptId: "old-5" }]);
  });

  it("a run that resumed is parked for nothing any more", async () => {
    const world = await begun();
    deploy(world, build(sale(pay)));
    expect(await goOn(world)).toBe("parked");
    expect((await findRun(world.engine, ref))?.reason).toMatchObject({ code: "unknown-handler" });
    deploy(world, old);
    await world.advance(10 * 60_000);
    const run = await findRun(world.engine, ref);
    expect([run?.phase, run?.reason]).toEqual(["succeeded", undefined]);
  });

  it("what undoes a step parks: the run keeps why it ends, and the log says what is missing", async () => {
    const broken = step("broken", { input: receipt }, () => {
      throw new FatalError("no stock");
    });
    const undone = (...keep: (typeof refund)[]) =>
      createRegistry(
        [
          workflow("sale", { input: cents }, (flow, input) => {
            const ok = flow.gate("ok");
            const paid = flow.run(charge, input, {
              after: [ok],
              ...(keep.length > 0 && { compensate: (out) => call(refund, out) }),
            });
            flow.run(broken, paid);
          }),
        ],
        { keep },
      );
    const world = await begun(undone(refund));
    deploy(world, undone());
    expect(await goOn(world)).toBe("parked");
    const why = { code: "fatal", message: "broken: no stock" };
    expect((await findRun(world.engine, ref))?.reason).toEqual(why);
    expect(world.log.of("node.parked")[0]?.fields).toMatchObject({ node: "charge.undo", code: "unknown-handler" });
    deploy(world, undone(refund));
    await world.advance(10 * 60_000);
    expect(await findRun(world.engine, ref)).toMatchObject({ phase: "failed", reason: why, isUncompensated: false });
  });

  it("rolled back: what the new build started goes on, or parks until it is rolled forward", async () => {
    const next = build(sale(pay), other);
    const world = await begun(next);
    expect(await verdict(world, old)).toBe("parks");
    deploy(world, old);
    expect(await goOn(world)).toBe("parked");
    deploy(world, next);
    await world.advance(10 * 60_000);
    expect([await statusIn(world), await receiptIn(world)]).toEqual(["succeeded", { receiptId: "pay-5" }]);
  });

  it("rolled back after a run had parked: the old build resumes it", async () => {
    const world = await begun();
    deploy(world, build(sale(pay)));
    expect(await goOn(world)).toBe("parked");
    expect(await verdict(world, old)).toBe("resumes");
    deploy(world, old);
    await world.advance(10 * 60_000);
    expect([await statusIn(world), await receiptIn(world)]).toEqual(["succeeded", { receiptId: "old-5" }]);
  });

  it("what undoes a step counts as long as it may be needed", async () => {
    const world = await begun(build(sale(charge, { undo: refund })));
    const report = await checkDeploy({ ...world.engine, registry: old, programs: new Map() });
    expect(report.definitions[0]?.runs[0]?.findings).toEqual([
      { node: "charge.undo", position: 2, kind: "handler-gone", subject: "refund@1", isUndo: true },
    ]);
    expect(report.isBad).toBe(true);
    await goOn(world);
    expect((await checkDeploy({ ...world.engine, registry: old, programs: new Map() })).definitions).toEqual([]);
  });

  it("a removed workflow takes no signals any more, and says so", async () => {
    const world = await begun(build(waits));
    expect(await verdict(world, build(unrelated))).toBe("waits-in-vain");
    deploy(world, build(unrelated));
    await expect(send(world.engine, ref, { signal: "go", payload: {} })).rejects.toThrow(
      'does not know workflow "sale": deploy a build that waits for signal "go" there, or lists it under `keep`',
    );
  });

  it.each([
    ["the workflow", unrelated],
    ["the wait", silent],
  ])("a signal that is kept is taken, and checked, by a build without %s", async (_, next) => {
    const world = await begun(build(waits));
    const kept = createRegistry([next], { keep: [go] });
    expect(await verdict(world, kept)).toBe("finishes");
    deploy(world, kept);
    const sent = (payload: unknown) => send(world.engine, ref, { signal: "go", payload });
    await expect(sent(7)).rejects.toMatchObject({ code: "bad-input" });
    await sent({});
    await world.advance(10 * 60_000);
    expect(await statusIn(world)).toBe("succeeded");
  });

  it("a signal that the new build waits for nowhere is foreseen, refused, and taken by the next build that has it", async () => {
    const world = await begun(build(waits));
    const report = await checkDeploy({ ...world.engine, registry: build(silent), programs: new Map() });
    expect(report.definitions[0]?.counts).toEqual({ "waits-in-vain": 1 });
    expect(deployText(report)).toContain('list signal "go" under `keep` until these runs have ended');
    deploy(world, build(silent));
    const sent = () => send(world.engine, ref, { signal: "go", payload: {} });
    await expect(sent()).rejects.toThrow('workflow "sale" waits for signal "go" no more, and this run does');
    deploy(world, build(waits));
    await sent();
    await world.advance(10 * 60_000);
    expect(await statusIn(world)).toBe("succeeded");
  });

  it("a worker group that nothing is left in is foreseen", async () => {
    const far = step("charge", { input: cents, output: receipt, group: "far" }, ({ cents }) => ({
      receiptId: `${cents}`,
    }));
    const world = await begun(build(sale(far)));
    expect(await verdict(world, build(sale(far)))).toBe("finishes");
    expect(await verdict(world, old)).toBe("waits-in-vain");
  });

  it("a graph that this build does not have is said, not guessed", async () => {
    const world = await begun();
    deploy(world, build(unrelated));
    await goOn(world);
    expect(world.metrics.total("unknown-definitions")).toBe(1);
    expect(world.log.of("unknown-definition")).toHaveLength(1);
  });
});

describe("a check of many runs", () => {
  it("looks at all that are live, names some, and says when it stopped before", async () => {
    const world = createWorld({ registry: old, isWatchdogLazy: true });
    for (let at = 0; at < 250; at++) {
      await start(world.engine, { workflow: "sale", runId: `r${at}`, tenant: `t${at % 3}`, input: { cents: at } });
    }
    await world.advance(1_000);
    await decide(world.engine, { tenant: "t0", runId: "r0" }, { gate: "ok", approved: true });
    await world.advance(1_000);
    const next = { ...world.engine, registry: build(sale(pay)), programs: new Map() };
    const report = await checkDeploy(next, { namedMax: 5 });
    expect(report).toMatchObject({ isBad: true, isPartial: false, definitions: [{ counts: { parks: 249 } }] });
    expect(report.definitions[0]?.runs).toHaveLength(5);
    expect(await checkDeploy(next, { runsMax: 10 })).toMatchObject({ isPartial: true });
  });

  it("writes nothing", async () => {
    const world = await begun();
    const before = JSON.stringify(world.store.snapshot());
    await checkDeploy({ ...world.engine, registry: build(sale(pay)), programs: new Map() });
    expect(JSON.stringify(world.store.snapshot())).toBe(before);
    expect(world.queue.messages()).toEqual([]);
  });
});

describe("definitions.json", () => {
  it("has the signals that are kept, so that two builds can be compared for them", () => {
    const last = definitionsOf([waits]);
    const gone = compareBuilds(last, definitionsOf([silent]));
    expect(gone.definitions[0]?.findings).toMatchObject([{ kind: "signal-refused", subject: "go" }]);
    const kept = definitionsOf([silent], { keep: [go] });
    expect(kept.signals).toEqual(["go"]);
    expect(compareBuilds(last, kept).definitions[0]?.findings).toEqual([]);
    expect(last).not.toHaveProperty("signals");
  });

  it("of two signals of one name one can be kept", () => {
    const twice = [go, signal("go", v.object({ why: v.string() }))];
    expect(() => createRegistry([silent], { keep: twice })).toThrow('two signals that are kept are "go": keep one');
  });

  const graph = (isTold: boolean) => sale(charge, { isTold });

  it("makes every process start by the same graph, and the process that differs says so", async () => {
    const definitions = definitionsOf([graph(true)]);
    const registry = createRegistry([graph(false), unrelated], { definitions });
    const world = await begun(registry);
    expect((await findRun(world.engine, ref))?.definitionHash).toBe(graph(true).hash);
    expect(world.log.of("definition-differs")[0]?.fields).toMatchObject({
      workflow: "sale",
      hash: graph(true).hash,
      builtHash: graph(false).hash,
    });
    expect(world.metrics.total("unknown-definitions")).toBe(1);
    expect(await goOn(world)).toBe("succeeded");
  });

  it("is refused if somebody edited it", () => {
    const { workflows, ...rest } = definitionsOf([graph(true)]);
    const edited = { ...rest, workflows: { sale: { ...workflows["sale"]!, hash: "0".repeat(32) } } };
    expect(() => createRegistry([graph(true)], { definitions: edited })).toThrow("write definitions.json anew");
  });
});
