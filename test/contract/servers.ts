import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { createDynamodbClient, createS3Client, createSqsClient } from "../../lib/aws/clients.ts";
import { createDynamodbStore } from "../../lib/aws/dynamodb-store.ts";
import { processClock as clock, processRandom as random } from "../../lib/aws/process.ts";
import { createQueues, type QueueSettings } from "../../lib/aws/queues.ts";
import { createTable } from "../../lib/aws/table.ts";
import { type DynamodbRequest, startDynamodbServer } from "../../lib/local/dynamodb-server.ts";
import { credentials, region } from "../../lib/local/endpoint.ts";
import { startSqsServer } from "../../lib/local/sqs-server.ts";

const quiet = { port: 0, folder: undefined, onRequest: () => undefined } as const;

/** A DynamoDB server of its own, with an empty table and a store on it. With `onRequest`, every request is metered. */
export async function openDynamodb(onRequest?: (request: DynamodbRequest) => void) {
  const server = await startDynamodbServer({ ...quiet, ...(onRequest && { onRequest }) });
  const client = createDynamodbClient({ endpoint: server.url, region, credentials });
  await createTable(client, "tickwright");
  const store = createDynamodbStore({
    client,
    tableName: "tickwright",
    clock,
    random,
    isMetered: onRequest !== undefined,
  });
  const close = async () => {
    client.destroy();
    await server.stop();
  };
  return { store, client, tableName: "tickwright", url: server.url, close };
}

/** An SQS and S3 server of its own, with the given queues and a bucket. */
export async function openSqs(queues: readonly string[], settings: QueueSettings) {
  const server = await startSqsServer(quiet);
  const options = { endpoint: server.url, region, credentials };
  const [client, s3] = [createSqsClient(options), createS3Client(options)];
  const queueBase = await createQueues(client, "tw", queues, settings);
  await s3.send(new CreateBucketCommand({ Bucket: "payloads" }));
  const close = async () => {
    client.destroy();
    s3.destroy();
    await server.stop();
  };
  return { client, s3, bucket: "payloads", queueBase, close };
}
