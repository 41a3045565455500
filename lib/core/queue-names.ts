/**
 * The engine's queues by their logical names; adapters know the physical ones. A worker group and a tier have a queue each, the
 * others are one of a kind.
 */

/** Wake-ups of the watchdog: a queue of their own, so that healing never waits behind a backlog. */
export const watchQueue = "watch";
/** Bodies that cannot be read and wake-ups that failed too often. Nobody consumes it: a person looks. */
export const deadQueue = "dead";
/** Tasks that no worker took. Consumed: each is a lost delivery of its attempt. What cannot even be buried goes on to {@link deadQueue}. */
export const deadTaskQueue = "dead-task";

export const tiers = ["interactive", "standard", "bulk"] as const;
export type Tier = (typeof tiers)[number];

export type QueueName = `wake:${Tier}` | `task:${string}` | typeof watchQueue | typeof deadQueue | typeof deadTaskQueue;

export function wakeQueue(tier: Tier): QueueName {
  return `wake:${tier}`;
}

export function taskQueue(group: string): QueueName {
  return `task:${group}`;
}

/** Where a message goes that was received too often; `undefined` for the last of them, where it stays. */
export function deadQueueOf(queue: string): QueueName | undefined {
  if (queue === deadQueue) return undefined;
  return queue.startsWith("task:") ? deadTaskQueue : deadQueue;
}

/**
 * Receives before a message of this queue is moved on, where other queues allow `maxReceiveCount`. What is in the queue of dead
 * tasks has been received in its first queue: whether SQS begins to count anew is not documented, and emulators differ, so it is
 * allowed both.
 */
export function receivesMaxOf(queue: string, maxReceiveCount: number): number {
  return queue === deadTaskQueue ? 2 * (maxReceiveCount + 1) : maxReceiveCount;
}
