import { defaultLimits, type Limits } from "../../lib/core/limits.ts";
import type { Program } from "../../lib/core/program.ts";
import { programOf } from "../../lib/core/program.ts";
import { isLive, isSettled, type Run } from "../../lib/core/run.ts";
import { hashOf } from "../engine/raw.ts";
import type { Breakage } from "./breaks.ts";
import { createBuild, createRollout } from "./builds.ts";
import { standWatch } from "./checkers/watch.ts";
import { type Choice, type Choices, createChoices } from "./choices.ts";
import { createClients } from "./clients.ts";
import { drawProfile, type Profile, type ProfileName, type Rates } from "./faults.ts";
import { createFunctions, type Functions, type Role } from "./functions.ts";
import { itemsMax } from "./generator.ts";
import { createPeople } from "./people.ts";
import { planPlagues } from "./plagues.ts";
import { withoutThreads } from "./platform.ts";
import { generateWorkflows, playScenario, type Workflows } from "./scenario.ts";
import { createWorld, type Violation, type World } from "./world.ts";

/** What is simulated: a seed, under a profile, of it all or only what is kept. */
export interface Asked {
  readonly seed: number;
  readonly profile: ProfileName | "mixed";
  /** Ids of the choices to keep; all unless given. */
  readonly keep?: ReadonlySet<string>;
  readonly isTraced?: boolean;
  readonly breakage?: Breakage;
}

/** What came of it. */
export interface Simulated {
  readonly seed: number;
  readonly profile: ProfileName;
  readonly rates: Rates;
  readonly violations: readonly Violation[];
  readonly choices: readonly Choice[];
  readonly hash: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly lines: readonly string[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Longest that a call is held up, with what its process still does then. */
const heldUpMsMax = hourMs;

/** Plays one simulation to its end: a storm, then fair weather until nothing moves any more, then a look at what is left. */
export async function simulate(asked: Asked): Promise<Simulated> {
  const restore = withoutThreads();
  try {
    return await play(asked);
  } finally {
    restore();
  }
}

async function play(asked: Asked): Promise<Simulated> {
  const choices = createChoices(asked.seed, asked.keep);
  const { name, profile } = drawProfile(choices, asked.profile);
  const limits = drawLimits(choices, profile);
  const world = createWorld({ choices, profile, limits, isTraced: asked.isTraced ?? false, breakage: asked.breakage });
  if (limits !== defaultLimits) world.noteFault("tight-limits", "from the beginning");
  const workflows = generateWorkflows(choices);
  const programs = programsOf(workflows);
  const stormMs = Math.round(profile.stormMs * (0.1 + 0.9 * choices.random("storm").fraction()));
  world.builds = createRollout(
    createBuild(world, { name: "b1", definitions: workflows.first, without: [], isAhead: false }),
    world.timeline.nowMs,
  );
  world.plagues = planPlagues(world, stormMs);
  const functions = createFunctions(world);
  const clients = createClients(world);
  const people = createPeople(world, clients, (run, node) => {
    const def = programs.get(run.definitionHash)?.nodes[node]?.def;
    return def && { node: def.name, signal: def.kind === "signal" ? def.signal : undefined };
  });
  const watch = standWatch({ world, functions, people, programs });
  planDeploys(world, functions, workflows, stormMs);
  planOutages(world, functions, stormMs);
  playScenario(world, clients, people, stormMs);
  const stormEndMs = world.timeline.nowMs() + stormMs;
  await goOn(world, functions, stormEndMs, () => false);
  world.weather.isOver = true;
  world.weather.overAtMs = world.timeline.nowMs();
  world.trace(() => "the storm is over");
  const patienceMs = dayMs + patienceOf(workflows);
  const isOver = () => clients.pending === 0 && isQuiet(world);
  let nextSweepMs = stormEndMs;
  await goOn(world, functions, stormEndMs + patienceMs, () => {
    if (world.timeline.nowMs() >= nextSweepMs) {
      nextSweepMs = world.timeline.nowMs() + 60_000;
      watch.sweep();
    }
    return isOver();
  });
  if (!isOver())
    world.violate(
      4,
      `it came to no end within ${Math.round(patienceMs / hourMs)} h of fair weather: ${whatWaits(world, clients.pending)}`,
    );
  else {
    // whoever was held up in the storm, or was still at it, has come to, and to nothing
    const soonMs = world.timeline.nowMs() + 10 * 60_000;
    await goOn(world, functions, Math.max(soonMs, stormEndMs + heldUpMsMax + 2 * profile.skewMs), () => false);
    await watch.atEnd();
    const before = world.counts.get("changes");
    await goOn(world, functions, world.timeline.nowMs() + hourMs, () => false);
    if (world.counts.get("changes") !== before) world.violate(2, "something changed after everything had ended");
  }
  const { violations, lines, counts } = world;
  return {
    seed: asked.seed,
    profile: name,
    rates: profile.rates,
    violations,
    choices: choices.taken,
    hash: world.hash(),
    counts,
    lines,
  };
}

/** What a row's hash stands for. Slices are not among them: the engine derives them. */
function programsOf({ first, second }: Workflows): ReadonlyMap<string, Program> {
  return new Map(
    [...first, ...second].map((definition) => [hashOf(definition), programOf(definition, hashOf(definition))]),
  );
}

/** From one thing that happens to the next, the watchdog's minutes among them. */
async function goOn(world: World, functions: Functions, untilMs: number, isOver: () => boolean): Promise<void> {
  const { timeline } = world;
  for (let steps = 0; ; steps++) {
    const [nextAtMs, watchAtMs] = [
      timeline.nextAtMs() ?? Number.POSITIVE_INFINITY,
      functions.watchAtMs() ?? Number.POSITIVE_INFINITY,
    ];
    if (Math.min(nextAtMs, watchAtMs) > untilMs) return timeline.skipTo(untilMs);
    if (watchAtMs <= nextAtMs) {
      timeline.skipTo(watchAtMs);
      functions.watch();
      await timeline.settle();
    } else await timeline.step();
    world.counts.set("steps", (world.counts.get("steps") ?? 0) + 1);
    if (world.violations.length > 0 && world.violations.length >= 5) return;
    if (steps > 2_000_000) throw new Error("it does not end");
    if (steps % 16 === 0 && isOver()) return;
  }
}

/** No run is live or owes anything, no message is on its way. */
function isQuiet(world: World): boolean {
  for (const run of world.rows.values()) if (isLive(run) || !isSettled(run)) return false;
  return world.dueAtMs() === undefined && world.queue.names().every((name) => name === "dead");
}

function whatWaits(world: World, pending: number): string {
  const runs = [...world.rows.values()].filter((run) => isLive(run) || !isSettled(run)).map(describe);
  const messages = world.queue.messages().filter((each) => each.queue !== "dead");
  return `${runs.join("; ")}; ${messages.length} messages ${messages[0]?.body ?? ""}; ${pending} clients; due ${world.dueAtMs()}`;
}

const describe = (run: Run) =>
  `${run.runId} ${run.phase}${run.isPaused ? " paused" : ""}${run.isParked ? " parked" : ""} ${JSON.stringify(run.active.map(({ node, index, attempt, state }) => `${node}/${index}/${attempt} ${state}`))}`;

/** All that timers of these workflows may take, one after the other. */
function patienceOf({ first, second }: Workflows): number {
  const nodes = [...first, ...second].flatMap((definition) => definition.nodes);
  // a map of children with little concurrency goes through its items one after the other, each with all timers of a child
  const rounds = nodes.map((def) =>
    def.kind === "map" && def.body.kind === "child" ? Math.ceil(itemsMax / def.concurrency) : 1,
  );
  const waits = nodes.map((def) => {
    if (def.kind === "sleep") return def.forMs ?? 0;
    if (def.kind === "signal" || def.kind === "gate") return def.timeoutMs ?? 0;
    return def.kind === "external" ? def.completeWithinMs * 4 : 60_000;
  });
  return Math.max(4, ...rounds) * waits.reduce((sum, each) => sum + each, 0);
}

/**
 * A deploy that changes the graph, and takes handlers and signals away; then one that brings the handlers back, and keeps the signals.
 * Both are rolled out while runs go on.
 */
function planDeploys(world: World, functions: Functions, { first, second }: Workflows, stormMs: number): void {
  const { choices, timeline, profile } = world;
  const random = choices.random("deploys");
  const isDrawn = random.fraction() < profile.rates.deploy;
  const isAheadDrawn = random.fraction() < profile.rates["newer-format"];
  const [at, later, missing] = [
    random.fraction(),
    random.fraction(),
    random.pick([["work@1"], ["work@2", "big@1"], ["begin@1"], ["again@1", "slow@1"]]),
  ];
  if (!choices.takes("deploy", isDrawn)) return;
  const isAhead = choices.takes("newer format", isAheadDrawn);
  if (isAhead) world.noteFault("newer-format", "the next builds");
  const without = choices.takes("handlers removed", true) ? missing : [];
  const bring = (name: string, gone: readonly string[], keeping: Workflows["first"], atMs: number) =>
    timeline.at(timeline.nowMs() + atMs, () => {
      world.noteFault("deploy", name);
      world.builds.deploy(
        createBuild(world, { name, definitions: second, without: gone, keeping, isAhead }),
        10 * 60_000,
      );
      functions.deployed();
    });
  bring("b2", without, [], Math.round(stormMs * 0.5 * at));
  bring("b3", [], first, Math.round(stormMs * (0.5 + 0.4 * later)));
}

/** Limits of the engine, for some seeds so tight that it gives up early: branches that wide ones hardly ever reach. */
function drawLimits(choices: Choices, profile: Profile): Limits {
  const random = choices.random("limits");
  const isDrawn = random.chance(profile.rates["tight-limits"]);
  const [commitWindowsMs, tickInPlaceMax] = [random.pick([[0], [0, 20]]), random.pick([1, 4, 64])];
  if (!choices.takes("tight limits", isDrawn)) return defaultLimits;
  return { ...defaultLimits, commitWindowsMs, requeuesMax: 3, tickInPlaceMax };
}

/** Hours in which a function is not invoked. */
function planOutages(world: World, functions: Functions, stormMs: number): void {
  for (const role of ["watchdog", "coordinator", "worker"] as const satisfies readonly Role[]) {
    const random = world.choices.random(`outage ${role}`);
    const isDrawn = random.fraction() < world.profile.rates[`outage-${role}`];
    const [at, share] = [random.fraction(), random.fraction()];
    if (!world.choices.takes(`outage ${role}`, isDrawn)) continue;
    const beginMs = world.timeline.nowMs() + Math.round(stormMs * 0.6 * at);
    world.timeline.at(beginMs, () => {
      world.noteFault(`outage-${role}`, `for ${Math.round((stormMs * share) / 120_000)} min`);
      functions.stop(role, beginMs + Math.round(stormMs * share * 0.5));
    });
  }
}
