import { describe, expect, test } from "vitest";
import type { NodeDef } from "../../lib/core/definition.ts";
import { Fault } from "../../lib/core/faults.ts";
import { decodeRun } from "../../lib/core/row-format.ts";
import { isSettled, type Run, statusOf } from "../../lib/core/run.ts";
import { terminate } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { start } from "../../lib/engine/start.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { createWorld, type World, type WorldOptions } from "../../lib/testing/world.ts";
import { ref, stepNode } from "../core/fixture.ts";
import { definitionOf, hashOf, rawRegistry, refOf } from "../engine/raw.ts";
import { insist } from "./insist.ts";

/** Times that somebody outside asks. */
const tries = 10_000;

const rounds = Number(process.env["SIM_ROUNDS"] ?? 3);
const minuteMs = 60_000;

interface Weather {
  readonly options: Partial<WorldOptions>;
  readonly faultRate: number;
  readonly kinds: readonly Injection["kind"][];
  /** A wake-up that is taken and never comes takes along what it carried: that a gate was opened, but no end. */
  readonly losesMessages?: true;
}

const weathers: { readonly [name: string]: Weather } = {
  "processes that die": { options: { isShuffled: true }, faultRate: 0.05, kinds: ["crash-before", "crash-after"] },
  "a bus, a queue and a table that come and go": { options: { isShuffled: true }, faultRate: 0.2, kinds: ["fail"] },
  "replies lost, messages doubled": {
    options: { isShuffled: true, duplicateRate: 0.3 },
    faultRate: 0.1,
    kinds: ["lose-reply", "lose-request", "repeat"],
  },
  "all of it, and messages lost": {
    options: { isShuffled: true, duplicateRate: 0.1, lossRate: 0.1 },
    faultRate: 0.05,
    kinds: ["crash-before", "crash-after", "lose-reply", "lose-request", "repeat", "fail"],
    losesMessages: true,
  },
};

const child = definitionOf("c", [stepNode("x")]);
const nodes: readonly NodeDef[] = [
  stepNode("a", [], { input: ref("$input") }),
  { kind: "child", name: "k", workflow: "c", definition: hashOf(child), input: 1, after: ["a"] } as NodeDef,
  { kind: "gate", name: "g", after: ["a"] },
  stepNode("b", ["g", "k"]),
];

/** Three runs: one succeeds, one fails, one is ended by a person at its gate. */
const inputs: { readonly [runId: string]: string } = { good: "ok", bad: "fail", ended: "ok" };

function worldIn(weather: Weather, seed: number): World {
  const chance = createSeededRandom(`events ${seed}`);
  let world: World;
  const before = (): Injection | undefined => {
    const isOver = !world || world.clock.nowMs() > 1_800_000_000_000 + 20 * minuteMs;
    if (isOver || !chance.chance(weather.faultRate)) return undefined;
    const kind = chance.pick(weather.kinds);
    return kind === "fail" ? { kind, fault: new Fault("throttled", "slow down") } : { kind };
  };
  world = createWorld({
    registry: rawRegistry([definitionOf("w", nodes), child], {
      "work@1": (input) => {
        if (input === "fail") throw new Fault("fatal", "no use");
        return 1;
      },
    }),
    seed,
    functionMs: minuteMs,
    isPublishing: true,
    storeHooks: { before },
    queueHooks: { before },
    eventHooks: { before },
    ...weather.options,
  });
  return world;
}

async function people(world: World): Promise<void> {
  for (const [runId, input] of Object.entries(inputs))
    await insist(world, tries, () => start(world.engine, { workflow: "w", runId, input }));
  // a gate that was decided is not told of any more, so this one waits until the storm is over
  await world.clock.sleep(30 * minuteMs);
  await insist(world, tries, () => decide(world.engine, refOf("good"), { gate: "g", approved: true, id: "d" }));
  await insist(world, tries, () => terminate(world.engine, refOf("ended"), "ann"));
}

/** Every run as it is stored: looked at past the storm. */
const rowsOf = (world: World): readonly Run[] =>
  world.store.snapshot().flatMap((record) => (record.sk === "STATE" ? [decodeRun(record, record)] : []));

const kindOf: { readonly [status: string]: string } = {
  succeeded: "run-finished",
  failed: "run-failed",
  terminated: "run-cancelled",
};

describe.each(Object.entries(weathers))("events in a storm: %s", (_, weather) => {
  test.each(Array.from({ length: rounds }, (_, at) => at + 1))("seed %i", async (seed) => {
    const world = worldIn(weather, seed);
    let isQuiet = false;
    void people(world).then(() => {
      isQuiet = true;
    });
    await world.until(
      () => isQuiet && rowsOf(world).length >= 3 && rowsOf(world).every(isSettled),
      7 * 24 * 60 * minuteMs,
    );
    const runs = rowsOf(world).filter((run) => run.workflow === "w");
    expect(runs.map(({ runId }) => runId).sort()).toEqual(Object.keys(inputs).sort());
    const told = new Map<string, Set<string>>();
    for (const { id, kind, status, runId } of world.events.published) {
      told.set(id, (told.get(id) ?? new Set()).add(`${kind} ${runId}`));
      if (id.endsWith("/end")) expect(kind).toBe(kindOf[status]);
    }
    // an id never means two things
    for (const meanings of told.values()) expect(meanings.size).toBe(1);
    for (const run of runs) {
      const { runId } = run;
      expect(told.get(`${run.runUid}/end`)).toEqual(new Set([`${kindOf[statusOf(run)]} ${runId}`]));
      if (runId === "good" && !weather.losesMessages)
        expect(told.get(`${run.runUid}/gate/g`)).toEqual(new Set([`gate-opened ${runId}`]));
    }
    // children that came to be are told of too, and say so
    const children = world.events.published.filter(({ workflow }) => workflow === "c");
    expect(children.length).toBeGreaterThan(0);
    expect(children.every(({ isChild }) => isChild)).toBe(true);
    // and then it is quiet
    await world.advance(60 * minuteMs);
    const count = world.events.published.length;
    await world.advance(24 * 60 * minuteMs);
    expect(world.events.published.length).toBe(count);
  });
});
