import { describe, expect, test } from "vitest";
import type { NodeDef, StepNode } from "../../lib/core/definition.ts";
import { programOf } from "../../lib/core/program.ts";
import { decodeRun } from "../../lib/core/row-format.ts";
import { isLive, nodeState, statusOf } from "../../lib/core/run.ts";
import { command } from "../../lib/engine/commands.ts";
import { start } from "../../lib/engine/start.ts";
import { isTransient } from "../../lib/engine/strike.ts";
import { Fault } from "../../lib/index.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { createWorld, type World } from "../../lib/testing/world.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, hashOf, rawRegistry, refOf, runOf } from "../engine/raw.ts";
import { type Violations, watchHandlers, watchStore } from "./invariants.ts";

const rounds = Number(process.env["SIM_ROUNDS"] ?? 15);
const retry = { attempts: 50, firstDelayMs: 100, longestDelayMs: 5000, factor: 2, jitter: 1 };
const step = (name: string, reads: readonly string[] = [], more: Partial<StepNode> = {}) =>
  stepNode(name, reads, { retry, ...more });
const undo = (name: string, more: Partial<StepNode> = {}) =>
  step(`${name}.undo`, [name], { compensates: name, ...more });

const kid = definitionOf("kid", [step("k", ["$input"]), step("l", ["k"]), undo("k"), undo("l")], ref("l"));
/** Its map is cut into slices, or not. */
const flowWith = (concurrency: number) =>
  definitionOf(
    "w",
    [
      step("a", ["$input"]),
      step("b", ["a"], { isInline: true }),
      step("c", ["a"]),
      { kind: "map", name: "m", items: ref("$input", "list"), body: stepBody({ retry }), concurrency },
      { kind: "child", name: "kid", workflow: "kid", definition: hashOf(kid), input: 1 } as NodeDef,
      { kind: "gate", name: "g", timeoutMs: 60_000, onTimeout: "approve", after: ["b", "c"] },
      step("z", ["m", "kid", "g"], { isInline: true }),
      undo("a"),
      undo("b", { isInline: true }),
      undo("c"),
      undo("m"),
      undo("kid"),
      undo("z"),
    ],
    ref("z"),
  );
const flows = [2, 70].map(flowWith);
const flowOf = (seed: number) => flows[seed % flows.length]!;
/** More than one slice has, now and then. */
const listOf = (seed: number) => Array.from({ length: seed % 6 === 1 ? 70 : 3 }, (_, at) => at);

/** Cancels, pauses, resumes at any time, under a storm; then looks at what is left. */
async function play(seed: number, kinds: readonly ("cancel" | "terminate" | "pause" | "resume")[]) {
  const chance = createSeededRandom(`cancel ${seed}`);
  const flow = flowOf(seed);
  const violations: Violations = [];
  let world: World;
  let isStorm = true;
  const inject = (): Injection | undefined => {
    if (!isStorm || !chance.chance(0.02)) return undefined;
    const kind = chance.pick(["crash-before", "crash-after", "lose-reply", "lose-request", "repeat", "fail"] as const);
    return kind === "fail" ? { kind, fault: new Fault("throttled", "slow down") } : { kind };
  };
  const registry = watchHandlers(
    rawRegistry([flow, kid], {
      "work@1": async () => {
        if (chance.chance(0.5)) await world.clock.sleep(chance.integer(20_000));
        return 1;
      },
    }),
    { nowMs: () => world.clock.nowMs() },
    violations,
  );
  world = createWorld({
    registry,
    seed,
    functionMs: 60_000,
    isShuffled: true,
    duplicateRate: 0.1,
    storeHooks: { before: inject },
    queueHooks: { before: inject },
  });
  watchStore(world, violations);
  const insist = async (call: () => Promise<unknown>) => {
    for (let again = 0; again < 1000; again++) {
      const answer = await Promise.race([
        call().then(
          () => "done",
          (error: unknown) => (Fault.is(error) ? error.code : Promise.reject(error)),
        ),
        world.clock.sleep(5000).then(() => "silence"),
      ]);
      if (answer === "done" || answer === "run-ended") return;
    }
    throw new Error("nobody ever answered");
  };
  let isAnswered = false;
  const outside = (async () => {
    await insist(() => start(world.engine, { workflow: "w", runId: "r", input: { list: listOf(seed) } }));
    for (const [at, kind] of kinds.entries()) {
      await world.clock.sleep(chance.integer(60_000 / kinds.length));
      await insist(() => command(world.engine, refOf("r"), { kind, by: "ann", id: `c${at}` }));
    }
  })();
  outside.then(
    () => {
      isAnswered = true;
    },
    (error: unknown) => {
      isAnswered = true;
      violations.push(String(error));
    },
  );
  await world.until(
    () => isAnswered && world.store.peek({ pk: "default#r", sk: "STATE" })?.["l"] === undefined,
    7 * 86_400_000,
  );
  isStorm = false;
  await world.advance(3 * 3_600_000);
  return { world, violations, run: await runOf(world, "r") };
}

function checkLeftovers(world: World, violations: Violations): void {
  for (const each of world.store.snapshot()) {
    if (String(each["q"]).startsWith("D")) violations.push(`${each.pk} ${each.sk} is still due`);
    if (each.sk === "STATE" && isLive(decodeRun(each, each))) violations.push(`${each.pk} is still live`);
  }
  for (const each of world.queue.messages()) violations.push(`${each.queue} still has ${each.body}`);
  for (const each of world.thrown) if (!isTransient(each)) violations.push(`thrown: ${String(each)}`);
  for (const each of world.log.entries) if (each.level === "error") violations.push(JSON.stringify(each));
}

describe("commands at any time, in any weather", () => {
  test.each([
    [["cancel"]],
    [["pause", "cancel"]],
    [["pause", "resume"]],
    [["pause", "resume", "pause", "resume", "cancel"]],
    [["terminate"]],
    [["cancel", "terminate"]],
  ] as const)("%j: what was done is undone or the run has succeeded, and nothing is left over", async (kinds) => {
    const seen = new Set<string>();
    for (let seed = 0; seed < rounds; seed++) {
      const { world, violations, run } = await play(seed, kinds).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      });
      checkLeftovers(world, violations);
      const status = statusOf(run);
      const program = programOf(flowOf(seed), hashOf(flowOf(seed)));
      seen.add(status);
      for (const { def, position, compensation } of program.nodes) {
        if (compensation === undefined) continue;
        const [state, undone] = [nodeState(run.nodes, position), nodeState(run.nodes, compensation)];
        if (status === "succeeded" && undone !== "pending") violations.push(`${def.name} was undone, and all was well`);
        if (status === "cancelled" && state === "done" && undone !== "done")
          violations.push(`${def.name} was not undone`);
        if (state === "pending" && undone === "done") violations.push(`${def.name} was undone, and never done`);
      }
      if (status === "cancelled" && run.isUncompensated) violations.push("marked as uncompensated");
      expect({ seed, violations, reason: status === "succeeded" ? run.reason : undefined }).toEqual({
        seed,
        violations: [],
        reason: undefined,
      });
      const last = kinds.at(-1);
      const allowed =
        last === "resume" ? ["succeeded"] : ["succeeded", "cancelled", ...(last === "terminate" ? ["terminated"] : [])];
      expect({ seed, status, isAllowed: allowed.includes(status) }).toEqual({ seed, status, isAllowed: true });
    }
    if (rounds >= 10 && kinds.at(-1) === "cancel") expect(seen).toContain("cancelled");
  });
});
