import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, type S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { createDynamodbClient, createS3Client, createSqsClient } from "../aws/clients.ts";
import { queueName } from "../aws/names.ts";
import { createQueues } from "../aws/queues.ts";
import { createTable } from "../aws/table.ts";
import { startDynamodbServer } from "./dynamodb-server.ts";
import { credentials, region } from "./endpoint.ts";
import type { MeterBook } from "./meters.ts";
import { type SqsServer, startSqsServer } from "./sqs-server.ts";

/** What the functions are built with. The clients are made for the functions' own use; requests through them are metered. */
export interface Wired {
  readonly endpoints: { readonly dynamodb: string; readonly sqs: string };
  readonly clients: { readonly dynamodb: DynamoDBClient; readonly sqs: SQSClient; readonly s3: S3Client };
  readonly tableName: string;
  readonly queueBase: string;
  readonly bucket: string;
}

interface ResourceOptions {
  readonly folders: { readonly dynamodb: string; readonly sqs: string } | undefined;
  readonly ports: { readonly dynamodb: number; readonly sqs: number };
  readonly prefix: string;
  readonly queues: readonly string[];
  readonly visibilitySeconds: number;
  readonly maxReceiveCount: number;
  readonly book: MeterBook;
}

interface Resources {
  readonly wired: Wired;
  readonly sqs: SqsServer;
  depth(queue: string): { readonly ready: number; readonly inFlight: number; readonly delayed: number };
  stop(): Promise<void>;
}

/** The servers of a stack with its table, queues and bucket in them, whether they were there before or not. */
export async function startResources(options: ResourceOptions): Promise<Resources> {
  const { folders, ports, prefix, book } = options;
  const dynamodb = await startDynamodbServer({
    port: ports.dynamodb,
    folder: folders?.dynamodb,
    onRequest: book.dynamodb,
  });
  const sqs = await startSqsServer({ port: ports.sqs, folder: folders?.sqs, onRequest: book.sqs }).catch(
    async (error) => {
      await dynamodb.stop();
      throw error;
    },
  );
  const clients = {
    dynamodb: createDynamodbClient({ endpoint: dynamodb.url, region, credentials }),
    sqs: createSqsClient({ endpoint: sqs.url, region, credentials }),
    s3: createS3Client({ endpoint: sqs.url, region, credentials }),
  };
  const stop = async (): Promise<void> => {
    for (const client of Object.values(clients)) client.destroy();
    await sqs.stop();
    await dynamodb.stop();
  };
  try {
    const tableName = `${prefix}-table`;
    const bucket = `${prefix}-payloads`;
    await createTable(clients.dynamodb, tableName);
    const queueBase = await createQueues(clients.sqs, prefix, options.queues, options);
    await clients.s3.send(new CreateBucketCommand({ Bucket: bucket })).catch(unlessOwned);
    const wired = { endpoints: { dynamodb: dynamodb.url, sqs: sqs.url }, clients, tableName, queueBase, bucket };
    return { wired, sqs, depth: (queue) => sqs.depth(queueName(prefix, queue)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function unlessOwned(error: unknown): void {
  if (error instanceof S3ServiceException && error.name.startsWith("BucketAlready")) return;
  throw error;
}
