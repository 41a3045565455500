import { defaultLimits, type Limits } from "../core/limits.ts";
import type { Registry } from "../core/registry.ts";
import { bury } from "../engine/bury.ts";
import { coordinate } from "../engine/coordinate.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import { queues } from "../engine/messages.ts";
import { watch } from "../engine/watch.ts";
import { work } from "../engine/work.ts";
import { zipsUnderWay } from "../engine/zip.ts";
import type { HandedBack, Remaining } from "../ports/received.ts";
import type { PayloadStore, RunStore } from "../ports.ts";
import type { Hooks } from "./fault-hooks.ts";
import { createMemoryEvents, type EventsCall, type MemoryEvents } from "./memory-events.ts";
import { createMemoryPayloads } from "./memory-payloads.ts";
import { createMemoryQueue, type Delivery, type MemoryQueue, type QueueCall } from "./memory-queue.ts";
import { createMemoryStore, type MemoryStore, type StoreCall } from "./memory-store.ts";
import { createRecordingLog, createRecordingMetrics, type RecordingLog, type RecordingMetrics } from "./recording.ts";
import { createSeededRandom, type SeededRandom } from "./seeded-random.ts";
import { createUnitModel, type UnitModel } from "./unit-model.ts";
import { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";
import { watchDues } from "./watch-dues.ts";

/** What a world is made of, and how unruly it is. */
export interface WorldOptions {
  readonly registry: Registry;
  readonly seed?: number | string;
  readonly limits?: Partial<Limits>;
  readonly build?: string;
  readonly batchSize?: number;
  /** How long one invocation of a function may take. */
  readonly functionMs?: number;
  readonly visibilityMs?: number;
  readonly maxReceiveCount?: number;
  /** With them, messages come in any order, twice, or not at all. */
  readonly isShuffled?: boolean;
  readonly lossRate?: number;
  readonly duplicateRate?: number;
  readonly hasWatchdog?: boolean;
  /** How often the watchdog looks; a minute unless given. Weeks go by faster with less. */
  readonly watchEveryMs?: number;
  readonly storeHooks?: Hooks<StoreCall>;
  readonly queueHooks?: Hooks<QueueCall>;
  /** It publishes what happens to runs; off unless given. */
  readonly isPublishing?: boolean;
  readonly eventHooks?: Hooks<EventsCall>;
  readonly payloads?: PayloadStore;
  /** Stands between the engine and the memory store. */
  readonly store?: (inner: MemoryStore) => RunStore;
  /** Where virtual time begins, in epoch milliseconds. */
  readonly startMs?: number;
  /** The engine as one invocation has it: so that one can die while its neighbours live on. */
  readonly invocation?: (engine: Engine, batch: readonly Delivery[]) => Engine;
  /** The watchdog looks only when something may be due: the same outcome, and months pass in a moment. */
  readonly isWatchdogLazy?: boolean;
}

/** A whole installation in memory, in virtual time: the production engine on memory adapters, its functions invoked in batches. */
export interface World {
  readonly engine: Engine;
  readonly store: MemoryStore;
  readonly units: UnitModel;
  readonly queue: MemoryQueue;
  readonly events: MemoryEvents;
  readonly clock: VirtualClock;
  readonly metrics: RecordingMetrics;
  readonly log: RecordingLog;
  readonly random: SeededRandom;
  /** What functions threw: they never should. */
  readonly thrown: readonly unknown[];
  /** Messages that functions handed back. */
  readonly handedBack: number;
  /** Delivers what is visible, concurrently, and lets it run as far as it goes without time passing. Gives how many there were. */
  deliver(): Promise<number>;
  /** One delivery; or, with nothing to deliver, on to the next instant at which something happens, at most to this one. */
  step(limitMs: number): Promise<void>;
  /** Goes on, from instant to instant, until the condition holds; throws after `maxMs` of virtual time. */
  until(condition: () => boolean | Promise<boolean>, maxMs?: number): Promise<void>;
  /** Goes on for so long. */
  advance(byMs: number): Promise<void>;
  /** A process with another build, or other limits, on the same store and queues. */
  withEngine(parts: Partial<Engine>): void;
}

const minuteMs = 60_000;

/** An installation in memory: nothing happens until time is let go on. The same seed gives the same run of events. */
export function createWorld(options: WorldOptions): World {
  const random = createSeededRandom(options.seed ?? 1);
  const clock = createVirtualClock(options.startMs);
  const functionMs = options.functionMs ?? 900_000;
  const store = createMemoryStore({
    nowMs: () => clock.nowMs(),
    ...(options.storeHooks && { hooks: options.storeHooks }),
  });
  const isUnruly = options.isShuffled || options.lossRate !== undefined || options.duplicateRate !== undefined;
  const queue = createMemoryQueue({
    clock,
    visibilityMs: options.visibilityMs ?? functionMs * 6,
    maxReceiveCount: options.maxReceiveCount ?? 5,
    ...(isUnruly && { random: random.fork("queue") }),
    ...(options.lossRate !== undefined && { lossRate: options.lossRate }),
    ...(options.duplicateRate !== undefined && { duplicateRate: options.duplicateRate }),
    ...(options.queueHooks && { hooks: options.queueHooks }),
  });
  const events = createMemoryEvents(options.eventHooks);
  const units = createUnitModel(options.store ? options.store(store) : store);
  const metrics = createRecordingMetrics();
  const log = createRecordingLog();
  let engine = createEngine({
    store: units,
    queue,
    payloads: options.payloads ?? createMemoryPayloads(),
    events: options.isPublishing ? events : undefined,
    clock,
    random: random.fork("engine"),
    log,
    metrics,
    registry: options.registry,
    limits: { ...defaultLimits, ...options.limits },
    build: options.build ?? "build-1",
  });
  const thrown: unknown[] = [];
  let handedBack = 0;
  const watchEveryMs = options.watchEveryMs ?? minuteMs;
  let nextWatchAtMs = clock.nowMs() + watchEveryMs;
  let isNewBuild = true;
  const dues = options.isWatchdogLazy ? watchDues(store) : undefined;

  /** The next minute at which the watchdog would find something. */
  function watchAtMs(): number | undefined {
    if (options.hasWatchdog === false) return undefined;
    if (!dues || isNewBuild) return nextWatchAtMs;
    const dueAtMs = dues();
    return dueAtMs === undefined ? undefined : Math.max(nextWatchAtMs, Math.ceil(dueAtMs / minuteMs) * minuteMs);
  }

  const alive = (batch: readonly Delivery[]) => options.invocation?.(engine, batch) ?? engine;

  function functionOf(
    name: string,
  ): ((batch: readonly Delivery[], remaining: Remaining) => Promise<HandedBack>) | undefined {
    if (name === queues.dead) return undefined;
    if (name === queues.deadTask) return (batch, remaining) => bury(alive(batch), batch, remaining);
    if (name.startsWith("task:"))
      return (batch, remaining) => work(alive(batch), name.slice("task:".length), batch, remaining);
    return (batch, remaining) => coordinate(alive(batch), batch, remaining, name);
  }

  function invoke(batch: readonly Delivery[], consume: NonNullable<ReturnType<typeof functionOf>>): void {
    const endAtMs = clock.nowMs() + functionMs;
    const acknowledge = (back: HandedBack) => {
      for (const delivery of batch) {
        if (back.includes(delivery.id)) handedBack += 1;
        else queue.ack(delivery);
      }
    };
    consume(batch, () => endAtMs - clock.nowMs()).then(acknowledge, (error: unknown) => void thrown.push(error));
  }

  async function deliver(): Promise<number> {
    let count = 0;
    for (const name of queue.names()) {
      const consume = functionOf(name);
      if (!consume) continue;
      const batchSize = name === queues.watch || name.startsWith("task:") ? 1 : (options.batchSize ?? 10);
      for (let batch = queue.receive(name, batchSize); batch.length > 0; batch = queue.receive(name, batchSize)) {
        count += batch.length;
        invoke(batch, consume);
      }
    }
    await settle();
    return count;
  }

  /** Lets everything run that can without virtual time passing, also what takes real time. */
  async function settle(): Promise<void> {
    await clock.settle();
    while (zipsUnderWay.size > 0) {
      await Promise.allSettled(zipsUnderWay);
      await clock.settle();
    }
  }

  async function step(limitMs: number): Promise<void> {
    if ((await deliver()) > 0) return;
    const next = [queue.nextVisibleAtMs(), clock.nextWakeAtMs(), watchAtMs()];
    const atMs = Math.min(limitMs, ...next.filter((each) => each !== undefined));
    await clock.advance(Math.max(0, atMs - clock.nowMs()));
    if (clock.nowMs() < (watchAtMs() ?? Number.POSITIVE_INFINITY)) return;
    nextWatchAtMs = clock.nowMs() + watchEveryMs;
    isNewBuild = false;
    watch(engine, () => minuteMs).catch((error: unknown) => void thrown.push(error));
    await settle();
  }

  return {
    get engine() {
      return engine;
    },
    get handedBack() {
      return handedBack;
    },
    store,
    units,
    queue,
    events,
    clock,
    metrics,
    log,
    random,
    thrown,
    deliver,
    step,
    async until(condition, maxMs = 90 * 86_400_000) {
      const limitMs = clock.nowMs() + maxMs;
      while (!(await condition())) {
        if (clock.nowMs() >= limitMs) throw new Error(`still not so after ${maxMs} ms of virtual time`);
        await step(limitMs);
      }
    },
    async advance(byMs) {
      const limitMs = clock.nowMs() + byMs;
      while (clock.nowMs() < limitMs) await step(limitMs);
      await deliver();
    },
    withEngine(parts) {
      engine = { ...engine, programs: new Map(), stored: new Set(), ...parts };
      isNewBuild = true;
    },
  };
}
