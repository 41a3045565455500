import type { Definition, Expr, NodeDef, RetryPolicy, StepNode } from "../../lib/core/definition.ts";
import type { Json } from "../../lib/core/json.ts";
import { validate } from "../../lib/core/validate.ts";
import type { SeededRandom } from "../../lib/testing/seeded-random.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, hashOf } from "../engine/raw.ts";
import type { Choices } from "./choices.ts";

/** Enough tries for whatever a storm takes; and so few that it may take them all. */
const patient: RetryPolicy = { attempts: 60, firstDelayMs: 100, longestDelayMs: 60_000, factor: 2, jitter: 1 };
const thrifty = (attempts: number): RetryPolicy => ({ ...patient, attempts });

interface Plan {
  readonly random: SeededRandom;
  readonly name: string;
  /** Names of nodes before it, kept ones only. */
  readonly earlier: readonly NodeDef[];
  readonly reads: readonly string[];
  readonly children: readonly Definition[];
  readonly workflow: string;
}

/**
 * A workflow of any shape: nodes of every kind, each drawn from a stream of its own, so that one can be left out and the others stay as
 * they are. Its output is the output of all nodes by name, which is what the reference looks at.
 */
export function generateWorkflow(
  choices: Choices,
  workflow: string,
  size: number,
  children: readonly Definition[],
): Definition {
  const nodes: NodeDef[] = [];
  for (let at = 0; at < size; at++) {
    const name = `n${at}`;
    if (!choices.takes(`node ${workflow}/${name}`, true)) continue;
    const random = choices.random(`graph ${workflow}/${name}`);
    const wanted = Array.from({ length: at === 0 ? 0 : random.integer(4) }, () => `n${random.integer(at)}`);
    const reads = [...new Set(wanted)].filter((each) => nodes.some((node) => node.name === each));
    nodes.push(common(random, nodes, draw({ random, name, earlier: nodes, reads, children, workflow })));
  }
  if (nodes.length === 0) nodes.push(stepNode("n0", ["$input"], { retry: patient }));
  const grouped = withRivals(choices.random(`rivals ${workflow}`), nodes);
  const hidden = compensations(choices.random(`undo ${workflow}`), grouped);
  const output = Object.fromEntries(grouped.map(({ name }) => [name, ref(name)]));
  const definition = definitionOf(workflow, [...grouped, ...hidden], output);
  const faults = validate(definition);
  if (faults.length > 0) throw new Error(`the generator made no definition: ${JSON.stringify(faults)}`);
  return definition;
}

const inputOf = (reads: readonly string[]): { readonly [name: string]: Expr } =>
  Object.fromEntries(reads.map((name) => [name, ref(name)]));

/** What any node may have: something to wait for, a condition, a failure that is data. */
function common(random: SeededRandom, earlier: readonly NodeDef[], def: NodeDef): NodeDef {
  const [waits, hasWhen, isData] = [random.chance(0.15), random.chance(0.2), random.chance(0.3)];
  const after = earlier.length > 0 && waits ? [random.pick(earlier).name] : [];
  const when = hasWhen && earlier.length > 0 ? condition(random, earlier) : undefined;
  return {
    ...def,
    after,
    ...(when !== undefined && def.when === undefined && { when }),
    ...(isData && { onFailure: "continue" as const }),
  };
}

function condition(random: SeededRandom, earlier: readonly NodeDef[]): Expr {
  // what two outputs are compared by must be short: numbers
  const numbers = earlier.filter((each) => each.kind === "step" && !each.onFailure && !each.handler.startsWith("big"));
  const number = () => (numbers.length > 0 ? ref(random.pick(numbers).name) : ref("$input", "n"));
  const one = ref(random.pick(earlier).name);
  const exists: Expr = { $: ["exists", one] };
  const both: Expr = { $: ["eq", number(), number()] };
  const choose: Expr = {
    $: [
      "case",
      ref("$input", "n"),
      [
        [1, false],
        [2, true],
        [3, exists],
      ],
      true,
    ],
  };
  const drawn = [exists, { $: ["not", { $: ["eq", one, random.integer(6)] }] }, { $: ["or", exists, both] }, choose];
  return random.pick<Expr>(drawn);
}

function draw(plan: Plan): NodeDef {
  const weight = plan.random.integer(100);
  if (weight < 22) return step(plan, {});
  if (weight < 40) return step(plan, { isInline: true, ...(plan.random.chance(0.4) && { isRepeatable: true }) });
  if (weight < 52) return map(plan);
  if (weight < 61 && plan.children.length > 0) return child(plan);
  if (weight < 64) return self(plan);
  if (weight < 71) return sleep(plan);
  if (weight < 80) return signal(plan);
  if (weight < 88) return gate(plan);
  if (weight < 94) return repeat(plan);
  return external(plan);
}

function policyOf(random: SeededRandom) {
  const [isThrifty, attempts, hasLimit] = [random.chance(0.12), 1 + random.integer(3), random.chance(0.06)];
  return {
    retry: isThrifty ? thrifty(attempts) : patient,
    timeoutMs: random.pick([5_000, 15_000, 30_000]),
    group: random.pick(["default", "default", "other"]),
    ...(hasLimit && { startWithinMs: 3_600_000 }),
  };
}

function step({ random, name, reads }: Plan, more: Partial<StepNode>): StepNode {
  const handler = random.pick(["work@1", "work@2", "work@3", "work@1", "flaky@1", "big@1", "fails@1", "slow@1"]);
  const isSlow = handler === "slow@1";
  // half of those that always fail are allowed to: otherwise most runs would end there
  const fails = handler === "fails@1" && random.chance(0.6) ? { onFailure: "continue" as const } : {};
  return stepNode(name, [], {
    handler,
    input: { ...inputOf(reads), n: ref("$input", "n") },
    ...policyOf(random),
    ...(isSlow && { timeoutMs: 45_000, ...(!more.isInline && { heartbeatMs: 10_000 }) }),
    ...fails,
    ...more,
  });
}

function map({ random, name, earlier, reads, children }: Plan): NodeDef {
  const maps = earlier.filter((each) => each.kind === "map" && !each.onFailure && !each.when && !each.tolerate);
  const [over, pick, isWide, ofChildren] = [
    random.fraction(),
    random.integer(9),
    random.chance(0.07),
    random.chance(0.15),
  ];
  const items: Expr =
    over < 0.3 && maps.length > 0
      ? ref(maps[pick % maps.length]?.name ?? "")
      : over < 0.8
        ? ref("$input", "list")
        : [7, 8];
  const input = { item: ref("$item"), at: ref("$index"), ...inputOf(reads) };
  const handler = random.pick(["work@1", "work@2", "flaky@1", "fails@1"]);
  const body = stepBody({ handler, input, ...policyOf(random) });
  const kid = children[0];
  const tolerance = random.pick([undefined, { count: 1 }, { share: 1 }]);
  const tolerate = handler === "fails@1" ? { share: 1 } : tolerance;
  return {
    kind: "map",
    name,
    items,
    body:
      ofChildren && kid
        ? { kind: "child", workflow: kid.workflow, definition: hashOf(kid), input: { n: ref("$index"), list: [1] } }
        : body,
    concurrency: isWide && !(ofChildren && kid) ? 65 + random.integer(40) : 1 + random.integer(5),
    ...(tolerate && { tolerate }),
  } as NodeDef;
}

function child({ random, name, reads, children }: Plan): NodeDef {
  const kid = random.pick(children);
  const input = { ...inputOf(reads), n: ref("$input", "n"), list: [3, 4] };
  return { kind: "child", name, workflow: kid.workflow, definition: hashOf(kid), input };
}

/** A workflow that starts itself, as often as its input is nested. */
function self({ name, workflow }: Plan): NodeDef {
  const when: Expr = { $: ["exists", ref("$input", "next")] };
  return { kind: "child", name, workflow, definition: "self", input: ref("$input", "next"), when };
}

function sleep({ random, name }: Plan): NodeDef {
  const forMs = Math.round(10 ** (2 + random.fraction() * 5.5));
  return { kind: "sleep", name, forMs };
}

function signal({ random, name }: Plan): NodeDef {
  const [hasTimeout, timeoutMs, isData] = [random.chance(0.5), 1000 + random.integer(3_600_000), random.chance(0.6)];
  return {
    kind: "signal",
    name,
    signal: random.pick(["s0", "s1"]),
    ...(hasTimeout && { timeoutMs, ...(isData && { onTimeout: "continue" as const }) }),
  };
}

function gate({ random, name }: Plan): NodeDef {
  const [hasTimeout, timeoutMs, decides] = [random.chance(0.6), 1000 + random.integer(3_600_000), random.integer(5)];
  const onTimeout = (["approve", "reject", "continue", "continue", undefined] as const)[decides];
  return {
    kind: "gate",
    name,
    ...(random.chance(0.8) && { onReject: "continue" as const }),
    ...(hasTimeout && { timeoutMs, ...(onTimeout && { onTimeout }) }),
  };
}

function repeat({ random, name, reads }: Plan): NodeDef {
  const turns = 1 + random.integer(4);
  const { isInline: _, ...body } = step({ random, name, reads } as Plan, {});
  const until: Expr = { $: ["gte", ref(name, "turn"), turns] };
  return {
    ...body,
    kind: "repeat",
    handler: "again@1",
    input: { ...inputOf(reads), last: { $: ["coalesce", ref("$last", "n"), 0] } },
    until,
    limit: turns + random.integer(3),
    everyMs: random.integer(30_000),
    factor: 1 + random.integer(2),
    longestMs: 60_000,
  } as NodeDef;
}

function external({ random, name, reads }: Plan): NodeDef {
  const body = step({ random, name, reads } as Plan, {});
  const [completeWithinMs, beats] = [60_000 + random.integer(7_200_000), random.chance(0.3)];
  const { heartbeatMs: _, ...rest } = body;
  return {
    ...rest,
    kind: "external",
    handler: "begin@1",
    completeWithinMs,
    ...(beats && { beatMs: 60_000 }),
  } as NodeDef;
}

/** Pairs of neighbours of which one wins. */
function withRivals(random: SeededRandom, nodes: readonly NodeDef[]): readonly NodeDef[] {
  const result = [...nodes];
  for (let at = 0; at + 1 < result.length; at++) {
    const isDrawn = random.chance(0.12);
    const [one, other] = [result[at] as NodeDef, result[at + 1] as NodeDef];
    const isIdle = (def: NodeDef) => def.kind === "signal" && def.onTimeout === "continue";
    const text = JSON.stringify(other);
    if (!isDrawn || one.oneOf !== undefined || isIdle(one) || isIdle(other) || text.includes(`"${one.name}"`)) continue;
    // what the other reads may read the one: only a node that reads nothing is sure not to wait for it
    if (/"ref","n\d/.test(text) || (other.after ?? []).length > 0) continue;
    result[at] = { ...one, oneOf: `g${at}` };
    result[at + 1] = { ...other, oneOf: `g${at}` };
  }
  return result;
}

const undoable = ["step", "map", "child", "external"];

function compensations(random: SeededRandom, nodes: readonly NodeDef[]): readonly NodeDef[] {
  const isSaga = random.chance(0.4);
  return nodes.flatMap((def) => {
    const [isDrawn, isInline, handler] = [
      random.chance(0.6),
      random.chance(0.4),
      random.pick(["work@1", "work@2", "flaky@1"]),
    ];
    if (!isSaga || !isDrawn || !undoable.includes(def.kind)) return [];
    return [
      stepNode(`${def.name}.undo`, [def.name], {
        compensates: def.name,
        retry: patient,
        handler,
        ...(isInline && { isInline }),
      }),
    ];
  });
}

/** Most items of a list. */
export const itemsMax = 105;

/** What a run is started with. */
export function generateInput(random: SeededRandom): Json {
  const length = random.chance(0.04) ? 66 + random.integer(itemsMax - 65) : random.integer(7);
  const list = Array.from({ length }, (_, at) => at);
  const nested = (depth: number): Json => ({
    n: 1 + depth,
    list: [1, 2],
    ...(depth > 0 && { next: nested(depth - 1) }),
  });
  return { n: random.integer(5), list, ...(random.chance(0.5) && { next: nested(random.integer(2)) }) };
}
