import { describe, expect, test } from "vitest";
import type { Expr, NodeDef, StepNode } from "../../lib/core/definition.ts";
import { evaluate } from "../../lib/core/expression.ts";
import { failureOf, outputOf } from "../../lib/core/facts.ts";
import type { Json } from "../../lib/core/json.ts";
import { fixed } from "../../lib/core/limits.ts";
import { decodeRun } from "../../lib/core/row-format.ts";
import { isLive } from "../../lib/core/run.ts";
import { validate } from "../../lib/core/validate.ts";
import { start } from "../../lib/engine/start.ts";
import { isTransient } from "../../lib/engine/strike.ts";
import { Fault } from "../../lib/index.ts";
import { itemBytes } from "../../lib/ports/item-size.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import { createSeededRandom, type SeededRandom } from "../../lib/testing/seeded-random.ts";
import { createWorld, type World } from "../../lib/testing/world.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, ended, type RawHandler, rawRegistry } from "../engine/raw.ts";
import { type Violations, watchHandlers, watchStore } from "./invariants.ts";

const rounds = Number(process.env["SIM_ROUNDS"] ?? 40);
const retry = { attempts: 50, firstDelayMs: 100, longestDelayMs: 3000, factor: 2, jitter: 1 };
const input = { n: 3, list: [1, 2, 3, 4, 5] };

/** A graph of any nodes; each reads up to three earlier ones. */
function randomNodes(chance: SeededRandom): readonly NodeDef[] {
  const count = 1 + chance.integer(chance.chance(0.1) ? 80 : 14);
  const nodes: NodeDef[] = [];
  for (let at = 0; at < count; at++) {
    const earlier = nodes.map((each) => each.name);
    const reads = earlier.length > 0 ? Array.from({ length: chance.integer(4) }, () => chance.pick(earlier)) : [];
    const common = {
      name: `n${at}`,
      after: earlier.length > 0 && chance.chance(0.2) ? [chance.pick(earlier)] : [],
      ...(earlier.length > 0 && chance.chance(0.3) && { when: randomCondition(chance, nodes) }),
      ...(chance.chance(0.3) && { onFailure: "continue" as const }),
    };
    nodes.push(randomNode(chance, common, [...new Set(reads)], nodes));
  }
  return nodes;
}

function randomNode(
  chance: SeededRandom,
  common: Pick<StepNode, "name" | "after" | "when" | "onFailure">,
  reads: readonly string[],
  earlier: readonly NodeDef[],
): NodeDef {
  const isInline = chance.chance(0.5);
  const maps = earlier.filter((each) => each.kind === "map" && each.onFailure === undefined && each.when === undefined);
  switch (chance.integer(7)) {
    case 0:
      return {
        ...common,
        kind: "map",
        items:
          maps.length > 0 && chance.chance(0.4)
            ? ref(chance.pick(maps).name)
            : chance.chance(0.5)
              ? ref("$input", "list")
              : [7, 8],
        body: stepBody({ retry, input: { item: ref("$item"), at: ref("$index"), ...inputOf(reads) } }),
        concurrency: 1 + chance.integer(4),
      };
    case 1:
      return {
        ...common,
        kind: "signal",
        signal: "never",
        timeoutMs: 1 + chance.integer(20_000),
        onTimeout: "continue",
      };
    default:
      return stepNode(common.name, [], {
        ...common,
        retry,
        handler: common.onFailure === "continue" && chance.chance(0.5) ? "fails@1" : "work@1",
        input: inputOf(reads),
        isInline,
        ...(isInline && chance.chance(0.5) && { isRepeatable: true }),
      });
  }
}

const inputOf = (reads: readonly string[]) => Object.fromEntries(reads.map((name) => [name, ref(name)]));

function randomCondition(chance: SeededRandom, nodes: readonly NodeDef[]): Expr {
  const earlier = nodes.map((each) => each.name);
  // what two outputs are compared by must be short: numbers
  const numbers = nodes.filter((each) => each.kind === "step" && each.onFailure === undefined).map((each) => each.name);
  const number = () => (numbers.length > 0 ? ref(chance.pick(numbers)) : 1);
  const exists: Expr = { $: ["exists", ref(chance.pick(earlier))] };
  const equals: Expr = { $: ["eq", ref(chance.pick(earlier)), chance.integer(6)] };
  const both: Expr = { $: ["eq", number(), number()] };
  return chance.pick<Expr>([
    exists,
    { $: ["not", equals] },
    { $: ["or", exists, both] },
    { $: ["and", exists, { $: ["not", both] }] },
  ]);
}

const sumOf = (value: Json): number => {
  if (typeof value === "number") return value;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + sumOf(each as Json), 0);
};
const adder: RawHandler = (value) => (1 + sumOf(value)) % 100_003;

/** What the nodes must yield, worked out in one go: no rows, no messages, no time. */
function expected(nodes: readonly NodeDef[]): { readonly [name: string]: Json } {
  const values = new Map<string, Json | undefined>();
  const read = (expr: Expr, extra: { readonly [source: string]: Json } = {}) => {
    const found = evaluate(expr, (source) => (source === "$input" ? input : (extra[source] ?? values.get(source))));
    if (!found.ok) throw new Error(found.fault.message);
    return found.value;
  };
  for (const def of nodes) {
    if (def.when !== undefined && read(def.when) !== true) continue;
    if (def.kind === "signal") values.set(def.name, outputOf(def, undefined));
    else if (def.kind === "step") {
      const isOk = def.handler === "work@1";
      const failure = failureOf({ code: "fatal", message: "as it was told" });
      values.set(def.name, isOk ? outputOf(def, adder(read(def.input) ?? null, {} as never) as Json) : failure);
    } else if (def.kind === "map" && def.body.kind === "step") {
      const { body } = def;
      const items = read(def.items) as readonly Json[];
      const outputs = items.map(
        (item, at) => adder(read(body.input, { $item: item, $index: at }) ?? null, {} as never) as Json,
      );
      values.set(def.name, outputOf(def, outputs));
    }
  }
  return Object.fromEntries([...values].filter((each): each is [string, Json] => each[1] !== undefined));
}

async function play(seed: number, faultRate: number) {
  const chance = createSeededRandom(`flow ${seed}`);
  const nodes = randomNodes(chance);
  const definition = definitionOf("w", nodes, Object.fromEntries(nodes.map((each) => [each.name, ref(each.name)])));
  const violations: Violations = validate(definition).map((each) => each.message);
  let world: World;
  let isStorm = true;
  const inject = (): Injection | undefined => {
    if (!isStorm || !world || world.clock.nowMs() > 1_800_000_600_000 || !chance.chance(faultRate)) return undefined;
    const kind = chance.pick(["crash-before", "crash-after", "lose-reply", "lose-request", "repeat", "fail"] as const);
    return kind === "fail" ? { kind, fault: new Fault("throttled", "slow down") } : { kind };
  };
  const registry = rawRegistry([definition], {
    "work@1": adder,
    "fails@1": () => {
      throw new Fault("fatal", "as it was told");
    },
  });
  world = createWorld({
    registry: watchHandlers(registry, { nowMs: () => world.clock.nowMs() }, violations),
    seed,
    functionMs: 60_000,
    isShuffled: true,
    duplicateRate: faultRate > 0 ? 0.1 : 0,
    lossRate: faultRate > 0 ? 0.03 : 0,
    storeHooks: { before: inject },
    queueHooks: { before: inject },
  });
  watchStore(world, violations);
  world.store.watch((write, _, now) => {
    if (write.key.sk !== "STATE" || !now) return;
    const run = decodeRun(write.key, now);
    const max = run.active.length <= fixed.activeInOneUnit ? fixed.rowBytesOneUnit + 24 : fixed.rowBytesMax + 48;
    if (isLive(run) && itemBytes({ ...now, ...write.key }) > max)
      violations.push(`a row of ${itemBytes({ ...now, ...write.key })} bytes`);
  });
  const begin = async (): Promise<void> => {
    const answer = await Promise.race([
      start(world.engine, { workflow: "w", runId: "r", input }).then(
        () => true,
        () => false,
      ),
      world.clock.sleep(5000).then(() => false),
    ]);
    if (!answer) await begin();
  };
  void begin();
  await world.until(() => world.store.peek({ pk: "default#r", sk: "STATE" }) !== undefined);
  await world.until(() => world.store.peek({ pk: "default#r", sk: "STATE" })?.["l"] === undefined, 7 * 86_400_000);
  isStorm = false;
  const result = await ended(world, "r");
  await world.advance(3_600_000);
  for (const each of world.queue.messages()) violations.push(`${each.queue} still has ${each.body}`);
  for (const each of world.thrown) if (!isTransient(each)) violations.push(`thrown: ${String(each)}`);
  for (const each of world.log.entries) if (each.level === "error") violations.push(JSON.stringify(each));
  return { nodes, result, violations };
}

describe("a workflow of any shape", () => {
  test.each([
    ["calm", 0],
    ["stormy", 0.02],
  ])("yields in %s weather what it yields on paper", async (_, faultRate) => {
    for (let seed = 0; seed < rounds; seed++) {
      const { nodes, result, violations } = await play(seed, faultRate).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      });
      const { status, output, run } = result;
      expect({ seed, violations, status, output, reason: run.reason }).toEqual({
        seed,
        violations: [],
        status: "succeeded",
        output: expected(nodes),
        reason: undefined,
      });
    }
  });
});
