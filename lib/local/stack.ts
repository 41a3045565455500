import { join } from "node:path";
import { createSqsClient } from "../aws/clients.ts";
import { queueUrl } from "../aws/names.ts";
import { type FunctionRole, type Source, sourcesOf, wiring } from "../aws/wiring.ts";
import type { Tier } from "../core/queue-names.ts";
import { credentials, region } from "./endpoint.ts";
import { createMeterBook, type StackMeters } from "./meters.ts";
import { type BatchFunction, type Poller, type PollerNotice, startPoller } from "./poller.ts";
import { startResources, type Wired } from "./resources.ts";
import { type Schedule, type ScheduledFunction, startSchedule } from "./schedule.ts";
import { lockFolder } from "./state-lock.ts";

/** The functions as they would be deployed. `workers` has one per group. */
export interface StackFunctions {
  readonly coordinator: BatchFunction;
  readonly workers: Readonly<Record<string, BatchFunction>>;
  readonly watchdog: ScheduledFunction;
  readonly deadTasks: BatchFunction;
}

export interface StackOptions {
  /** Called once the servers stand, before the first message is taken. */
  readonly functions: (wired: Wired) => StackFunctions | Promise<StackFunctions>;
  /** Worker groups; `default` unless given. */
  readonly groups?: readonly string[];
  /** `standard` unless given. */
  readonly tiers?: readonly Tier[];
  /** Where everything is kept between runs. Absent: in memory, gone at the end. One stack at a time may use a folder. */
  readonly dataFolder?: string;
  /** 0 or absent: any free port. */
  readonly ports?: { readonly dynamodb?: number; readonly sqs?: number };
  /** Start of the names of the table, the bucket and the queues; `tickwright` unless given. */
  readonly prefix?: string;
  readonly scale?: StackScale;
  readonly onNotice?: (notice: StackNotice) => void;
}

/** What a developer's machine may want otherwise than AWS. */
export interface StackScale {
  /** Time-out of every function; 20 s unless given. */
  readonly timeoutMs?: number;
  /** For how long a received message is hidden: what a crash or a hand-back costs. Not under the time-out. 30 s unless given. */
  readonly visibilityS?: number;
  readonly maxReceiveCount?: number;
  /** Invocations at once per source; 10 unless given. */
  readonly maxConcurrency?: number;
  /** How often the watchdog looks; 5 s unless given (deployed: a minute). */
  readonly watchIntervalMs?: number;
}

/** Anything that went wrong around a function. Nothing is lost by it. */
export type StackNotice =
  | PollerNotice
  | { readonly kind: "schedule"; readonly functionName: string; readonly error: unknown };

export interface Stack extends Wired {
  /** URL of a queue by its logical name. */
  queueUrl(queue: string): string;
  meters(): StackMeters;
  /** Messages in a queue by its logical name: ready, received and not yet deleted, delayed. */
  depth(queue: string): { readonly ready: number; readonly inFlight: number; readonly delayed: number };
  /** Calls the watchdog now. */
  watch(): Promise<void>;
  /**
   * Waits until no consumed queue holds a message that is ready or in flight, delayed ones not counted, and nothing runs. False: not
   * within the time given.
   */
  drain(timeoutMs?: number): Promise<boolean>;
  /** Takes no more messages, finishes what runs, and closes everything. What was not done stays in the data folder. */
  stop(): Promise<void>;
}

/**
 * The whole installation in one process, on loopback: DynamoDB, SQS and S3 over their wire protocols, and the functions behind pollers
 * that behave like Lambda's event source mappings.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dataFolder, scale = {}, onNotice = () => undefined } = options;
  const lock = dataFolder === undefined ? undefined : lockFolder(dataFolder);
  const book = createMeterBook();
  const sources = sourcesOf({ groups: options.groups ?? ["default"], tiers: options.tiers ?? ["standard"] });
  const resources = await startResources({
    folders:
      dataFolder === undefined ? undefined : { dynamodb: join(dataFolder, "dynamodb"), sqs: join(dataFolder, "sqs") },
    ports: { dynamodb: options.ports?.dynamodb ?? 0, sqs: options.ports?.sqs ?? 0 },
    prefix: options.prefix ?? "tickwright",
    queues: sources.map(({ queue }) => queue),
    visibilitySeconds: scale.visibilityS ?? 30,
    maxReceiveCount: scale.maxReceiveCount ?? wiring.maxReceiveCount,
    book,
  }).catch((error) => {
    lock?.release();
    throw error;
  });
  const { wired, sqs } = resources;
  // A client of its own: a long poll outlasts the time-out of everything else.
  const polling = createSqsClient({ endpoint: wired.endpoints.sqs, region, credentials, requestTimeoutMs: 30_000 });
  const timeoutMs = scale.timeoutMs ?? 20_000;
  const pollers: Poller[] = [];
  let schedule: Schedule | undefined;

  const stop = async (): Promise<void> => {
    const stopping = Promise.all([schedule?.stop(), ...pollers.map((poller) => poller.stop())]);
    // Again and again: a poll may have been on its way to the server.
    const releasing = setInterval(() => sqs.releasePolls(), 20);
    await stopping;
    clearInterval(releasing);
    polling.destroy();
    await resources.stop();
    lock?.release();
  };

  try {
    const functions = await options.functions(wired);
    for (const source of sources) {
      const mapping = {
        queueUrl: queueUrl(wired.queueBase, source.queue),
        functionName: source.consumer,
        run: metered(functionOf(functions, source), () => book.invoked(source.consumer)),
        timeoutMs,
        batchSize: source.batchSize,
        maxConcurrency: scale.maxConcurrency ?? 10,
      };
      pollers.push(await startPoller(polling, mapping, onNotice));
    }
    schedule = startSchedule({
      functionName: "watchdog",
      run: functions.watchdog,
      timeoutMs,
      intervalMs: scale.watchIntervalMs ?? 5_000,
      onFailure: (failure) => onNotice({ kind: "schedule", ...failure }),
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const { callNow } = schedule;

  const isIdle = (): boolean =>
    pollers.every((poller) => poller.busy() === 0) &&
    sources.every(({ queue }) => {
      const { ready, inFlight } = resources.depth(queue);
      return ready === 0 && inFlight === 0;
    });
  return {
    ...wired,
    queueUrl: (queue) => queueUrl(wired.queueBase, queue),
    meters: book.read,
    depth: resources.depth,
    watch: callNow,
    drain: async (drainMs = 60_000) => {
      const endsAtMs = performance.now() + drainMs;
      while (!isIdle()) {
        if (performance.now() > endsAtMs) return false;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return true;
    },
    stop,
  };
}

function functionOf(functions: StackFunctions, { consumer, queue }: Source): BatchFunction {
  const found = consumer === "coordinator" ? functions.coordinator : workerOrDead(functions, consumer);
  if (found === undefined) throw new Error(`No function takes from the queue ${queue}: ${consumer} is missing.`);
  return found;
}

function workerOrDead({ workers, deadTasks }: StackFunctions, consumer: FunctionRole): BatchFunction | undefined {
  return consumer === "dead-tasks" ? deadTasks : workers[consumer.slice("worker:".length)];
}

function metered(run: BatchFunction, count: () => void): BatchFunction {
  return (event, context) => {
    count();
    return run(event, context);
  };
}
