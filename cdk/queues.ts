import { Duration, Fn } from "aws-cdk-lib";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { queueName, queueSuffix } from "../lib/aws/names.ts";
import { type Source, wiring } from "../lib/aws/wiring.ts";
import { deadQueue, deadQueueOf, deadTaskQueue, type QueueName, receivesMaxOf } from "../lib/core/queue-names.ts";

/** Queues by their logical names. */
export type Queues = ReadonlyMap<QueueName, Queue>;

/**
 * Every queue but the last with its dead-letter queue. Standard ones: FIFO queues take no delay per message. A received message is hidden for six
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
  const dead: readonly QueueName[] = [deadQueue, deadTaskQueue];
  const letters = sources.map(({ queue }) => queue).filter((queue) => !dead.includes(queue));
  // Those that others name as their dead-letter queue come first.
  for (const queue of [...dead, ...letters]) {
    const next = queues.get(deadQueueOf(queue) ?? queue);
    queues.set(
      queue,
      new Queue(scope, idOf(queue), {
        queueName: queueName(prefix, queue),
        visibilityTimeout: visibilityOf(queue),
        retentionPeriod: Duration.days(dead.includes(queue) ? wiring.deadRetentionDays : wiring.retentionDays),
        ...(next && {
          deadLetterQueue: { queue: next, maxReceiveCount: receivesMaxOf(queue, wiring.maxReceiveCount) },
        }),
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
