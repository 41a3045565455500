import type { ITable, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Bucket, IBucket } from "aws-cdk-lib/aws-s3";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { indexes } from "../lib/aws/names.ts";
import type { QueueName } from "../lib/core/queue-names.ts";
import { acknowledgeWildcard } from "./acknowledged.ts";
import { grantKey } from "./key.ts";
import type { Queues } from "./queues.ts";

/** Reads and conditional writes of single records: all that a tick does. No scan, no transaction, no batch write, no delete. */
export function grantRecords(to: NodejsFunction, table: ITable | TableV2, key: IKey | undefined): void {
  allow(to, ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem"].map(dynamodb), [table.tableArn]);
  if (key) grantKey(to, to, key, ["dynamodb"]);
}

/** The search for the overdue. */
export function grantSearch(to: NodejsFunction, table: ITable | TableV2): void {
  allow(to, [dynamodb("Query")], [`${table.tableArn}/index/${indexes.due.name}`]);
}

/**
 * Payloads are written once and read; the bucket's own rules remove them. Without the right to list, S3 answers 403 instead of 404 for
 * what is not there: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 */
export function grantPayloads(to: NodejsFunction, bucket: IBucket | Bucket | undefined): void {
  if (bucket === undefined) return;
  allow(to, ["s3:GetObject", "s3:PutObject", "s3:PutObjectTagging"], [bucket.arnForObjects("*")]);
  allow(to, ["s3:ListBucket"], [bucket.bucketArn]);
  if (bucket.encryptionKey) grantKey(to, to, bucket.encryptionKey, ["s3"]);
  if (to.role) {
    acknowledgeWildcard(
      to.role,
      bucket.arnForObjects("*"),
      "The objects of one bucket: payloads are named by the runs.",
    );
  }
}

/** Sending, and seeing whether a queue is behind: nothing is sent again to one that is. */
export function grantSending(to: NodejsFunction, queues: Queues, names: readonly QueueName[]): void {
  grantQueues(to, queues, names, ["sqs:SendMessage", "sqs:GetQueueAttributes"]);
}

/** Sending alone, for whoever never sends again. */
export function grantFirstSending(to: NodejsFunction, queues: Queues, names: readonly QueueName[]): void {
  grantQueues(to, queues, names, ["sqs:SendMessage"]);
}

function grantQueues(to: NodejsFunction, queues: Queues, names: readonly QueueName[], actions: string[]): void {
  const found = names.map((name) => queues.get(name)).filter((queue) => queue !== undefined);
  allow(
    to,
    actions,
    found.map(({ queueArn }) => queueArn),
  );
  grantKeyOf(to, found);
}

/** What Lambda does with a function's role when it polls for it, and no more. */
export function grantTaking(to: NodejsFunction, queue: Queue): void {
  allow(to, ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], [queue.queueArn]);
  grantKeyOf(to, [queue]);
}

function grantKeyOf(to: NodejsFunction, queues: readonly Queue[]): void {
  const key = queues.find(({ encryptionMasterKey }) => encryptionMasterKey)?.encryptionMasterKey;
  if (key) grantKey(to, to, key, ["sqs"]);
}

function allow(to: NodejsFunction, actions: string[], resources: string[]): void {
  to.addToRolePolicy(new PolicyStatement({ actions, resources }));
}

const dynamodb = (action: string): string => `dynamodb:${action}`;
