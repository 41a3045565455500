import type { Duration } from "../authoring/duration.ts";
import type { AnyWorkflow } from "../authoring/registry.ts";
import type { Workflow } from "../authoring/workflow.ts";
import type { Json } from "../core/json.ts";
import type { Tier } from "../core/run.ts";
import { childRunId } from "../engine/child-id.ts";
import type { Engine, RunRef } from "../engine/engine.ts";
import { findRun, readResult } from "../engine/inspect.ts";
import { start } from "../engine/start.ts";
import { type Repeated, repeatedOf, type StepCall } from "./calls.ts";
import { createFakedRegistry, type FakedRegistry } from "./faked-registry.ts";
import type { Fakes } from "./fakes.ts";
import { drawDeath, mortalEngine } from "./mortal-engine.ts";
import { createRunHandle } from "./run-handle.ts";
import type { RunHandle } from "./run-surface.ts";
import { spanMs } from "./span.ts";
import { createVirtualDriver } from "./virtual-driver.ts";
import { createWorld, type World } from "./world.ts";

/** What a test gives, and how unruly the world may be. */
export interface TestOptions<In> {
  readonly input: In;
  /** Fakes of steps and externals by name; what has none runs as it is. */
  readonly steps?: Fakes;
  /** Fakes of whole child runs by the child workflow's name; what has none runs as it is. */
  readonly children?: Fakes;
  /** `run` unless given. */
  readonly runId?: string;
  readonly tenant?: string;
  readonly tier?: Tier;
  readonly deadline?: Duration;
  /** When virtual time begins, as ISO text; 2027-01-15T08:00Z unless given. */
  readonly startAt?: string;
  /** Repeats every chance of this run: order, losses, crashes, jitter. */
  readonly seed?: number | string;
  /** Messages come in any order. */
  readonly shuffle?: boolean;
  /** The share of messages that come twice; `true` is a fifth. */
  readonly duplicate?: boolean | number;
  /** The share of messages that are lost; `true` is a tenth. They are found again when something is due. */
  readonly lose?: boolean | number;
  /**
   * The share of invocations that die at one of their writes; `true` is a fifth. A worker that dies burns a try of its step, after the
   * function did what it does: the next attempt has the same idempotency key.
   */
  readonly crash?: boolean | number;
}

/** A run in memory and in virtual time. */
export interface TestRun<Out = unknown> extends RunHandle<Out> {
  /** Lets so much virtual time pass. */
  advance(duration: Duration): Promise<void>;
  /** Calls of a step's function, real or faked, in order; by the name of the step, of its node, or of a faked child workflow. */
  calls(name: string): readonly StepCall<Json>[];
  /** The run that a node has started (of a map: that item's), to do the same to. Throws if it has started none. */
  child(node: string, index?: number): Promise<TestRun>;
  /** What may have happened twice, because a worker died after it or two had the same message. */
  readonly repeated: readonly Repeated[];
  /** The installation around the run, for what this surface does not show. */
  readonly world: World;
}

/**
 * Starts a run of a workflow on the production engine, with memory instead of AWS and a clock that only the test moves. After each
 * call the run has gone as far as it can without time passing. Throws the `Fault`s of a start, and an `Error` for a fake whose name
 * nobody has.
 */
export async function testWorkflow<In, Out>(
  workflow: Workflow<In, Out>,
  options: TestOptions<In>,
): Promise<TestRun<Out>> {
  const tested = workflow as AnyWorkflow;
  let world: World | undefined;
  let fromMs = 0;
  const registry = createFakedRegistry({
    workflow: tested,
    steps: options.steps ?? {},
    children: options.children ?? {},
    clock: () => world!.clock,
    fromMs: () => fromMs,
  });
  world = worldOf(options, registry);
  fromMs = world.clock.nowMs();
  // nobody looks definitions up who has the code, so they need not be stored
  for (const each of definitionsOf(tested)) world.engine.stored.add(each);
  const outside: Engine = { ...world.engine, store: world.store };
  const ref = { tenant: options.tenant ?? "default", runId: options.runId ?? "run" };
  const installed: Installed = { world, registry, outside, tested };
  const driver = createVirtualDriver({ world, registry, ref });
  await driver.during(
    start(outside, {
      ...ref,
      workflow: workflow.name,
      input: options.input,
      ...(options.tier && { tier: options.tier }),
      ...(options.deadline !== undefined && { deadlineMs: spanMs(options.deadline) }),
    }),
  );
  return testRun<Out>(installed, ref);
}

/** What the runs of a test have in common. */
interface Installed {
  readonly world: World;
  readonly registry: FakedRegistry;
  readonly outside: Engine;
  readonly tested: AnyWorkflow;
}

async function testRun<Out>(installed: Installed, ref: RunRef): Promise<TestRun<Out>> {
  const { world, registry, outside, tested } = installed;
  const driver = createVirtualDriver({ world, registry, ref });
  await driver.settle();
  const handle = await createRunHandle<Out>(outside, ref, driver);
  return Object.defineProperties({} as TestRun<Out>, {
    ...Object.getOwnPropertyDescriptors(handle),
    ...Object.getOwnPropertyDescriptors({
      async advance(duration: Duration) {
        await driver.advance(spanMs(duration));
        await handle.refresh();
      },
      calls: (name: string) => callsOf(registry, tested, name),
      child: async (node: string, index = 0) =>
        testRun(installed, await driver.during(childOf(outside, ref, node, index))),
      get repeated() {
        return repeatedOf(registry.calls);
      },
      world,
    }),
  });
}

async function childOf(engine: Engine, ref: RunRef, node: string, index: number): Promise<RunRef> {
  const { run, program } = await readResult(engine, ref);
  const position = program.nodes.findIndex(({ def }) => def.name === node);
  const child = { tenant: ref.tenant, runId: childRunId(run, { node: position, index, attempt: 1 }) };
  if (position >= 0 && (await findRun(engine, child))) return child;
  throw new Error(`run "${ref.runId}" has started no run by ${node}, item ${index}`);
}

function worldOf(options: TestOptions<unknown>, registry: FakedRegistry): World {
  const share = (given: boolean | number | undefined, usual: number) =>
    given === true ? usual : given === false ? 0 : (given ?? 0);
  const [lose, duplicate, crash] = [share(options.lose, 0.1), share(options.duplicate, 0.2), share(options.crash, 0.2)];
  const immortal = registry.of({ isDead: false, die: () => new Promise(() => {}) });
  const world = createWorld({
    registry: immortal,
    seed: options.seed ?? 1,
    isWatchdogLazy: true,
    ...(options.startAt !== undefined && { startMs: Date.parse(options.startAt) }),
    ...(options.shuffle && { isShuffled: true }),
    ...(lose > 0 && { lossRate: lose }),
    ...(duplicate > 0 && { duplicateRate: duplicate }),
    invocation: (engine, batch) => {
      // who was killed twice is left alone: a message that kills every time is evidence against its run
      const mayDie = crash > 0 && batch.every(({ receiveCount }) => receiveCount <= 2);
      return mortalEngine(engine, mayDie ? drawDeath(chances, crash) : undefined, registry.of);
    },
  });
  const chances = world.random.fork("crashes");
  return world;
}

function definitionsOf(workflow: AnyWorkflow): readonly string[] {
  const hashes = new Set<string>();
  const add = (definition: AnyWorkflow["definition"], hash: string) => {
    hashes.add(hash);
    for (const node of definition.nodes) {
      const body = node.kind === "map" ? node.body : node;
      if (body.kind === "child") hashes.add(body.definition);
    }
  };
  add(workflow.definition, workflow.hash);
  return [...hashes];
}

function callsOf(registry: FakedRegistry, workflow: AnyWorkflow, name: string): readonly StepCall<Json>[] {
  const found = registry.calls.filter((call) => call.step === name || call.node === name);
  if (found.length > 0 || registry.names.has(name)) return found;
  throw new Error(
    `workflow "${workflow.name}" calls nothing that is named "${name}": it calls ${[...registry.names].join(", ")}`,
  );
}
