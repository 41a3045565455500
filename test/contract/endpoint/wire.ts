import { randomBytes } from "node:crypto";
import { DeleteTableCommand, waitUntilTableNotExists } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, DeleteBucketCommand, waitUntilBucketExists } from "@aws-sdk/client-s3";
import { DeleteQueueCommand } from "@aws-sdk/client-sqs";
import { type ClientOptions, createDynamodbClient, createS3Client, createSqsClient } from "../../../lib/aws/clients.ts";
import { createDynamodbStore } from "../../../lib/aws/dynamodb-store.ts";
import { queueUrl } from "../../../lib/aws/names.ts";
import { processClock as clock, processRandom as random } from "../../../lib/aws/process.ts";
import { createQueues } from "../../../lib/aws/queues.ts";
import { createS3Payloads } from "../../../lib/aws/s3-payloads.ts";
import { createTable } from "../../../lib/aws/table.ts";
import { deadQueue, deadTaskQueue } from "../../../lib/core/queue-names.ts";
import type { OpenPayloads } from "../payloads.contract.ts";
import { contractQueues, type OpenQueue } from "../queue.contract.ts";
import type { OpenStore } from "../store.contract.ts";
import { wireQueue } from "../wire-queue.ts";

/** A name that nobody has, and that says what it is for whoever finds it left behind. */
const throwaway = () => `tickwright-contract-${randomBytes(6).toString("hex")}`;

/** A table of its own at an endpoint, removed when it is closed. */
export async function openTable(options: ClientOptions): Promise<OpenStore & { readonly tableName: string }> {
  const client = createDynamodbClient(options);
  const tableName = throwaway();
  const remove = async () => {
    await client.send(new DeleteTableCommand({ TableName: tableName }));
    await waitUntilTableNotExists({ client, maxWaitTime: 120, minDelay: 1, maxDelay: 4 }, { TableName: tableName });
    client.destroy();
  };
  await createTable(client, tableName).catch(async (error: unknown) => {
    await remove().catch(() => undefined);
    throw error;
  });
  return { store: createDynamodbStore({ client, tableName, clock, random }), tableName, close: remove };
}

/** Queues of their own at an endpoint, with their dead-letter queues, removed when they are closed. */
export async function openQueues(
  options: ClientOptions,
  more: Pick<OpenQueue, "isCountedLate" | "countsWithinMs"> & { readonly patienceS?: number } = {},
): Promise<OpenQueue> {
  const { patienceS, ...rest } = more;
  const client = createSqsClient({ ...options, requestTimeoutMs: 30_000 });
  const prefix = throwaway();
  const queueBase = await createQueues(client, prefix, contractQueues, { visibilitySeconds: 2, maxReceiveCount: 2 });
  return {
    ...wireQueue(client, queueBase, patienceS),
    ...rest,
    async close() {
      for (const queue of [...contractQueues, deadQueue, deadTaskQueue])
        await client.send(new DeleteQueueCommand({ QueueUrl: queueUrl(queueBase, queue) }));
      client.destroy();
    },
  };
}

/** A bucket of its own at an endpoint, emptied and removed when it is closed. */
export async function openBucket(options: ClientOptions): Promise<OpenPayloads> {
  const client = createS3Client(options);
  const bucket = throwaway();
  const region = await client.config.region();
  await client.send(
    new CreateBucketCommand({
      Bucket: bucket,
      // the first region of all is no constraint
      ...(region !== "us-east-1" && { CreateBucketConfiguration: { LocationConstraint: region as "eu-west-1" } }),
    }),
  );
  await waitUntilBucketExists({ client, maxWaitTime: 60 }, { Bucket: bucket });
  const payloads = createS3Payloads({ client, bucket, clock });
  return {
    payloads,
    async close() {
      await payloads.remove("");
      await client.send(new DeleteBucketCommand({ Bucket: bucket }));
      client.destroy();
    },
  };
}
