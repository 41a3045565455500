import { CreateQueueCommand, GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { deadQueue, deadQueueOf, deadTaskQueue } from "../core/queue-names.ts";
import { queueName, queueSuffix } from "./names.ts";

export interface QueueSettings {
  /** How long a received message is hidden: six function time-outs. */
  readonly visibilitySeconds: number;
  /** At least 2: the first death of a processing is no evidence against its run. */
  readonly maxReceiveCount: number;
}

/**
 * Creates the given queues and their dead-letter queues, unless they exist, and returns the `queueBase` of their URLs. For the embedded
 * stack and tests: an installation's queues are made by its own infrastructure code.
 */
export async function createQueues(
  client: SQSClient,
  prefix: string,
  queues: readonly string[],
  settings: QueueSettings,
): Promise<string> {
  const arns = new Map<string, string>();
  let queueBase = "";
  for (const queue of [deadQueue, deadTaskQueue]) {
    const url = await createQueue(client, queueName(prefix, queue), {
      VisibilityTimeout: String(settings.visibilitySeconds),
      MessageRetentionPeriod: String(14 * 86_400),
    });
    arns.set(queue, await arnOf(client, url));
    queueBase = url.slice(0, -queueSuffix(queue).length);
  }
  for (const queue of queues) {
    const deadLetterTargetArn = arns.get(deadQueueOf(queue) ?? "");
    if (deadLetterTargetArn === undefined) continue;
    await createQueue(client, queueName(prefix, queue), {
      VisibilityTimeout: String(settings.visibilitySeconds),
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: settings.maxReceiveCount }),
    });
  }
  return queueBase;
}

async function createQueue(client: SQSClient, name: string, attributes: Record<string, string>): Promise<string> {
  const answer = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
  if (!answer.QueueUrl) throw new Error(`The queue ${name} was created without a URL.`);
  return answer.QueueUrl;
}

async function arnOf(client: SQSClient, url: string): Promise<string> {
  const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["QueueArn"] });
  const { QueueArn: arn = "" } = (await client.send(command)).Attributes ?? {};
  return arn;
}
