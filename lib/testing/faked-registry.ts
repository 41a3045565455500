import { createHandler } from "../authoring/handler.ts";
import { inside } from "../authoring/inside.ts";
import { type AnyWorkflow, createRegistry } from "../authoring/registry.ts";
import type { Json } from "../core/json.ts";
import type { Handler, Registry, StepContext } from "../core/registry.ts";
import type { Clock } from "../ports.ts";
import type { StepCall } from "./calls.ts";
import { childHandlerRef, fakedChild } from "./faked-child.ts";
import type { Fake, Fakes } from "./fakes.ts";
import { createJobs, type Job } from "./jobs.ts";
import type { Life } from "./mortal-engine.ts";
import { spanMs } from "./span.ts";

export interface FakedRegistry {
  /** The steps as one invocation calls them. */
  of(life: Life): Registry;
  readonly calls: readonly StepCall[];
  /** Everything that may be asked for by name: steps, their nodes, faked children. */
  readonly names: ReadonlySet<string>;
  /** Waits, in real time, for functions that neither sleep virtually nor hang. False: there was nothing to wait for. */
  idle(): Promise<boolean>;
  /** Whether a function sleeps in virtual time. */
  readonly isSleeping: boolean;
}

export interface FakedOptions {
  readonly workflow: AnyWorkflow;
  readonly steps: Fakes;
  readonly children: Fakes;
  readonly clock: () => Clock;
  readonly fromMs: () => number;
}

type Work = AnyWorkflow[typeof inside]["steps"][number];
type Writable = { -readonly [Name in keyof StepCall]: StepCall[Name] };

/**
 * What a workflow, its children and their steps are in a test: production's registry, in which fakes stand for functions and every
 * call is noted. Throws for a fake whose name nobody has, with the names that there are.
 */
export function createFakedRegistry(options: FakedOptions): FakedRegistry {
  const { workflow, clock, fromMs } = options;
  const production = createRegistry([workflow]);
  const family = familyOf(workflow);
  const works = new Map(family.flatMap((each) => each[inside].steps.map((work) => [work[inside].body.handler, work])));
  const nameOf = (ref: string) => works.get(ref)?.name ?? ref;
  assertNames(
    workflow.name,
    "step",
    options.steps,
    [...works].flatMap(([ref, work]) => [work.name, ref]),
  );
  assertNames(
    workflow.name,
    "child workflow",
    options.children,
    family.slice(1).map((each) => each.name),
  );
  const faked = new Map(
    family.filter((each) => options.children[each.name]).map((each) => [each.hash, fakedChild(each.name)]),
  );
  const names = new Set([
    ...[...works.values()].map((work) => work.name),
    ...family.flatMap(({ definition }) => definition.nodes.filter((def) => "handler" in def).map((def) => def.name)),
    ...Object.keys(options.children),
  ]);
  const calls: StepCall[] = [];
  const jobs = createJobs(clock);

  async function call(ref: string, life: Life, fake: Fake | undefined, heard: Heard): Promise<unknown> {
    const { raw, kept, context, real } = heard;
    const { node, index, attempt, idempotencyKey, token } = context;
    const atMs = clock().nowMs() - fromMs();
    const noted: Writable = {
      ...{ step: nameOf(ref), node, index, attempt, input: raw, idempotencyKey, token, atMs, result: "begun" },
    };
    calls.push(noted);
    const run = async (job: Job): Promise<unknown> => {
      if (!fake) return real();
      return (fake as Fake<unknown>)(kept, context, {
        real: async () => real(),
        sleep: (duration) => job.pause(clock().sleep(spanMs(duration))),
        hang: job.abandon,
        die: () => {
          noted.result = "died";
          void life.die();
          return job.abandon();
        },
      });
    };
    try {
      const output = await jobs.run(run);
      noted.result = life.isDead ? "died" : "returned";
      return output;
    } catch (error) {
      noted.result = "threw";
      throw error;
    }
  }

  function stepHandler(ref: string, work: Work, life: Life): Handler {
    const fake = options.steps[ref] ?? options.steps[work.name];
    const standIn = (raw: Json) =>
      createHandler({
        ...work,
        [inside]: {
          ...work[inside],
          handler: (kept: unknown, context: StepContext) =>
            call(ref, life, fake, { raw, kept, context, real: () => work[inside].handler(kept, context) }),
        },
      } as Work);
    return { ...createHandler(work), prepare: (raw) => standIn(raw).prepare(raw) };
  }

  function childHandler(ref: string, name: string, life: Life): Handler {
    const real = () => {
      throw new Error(`child workflow "${name}" is faked: there is no function behind it`);
    };
    return {
      ref,
      prepare: async (raw) => async (context) =>
        ((await call(name, life, options.children[name], { raw, kept: raw, context, real })) ?? null) as Json,
      parseOutput: async (raw) => raw as Json,
    };
  }

  return {
    calls,
    names,
    idle: jobs.idle,
    get isSleeping() {
      return jobs.isSleeping;
    },
    of: (life) => ({
      ...production,
      byHash(hash) {
        const registered = production.byHash(hash);
        const definition = faked.get(hash);
        return registered && definition ? { ...registered, definition } : registered;
      },
      handler(ref) {
        const work = works.get(ref);
        if (work) return stepHandler(ref, work, life);
        const child = Object.keys(options.children).find((name) => childHandlerRef(name) === ref);
        return child === undefined ? production.handler(ref) : childHandler(ref, child, life);
      },
    }),
  };
}

interface Heard {
  readonly raw: Json;
  readonly kept: unknown;
  readonly context: StepContext;
  readonly real: () => unknown;
}

/** A workflow and everything that it starts, itself first. */
function familyOf(workflow: AnyWorkflow): readonly AnyWorkflow[] {
  const family = new Set([workflow]);
  for (const each of family) for (const child of each[inside].children) family.add(child);
  return [...family];
}

function assertNames(workflow: string, what: string, fakes: Fakes, known: readonly string[]): void {
  const wrong = Object.keys(fakes).filter((name) => !known.includes(name));
  if (wrong.length === 0) return;
  const names = [...new Set(known.filter((name) => !name.includes("@")))];
  const there = names.length > 0 ? `there ${names.length === 1 ? "is" : "are"} ${names.join(", ")}` : "there is none";
  throw new Error(`workflow "${workflow}" has no ${what} ${wrong.map((name) => `"${name}"`).join(", ")}: ${there}`);
}
