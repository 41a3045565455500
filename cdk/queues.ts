import { Duration, Fn } from "aws-cdk-lib";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { queueName, queueSuffix } from "../lib/aws/names.ts";
import { type Source, wiring } from "../lib/aws/wiring.ts";
import { deadQueue, deadQueueOf, deadTaskQueue, type QueueName } from "../lib/core/queue-names.ts";

/** Queues by their logical names. */
export type Queues = ReadonlyMap<QueueName, Queue>;

/**
 * Every queue with its dead-letter queue. Standard ones: FIFO queues take no delay per message. A received message is hidden for six
 * time-outs of its function, so that no second one works on it (L5). Dead letters are kept longer than letters: their age counts from
 * the first time they were sent (Q9).
 */
export function createQueues(
  scope: Construct,
  prefix: string,
  sources: readonly Source[],
  timeoutSOf: (source: Source) => number,
): Queues {
  const queues = new Map<QueueName, Queue>();
  const visibilityOf = (queue: QueueName): Duration => {
    const source = sources.find((candidate) => candidate.queue === queue);
    return Duration.seconds(wiring.visibilityTimeouts * (source ? timeoutSOf(source) : wiring.timeoutS.coordinator));
  };
  for (const queue of [deadQueue, deadTaskQueue] as const) {
    queues.set(
      queue,
      new Queue(scope, idOf(queue), {
        queueName: queueName(prefix, queue),
        visibilityTimeout: visibilityOf(queue),
        retentionPeriod: Duration.days(wiring.deadRetentionDays),
        enforceSSL: true,
      }),
    );
  }
  for (const { queue } of sources) {
    const dead = queues.get(deadQueueOf(queue) ?? queue);
    if (queues.has(queue) || dead === undefined) continue;
    queues.set(
      queue,
      new Queue(scope, idOf(queue), {
        queueName: queueName(prefix, queue),
        visibilityTimeout: visibilityOf(queue),
        retentionPeriod: Duration.days(wiring.retentionDays),
        deadLetterQueue: { queue: dead, maxReceiveCount: wiring.maxReceiveCount },
        enforceSSL: true,
      }),
    );
  }
  return queues;
}

/** The URLs of all queues up to their suffix, taken from a real one: partitions and emulators spell their hosts differently. */
export function queueBaseOf(prefix: string, queues: Queues): string {
  const url = queues.get(deadQueue)?.queueUrl ?? "";
  return Fn.join("", [Fn.select(0, Fn.split(queueName(prefix, deadQueue), url)), `${prefix}-`]);
}

/** `task:mail` as the id of a construct: `QueueTaskMail`. */
function idOf(queue: QueueName): string {
  const words = queueSuffix(queue).split(/[^A-Za-z0-9]+/);
  return `Queue${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}`;
}
