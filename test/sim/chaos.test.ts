import { describe, expect, test } from "vitest";
import { isSettled, statusOf } from "../../lib/core/run.ts";
import { signal } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { findRun, readResult } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import { isTransient } from "../../lib/engine/strike.ts";
import { Fault } from "../../lib/index.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { createWorld, type World, type WorldOptions } from "../../lib/testing/world.ts";
import { rawRegistry, refOf } from "../engine/raw.ts";
import { adder, definitionsOf, type Flow, flows } from "./flows.ts";
import { insist } from "./insist.ts";
import { type Violations, watchHandlers, watchStore } from "./invariants.ts";

/** Times that somebody outside asks. */
const tries = 20_000;

/** How much of what goes wrong goes wrong. */
interface Weather {
  readonly options: Partial<WorldOptions>;
  /** Of calls to the store and the queue. */
  readonly faultRate: number;
  readonly kinds: readonly Injection["kind"][];
}

const rounds = Number(process.env["SIM_ROUNDS"] ?? 6);
const stormMs = 20 * 60_000;
const weathers: { readonly [name: string]: Weather } = {
  "messages shuffled and doubled": { options: { isShuffled: true, duplicateRate: 0.3 }, faultRate: 0, kinds: [] },
  "messages lost": { options: { isShuffled: true, lossRate: 0.2 }, faultRate: 0, kinds: [] },
  "processes that die": { options: { isShuffled: true }, faultRate: 0.03, kinds: ["crash-before", "crash-after"] },
  "replies lost": { options: { isShuffled: true }, faultRate: 0.05, kinds: ["lose-reply", "lose-request", "repeat"] },
  throttles: { options: { isShuffled: true }, faultRate: 0.1, kinds: ["fail"] },
  "all of it": {
    options: { isShuffled: true, duplicateRate: 0.1, lossRate: 0.05 },
    faultRate: 0.03,
    kinds: ["crash-before", "crash-after", "lose-reply", "lose-request", "repeat", "fail"],
  },
};

function simulate(flow: Flow, weather: Weather, seed: number) {
  const violations: Violations = [];
  const storm = { isOver: false };
  const chance = createSeededRandom(`storm ${seed}`);
  let world: World;
  const inject = (): Injection | undefined => {
    if (
      !world ||
      storm.isOver ||
      world.clock.nowMs() > 1_800_000_000_000 + stormMs ||
      !chance.chance(weather.faultRate)
    )
      return undefined;
    const kind = chance.pick(weather.kinds);
    return kind === "fail" ? { kind, fault: new Fault("throttled", "slow down") } : { kind };
  };
  // the function's time-out is what ends a step whose process died
  const clock = { nowMs: () => world.clock.nowMs() };
  const registry = watchHandlers(rawRegistry(definitionsOf(flow), { "work@1": adder }), clock, violations);
  world = createWorld({
    registry,
    seed,
    functionMs: 60_000,
    storeHooks: { before: inject },
    queueHooks: { before: inject },
    ...weather.options,
  });
  watchStore(world, violations);
  return { world, violations, registry, storm };
}

async function play(flow: Flow, weather: Weather, seed: number) {
  const { world, violations, registry, storm } = simulate(flow, weather, seed);
  const outside = (async () => {
    await insist(world, tries, () => start(world.engine, { workflow: "w", runId: "r", input: flow.input }));
    for (const [at, each] of flow.signals.entries())
      await insist(world, tries, () =>
        signal(world.engine, refOf("r"), { signal: each.name, payload: each.payload, id: `s${at}` }),
      );
    for (const gate of flow.gates)
      await insist(world, tries, () => decide(world.engine, refOf("r"), { gate, approved: true, id: "d" }));
  })();
  let isAnswered = false;
  outside.then(
    () => {
      isAnswered = true;
    },
    (error: unknown) => {
      isAnswered = true;
      violations.push(String(error));
    },
  );
  await world.until(() => {
    const row = world.store.peek({ pk: "default#r", sk: "STATE" });
    const isOver = row !== undefined && row["l"] === undefined && row["q"]?.toString().startsWith("D") !== true;
    return isAnswered && isOver;
  }, 7 * 86_400_000);
  storm.isOver = true;
  // what was doubled or held up comes now, and must change nothing
  const { run, output } = await readResult(world.engine, refOf("r"));
  await world.advance(3_600_000);
  const after = (await findRun(world.engine, refOf("r")))!;
  // nothing of it is due any more, and nothing is on its way
  for (const each of world.store.snapshot())
    if (String(each["q"]).startsWith("D")) violations.push(`${each.pk} ${each.sk} is still due`);
  for (const each of world.queue.messages()) violations.push(`${each.queue} still has ${each.body}`);
  if (!isSettled(after) || statusOf(after) !== statusOf(run)) violations.push("it did not stay as it was");
  return { world, run, violations, registry, output: output?.ok ? output.value : undefined };
}

describe.each(Object.entries(flows))("%s", (_, flow) => {
  test.each(Object.entries(weathers))("comes to the same end under %s", async (name, weather) => {
    for (let round = 0; round < rounds; round++) {
      const seed = round * 7919 + name.length;
      const { world, run, violations, output, registry } = await play(flow, weather, seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      });
      const seen = {
        seed,
        violations,
        status: statusOf(run),
        output,
        thrown: world.thrown.filter((each) => !isTransient(each)),
        reason: run.reason,
      };
      expect(seen).toEqual({
        seed,
        violations: [],
        status: flow.status,
        output: flow.output,
        thrown: [],
        reason: flow.status === "failed" ? seen.reason : undefined,
      });
      if (flow.status === "failed") {
        // its one try fails, or is lost with its worker
        expect({ seed, code: run.reason?.code }).toEqual({
          seed,
          code: expect.stringMatching(/^(handler-failed|lost)$/),
        });
        expect({ seed, isUncompensated: run.isUncompensated }).toEqual({ seed, isUncompensated: false });
      }
      expect({ seed, fails: world.metrics.total("force-fails") }).toEqual({ seed, fails: 0 });
      const errors = world.log.entries.filter((entry) => entry.level === "error");
      expect({ seed, errors }).toEqual({ seed, errors: [] });
      if (weather.faultRate === 0)
        for (const calls of registry.calls.values()) expect({ seed, calls }).toEqual({ seed, calls: 1 });
    }
  });
});
