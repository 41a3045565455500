import { attributeNames } from "../aws/names.ts";
import { credentials, region } from "./endpoint.ts";

/** A message to send by hand. */
export interface HandMessage {
  /** Of the SQS server. */
  readonly endpoint: string;
  readonly queueUrl: string;
  readonly body: string;
  /** Log field and message attribute; absent: none. */
  readonly taskKey?: string;
}

/** The command that sends it with the AWS CLI, to be copied into a shell as it stands. */
export function awsCommand({ endpoint, queueUrl, body, taskKey }: HandMessage): string {
  const attributes = taskKey === undefined ? undefined : attributesOf(taskKey);
  return [
    `AWS_ACCESS_KEY_ID=${credentials.accessKeyId} AWS_SECRET_ACCESS_KEY=${credentials.secretAccessKey}`,
    `aws --endpoint-url ${endpoint} --region ${region} sqs send-message`,
    `--queue-url ${shellQuoted(queueUrl)}`,
    `--message-body ${shellQuoted(body)}`,
    ...(attributes ? [`--message-attributes ${shellQuoted(JSON.stringify(attributes))}`] : []),
  ].join(" ");
}

/** The same with Node and the AWS SDK, for those without the CLI. To be run where the SDK is installed: in the project's folder. */
export function nodeCommand({ endpoint, queueUrl, body, taskKey }: HandMessage): string {
  const input = {
    QueueUrl: queueUrl,
    MessageBody: body,
    ...(taskKey === undefined ? {} : { MessageAttributes: attributesOf(taskKey) }),
  };
  // field by field: the SDK notes on the object that it was given
  const { accessKeyId, secretAccessKey } = credentials;
  const script = [
    'import { SQSClient, SendMessageCommand } from "@aws-sdk/client-sqs";',
    `const client = new SQSClient(${JSON.stringify({ endpoint, region, credentials: { accessKeyId, secretAccessKey } })});`,
    `const { MessageId } = await client.send(new SendMessageCommand(${JSON.stringify(input)}));`,
    'console.log("sent", MessageId);',
  ];
  return `node --input-type=module -e ${shellQuoted(script.join(" "))}`;
}

const attributesOf = (taskKey: string) => ({
  [attributeNames.taskKey]: { DataType: "String", StringValue: taskKey },
});

/** For POSIX shells: everything between single quotes stands for itself. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
