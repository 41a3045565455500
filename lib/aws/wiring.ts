import { deadTaskQueue, type QueueName, type Tier, taskQueue, wakeQueue, watchQueue } from "../core/queue-names.ts";

/**
 * The functions of an installation; there is a worker per group. `dead-tasks` runs the watchdog's code too, as a function of its own: the
 * schedule's is reserved a concurrency of one, so that two sweeps never run at once, and a mapping must not have less than it may use (L6).
 */
export type FunctionRole = "coordinator" | "watchdog" | "dead-tasks" | `worker:${string}`;

/** Which function takes from which queue, and how many messages at once. */
export interface Source {
  readonly queue: QueueName;
  readonly consumer: FunctionRole;
  /** Messages per invocation. Watchdog wake-ups and tasks come alone: one that kills its function kills no neighbour. */
  readonly batchSize: number;
}

/**
 * What the infrastructure code and the embedded stack both build: queues, their consumers, and the periods that AWS's rules tie
 * together. Sources: "Using Lambda with Amazon SQS" (visibility of six time-outs, at least five receives), "Setting up dead-letter
 * queue retention" (the original time of sending counts).
 */
export const wiring = {
  /** The queue hides a received message for this many time-outs of its function. */
  visibilityTimeouts: 6,
  /**
   * Receives before a message is given up. More than it takes to collect strikes against a run (a first receive counts none), so that a
   * run is judged before its message is lost; throttles raise the count too.
   */
  maxReceiveCount: 8,
  retentionDays: 4,
  deadRetentionDays: 14,
  batchSize: 10,
  /** A worker's is the least: it grows with the longest step of its group. */
  timeoutS: { coordinator: 30, worker: 60, watchdog: 55, deadTasks: 30 },
  /** Below the 30 s after which an HTTP API gives up on a function. */
  apiTimeoutS: 20,
  /** What a worker's time-out is longer than its longest step: to load, claim, record and tick, with some to spare. */
  workerMarginS: 10,
  /** Invocations at once per source; AWS takes 2 to 1000. */
  maxConcurrency: { coordinator: 50, worker: 50, deadTasks: 2 },
  /** Reserved for the watchdog, whose only source is the schedule. */
  watchdogConcurrency: 1,
  watchIntervalMs: 60_000,
} as const;

/** The worker function of a group. */
export function workerOf(group: string): FunctionRole {
  return `worker:${group}`;
}

/** Every event source of an installation. */
export function sourcesOf({
  groups,
  tiers,
}: {
  readonly groups: readonly string[];
  readonly tiers: readonly Tier[];
}): Source[] {
  return [
    ...tiers.map((tier) => ({
      queue: wakeQueue(tier),
      consumer: "coordinator" as const,
      batchSize: wiring.batchSize,
    })),
    { queue: watchQueue, consumer: "coordinator", batchSize: 1 },
    ...groups.map((group) => ({ queue: taskQueue(group), consumer: workerOf(group), batchSize: 1 })),
    { queue: deadTaskQueue, consumer: "dead-tasks", batchSize: wiring.batchSize },
  ];
}
