import { Duration, Fn } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { queueName, queueSuffix } from "../lib/aws/names.ts";
import { wiring } from "../lib/aws/wiring.ts";
import { deadQueue, deadQueueOf, deadTaskQueue, type QueueName, receivesMaxOf } from "../lib/core/queue-names.ts";
import { acknowledge } from "./acknowledged.ts";
import type { Mapping } from "./mappings.ts";

/** Queues by their logical names. */
export type Queues = ReadonlyMap<QueueName, Queue>;

interface QueuesOptions {
  readonly prefix: string;
  readonly mappings: readonly Mapping[];
  readonly kmsKey: IKey | undefined;
}

/**
 * Every queue but the last with its dead-letter queue. Standard ones: FIFO queues take no delay per message; fair between tenants, whom each
 * message names as its group. Dead letters are kept longer than letters: their age counts from the first time they were sent (Q9).
 */
export function createQueues(scope: Construct, { prefix, mappings, kmsKey }: QueuesOptions): Queues {
  const queues = new Map<QueueName, Queue>();
  const dead: readonly QueueName[] = [deadQueue, deadTaskQueue];
  const letters = mappings.map(({ queue }) => queue).filter((queue) => !dead.includes(queue));
  // Those that others name as their dead-letter queue come first.
  for (const name of [...dead, ...letters]) {
    const next = queues.get(deadQueueOf(name) ?? name);
    const queue = new Queue(scope, idOf(name), {
      queueName: queueName(prefix, name),
      visibilityTimeout: Duration.seconds(visibilityOf(name, mappings)),
      retentionPeriod: Duration.days(dead.includes(name) ? wiring.deadRetentionDays : wiring.retentionDays),
      ...(next && {
        deadLetterQueue: { queue: next, maxReceiveCount: receivesMaxOf(name, wiring.maxReceiveCount) },
      }),
      ...encryptionOf(kmsKey),
      enforceSSL: true,
    });
    if (name === deadQueue) acknowledge(queue, "AwsSolutions-SQS3", "It is the dead-letter queue of the others.");
    queues.set(name, queue);
  }
  return queues;
}

/** Nobody consumes the last queue: a person who looks into it has as long as a batch of the coordinator. */
function visibilityOf(name: QueueName, mappings: readonly Mapping[]): number {
  const mapping = mappings.find(({ queue }) => queue === name);
  return mapping?.visibilityS ?? wiring.visibilityTimeouts * wiring.timeoutS.coordinator;
}

/** With AWS's own key unless there is one. */
export function encryptionOf(kmsKey: IKey | undefined) {
  return kmsKey
    ? { encryption: QueueEncryption.KMS, encryptionMasterKey: kmsKey }
    : { encryption: QueueEncryption.SQS_MANAGED };
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
