import type { Definition } from "../../lib/core/definition.ts";
import type { CommandKind } from "../../lib/core/inputs.ts";
import type { Json } from "../../lib/core/json.ts";
import { purge } from "../../lib/engine/purge.ts";
import { start } from "../../lib/engine/start.ts";
import type { Choices } from "./choices.ts";
import type { Clients } from "./clients.ts";
import { generateInput, generateWorkflow } from "./generator.ts";
import type { People } from "./people.ts";
import type { World } from "./world.ts";

/** The workflows of a simulation: what two builds make of each name, children first. */
export interface Workflows {
  readonly first: readonly Definition[];
  readonly second: readonly Definition[];
}

export function generateWorkflows(choices: Choices): Workflows {
  const random = choices.random("workflows");
  const [kidSize, middleSize] = [1 + random.integer(3), 1 + random.integer(4)];
  const size = random.chance(0.04) ? 70 : 1 + random.integer(11);
  const kid = generateWorkflow(choices, "kid", kidSize, []);
  const middle = generateWorkflow(choices, "middle", middleSize, [kid]);
  const top = generateWorkflow(choices, "top", size, [kid, middle]);
  // the next build has another graph under the same name
  const other = { ...generateWorkflow(choices, "next", 1 + random.integer(6), [kid]), workflow: "top" };
  return { first: [kid, middle, top], second: [kid, middle, withOwnName(other)] };
}

/** A workflow that starts itself names itself. */
const withOwnName = (definition: Definition): Definition =>
  JSON.parse(JSON.stringify(definition).replaceAll('"workflow":"next"', '"workflow":"top"')) as Definition;

/** A start that somebody made. */
export interface StartedRun {
  readonly runId: string;
  readonly input: Json;
  runUid: string | undefined;
}

/** What is done to runs from outside, in the storm's time: starts, early signals, commands, purges, and what is no message at all. */
export function playScenario(world: World, clients: Clients, people: People, stormMs: number): readonly StartedRun[] {
  const { choices } = world;
  const started: StartedRun[] = [];
  const count = 1 + choices.random("runs").integer(2);
  for (let at = 0; at < count; at++) {
    const runId = `r${at}`;
    if (at > 0 && !choices.takes(`run ${runId}`, true)) continue;
    const random = choices.random(`scenario ${runId}`);
    clients.later(Math.round(random.fraction() * stormMs * 0.3), () => live(runId));
  }
  for (const junk of ["", "{", '{"runId":"r0"}', '{"format":1,"runId":"nobody","hints":["mail"]}', "[]"]) {
    const random = choices.random(`junk ${junk}`);
    if (!choices.takes(`junk ${junk}`, random.chance(0.1)) || junk === "") continue;
    const message = {
      queue: random.pick(["wake:standard", "task:default", "watch"]),
      body: junk,
      group: "default",
      taskKey: "hand",
    };
    clients.later(Math.round(random.fraction() * stormMs), async () => {
      const sent = await clients.insist(`junk ${junk}`, ({ queue }) => queue.send([message]));
      world.count(`junk ${sent.kind}`);
    });
  }

  async function live(runId: string): Promise<void> {
    const random = choices.random(`life ${runId}`);
    const [isTwice, pauseMs] = [random.chance(0.15), random.integer(3_600_000)];
    await oneLife(runId, 1);
    if (!choices.takes(`purge ${runId}`, isTwice)) return;
    for (;;) {
      await world.timeline.sleep(60_000 + pauseMs);
      const answer = await clients.insist(`purge ${runId}`, (engine) => purge(engine, { tenant: "default", runId }));
      const isLive = answer.kind === "fault" && answer.fault.code === "run-live";
      if (!isLive) break;
    }
    world.count("purges");
    await oneLife(runId, 2);
  }

  async function oneLife(runId: string, number: number): Promise<void> {
    const random = choices.random(`life ${runId} ${number}`);
    const input = generateInput(random);
    const run: StartedRun = { runId, input, runUid: undefined };
    started.push(run);
    const tier = random.pick(["standard", "standard", "interactive", "bulk"] as const);
    const deadlineMs = drawDeadline(runId, number);
    const answer = await clients.insist(`start ${runId} ${number}`, (engine) =>
      start(engine, { workflow: "top", runId, input, tier, ...(deadlineMs !== undefined && { deadlineMs }) }),
    );
    if (answer.kind !== "ok")
      return world.violate(
        5,
        `start of ${runId} was answered ${answer.kind === "fault" ? answer.fault.code : "never"}`,
      );
    run.runUid = answer.value.runUid;
    for (const name of ["s0", "s1"]) {
      const [isDrawn, afterMs] = [random.chance(0.4), Math.round(random.fraction() * stormMs * 0.3)];
      if (!choices.takes(`early ${name} ${runId} ${number}`, isDrawn)) continue;
      clients.later(afterMs, () => people.signal(answer.value.run, name, `early-${name}-${runId}-${number}`));
    }
    const isFlood = random.chance(0.06);
    const floodMs = Math.round(random.fraction() * stormMs * 0.2);
    if (choices.takes(`flood ${runId} ${number}`, isFlood))
      for (let at = 0; at < 40; at++)
        clients.later(floodMs + at * 20, () => people.signal(answer.value.run, "s1", `flood-${at}-${runId}-${number}`));
    if (number === 1) operate(runId, random.chance(0.4), random.pick(operations), random.fraction());
  }

  /** Minutes or hours, where a run may be meant to take longer. */
  function drawDeadline(runId: string, number: number): number | undefined {
    const random = choices.random(`deadline ${runId} ${number}`);
    const [isDrawn, magnitude] = [random.chance(0.08), random.fraction()];
    if (!choices.takes(`deadline ${runId} ${number}`, isDrawn)) return undefined;
    const deadlineMs = Math.round(60_000 * 600 ** magnitude);
    people.record.deadlines.set(runId, deadlineMs);
    return deadlineMs;
  }

  function operate(runId: string, isDrawn: boolean, kinds: readonly CommandKind[], at: number): void {
    if (!choices.takes(`operator ${runId}: ${kinds.join(", ")}`, isDrawn)) return;
    clients.later(Math.round(at * stormMs * 0.2), async () => {
      for (const [order, kind] of kinds.entries()) {
        await people.command(runId, kind, `${kind}-${order}`);
        await world.timeline.sleep(Math.round(at * 20 * 60_000));
      }
    });
  }
  return started;
}

const operations: readonly (readonly CommandKind[])[] = [
  ["cancel"],
  ["terminate"],
  ["pause", "resume"],
  ["pause", "resume", "pause", "resume"],
  ["pause", "cancel"],
  ["pause", "resume", "cancel"],
  ["cancel", "terminate"],
];
