import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SetQueueAttributesCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { deadQueue, deadQueueOf, deadTaskQueue, receivesMaxOf } from "../core/queue-names.ts";
import { queueName, queueSuffix } from "./names.ts";
import { wiring } from "./wiring.ts";

export interface QueueSettings {
  /** How long a received message is hidden: six function time-outs. */
  readonly visibilitySeconds: number;
  /** At least 2: the first death of a processing is no evidence against its run. */
  readonly maxReceiveCount: number;
}

/**
 * Creates the given queues and their dead-letter queues, or gives those that exist these settings, and returns the `queueBase` of
 * their URLs. For the embedded stack and tests: an installation's queues are made by its own infrastructure code.
 */
export async function createQueues(
  client: SQSClient,
  prefix: string,
  queues: readonly string[],
  settings: QueueSettings,
): Promise<string> {
  const arns = new Map<string, string>();
  let queueBase = "";
  const dead: readonly string[] = [deadQueue, deadTaskQueue];
  const letters = queues.filter((queue) => !dead.includes(queue));
  // Those that others name as their dead-letter queue come first.
  for (const queue of [...dead, ...letters]) {
    const deadLetterTargetArn = arns.get(deadQueueOf(queue) ?? "");
    const url = await createQueue(client, queueName(prefix, queue), {
      VisibilityTimeout: String(settings.visibilitySeconds),
      MessageRetentionPeriod: String((dead.includes(queue) ? wiring.deadRetentionDays : wiring.retentionDays) * 86_400),
      ...(deadLetterTargetArn !== undefined && {
        RedrivePolicy: JSON.stringify({
          deadLetterTargetArn,
          maxReceiveCount: receivesMaxOf(queue, settings.maxReceiveCount),
        }),
      }),
    });
    if (dead.includes(queue)) arns.set(queue, await arnOf(client, url));
    queueBase = url.slice(0, -queueSuffix(queue).length);
  }
  return queueBase;
}

async function createQueue(client: SQSClient, name: string, attributes: Record<string, string>): Promise<string> {
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name }));
  if (!QueueUrl) throw new Error(`The queue ${name} was created without a URL.`);
  // apart: creating a queue that is there, with other settings, is refused
  await client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: attributes }));
  return QueueUrl;
}

async function arnOf(client: SQSClient, url: string): Promise<string> {
  const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["QueueArn"] });
  const { QueueArn: arn = "" } = (await client.send(command)).Attributes ?? {};
  return arn;
}
