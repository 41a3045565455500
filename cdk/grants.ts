import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { indexes } from "../lib/aws/names.ts";
import type { QueueName } from "../lib/core/queue-names.ts";
import type { Queues } from "./queues.ts";

/** Reads and conditional writes of single records: all that a tick does. No scan, no transaction, no batch write, no delete. */
export function grantRecords(to: NodejsFunction, table: TableV2): void {
  allow(to, ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem"].map(dynamodb), [table.tableArn]);
}

/** The search for the overdue. */
export function grantSearch(to: NodejsFunction, table: TableV2): void {
  allow(to, [dynamodb("Query")], [`${table.tableArn}/index/${indexes.due.name}`]);
}

/**
 * Payloads are written once and read; the bucket's own rules remove them. Without the right to list, S3 answers 403 instead of 404 for
 * what is not there: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 */
export function grantPayloads(to: NodejsFunction, bucket: Bucket | undefined): void {
  if (bucket === undefined) return;
  allow(to, ["s3:GetObject", "s3:PutObject", "s3:PutObjectTagging"], [bucket.arnForObjects("*")]);
  allow(to, ["s3:ListBucket"], [bucket.bucketArn]);
}

/** Sending, and seeing whether a queue is behind: nothing is sent again to one that is. */
export function grantSending(to: NodejsFunction, queues: Queues, names: readonly QueueName[]): void {
  const arns = names.map((name) => queues.get(name)?.queueArn).filter((arn) => arn !== undefined);
  allow(to, ["sqs:SendMessage", "sqs:GetQueueAttributes"], arns);
}

/** Sending alone, for whoever never sends again. */
export function grantFirstSending(to: NodejsFunction, queues: Queues, names: readonly QueueName[]): void {
  const arns = names.map((name) => queues.get(name)?.queueArn).filter((arn) => arn !== undefined);
  allow(to, ["sqs:SendMessage"], arns);
}

function allow(to: NodejsFunction, actions: string[], resources: string[]): void {
  to.addToRolePolicy(new PolicyStatement({ actions, resources }));
}

const dynamodb = (action: string): string => `dynamodb:${action}`;
