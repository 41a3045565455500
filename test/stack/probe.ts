import {
  BatchWriteItemCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ExecuteStatementCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListBucketsCommand,
  PutBucketPolicyCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import {
  DeleteQueueCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { createDynamodbClient, createS3Client, createSqsClient } from "../../lib/aws/clients.ts";
import { createDynamodbStore } from "../../lib/aws/dynamodb-store.ts";
import { createEmfMetrics } from "../../lib/aws/emf-metrics.ts";
import { bySource, onBatch, onSchedule } from "../../lib/aws/handler.ts";
import { createJsonLog } from "../../lib/aws/json-log.ts";
import { envNames, queueUrl } from "../../lib/aws/names.ts";
import { processClock as clock, processRandom as random } from "../../lib/aws/process.ts";
import { createS3Payloads } from "../../lib/aws/s3-payloads.ts";
import { createSqsQueue } from "../../lib/aws/sqs-queue.ts";
import { Fault } from "../../lib/core/faults.ts";

/** A function that tries everything with the real adapters, and writes down what its role let it do. */
const env = (name: string): string => process.env[name] ?? "";
const print = (line: string) => void process.stdout.write(`${line}\n`);

function init() {
  const endpoint = process.env["AWS_ENDPOINT_URL"];
  const options = endpoint === undefined ? {} : { endpoint };
  return {
    store: createDynamodbStore({
      client: createDynamodbClient(options),
      tableName: env(envNames.table),
      clock,
      random,
    }),
    queue: createSqsQueue({ client: createSqsClient(options), queueBase: env(envNames.queueBase), clock, random }),
    payloads: createS3Payloads({ client: createS3Client(options), bucket: env(envNames.bucket), clock }),
    log: createJsonLog({ print, nowMs: Date.now }),
    metrics: createEmfMetrics({ print, nowMs: Date.now, namespace: env(envNames.metrics) }),
  };
}

type Deps = ReturnType<typeof init>;

async function probe({ store, queue, payloads }: Deps, role: string): Promise<void> {
  const can: Record<string, string> = {};
  const attempt = async (what: string, run: () => Promise<unknown>): Promise<void> => {
    can[what] = await run().then(
      () => "yes",
      (error: unknown) => (isDenial(error) ? "denied" : Fault.is(error) ? error.code : String(error)),
    );
  };
  const key = { pk: `probe-of-${role}`, sk: "STATE" };
  await attempt("put", () => store.write({ kind: "put", key, fields: { n: 1 }, when: [] }));
  await attempt("edit", () =>
    store.write({ kind: "edit", key, edits: [{ kind: "add", path: ["n"], by: 1 }], when: [] }, { returns: "all" }),
  );
  await attempt("refused put", () =>
    store.write({ kind: "put", key, fields: { n: 1 }, when: [{ kind: "absent", path: ["n"] }] }),
  );
  await attempt("delete", () => store.write({ kind: "delete", key: { ...key, sk: "NONE" }, when: [] }));
  await attempt("read one", () => store.read([key], { isConsistent: true }));
  await attempt("read two", () => store.read([key, { ...key, sk: "MORE" }], { isConsistent: true }));
  await attempt("list", () => store.list({ pk: key.pk, prefix: "", isConsistent: true }));
  await attempt("find the due", () => store.find("due", { partition: "D0", upTo: 1, limit: 1 }));
  await attempt("find runs", () => store.find("runs", { partition: "p", limit: 1 }));
  for (const name of ["wake:standard", "watch", "task:default", "task:mail", "dead", "dead-task"]) {
    await attempt(`send to ${name}`, async () => {
      const [sent] = await queue.send([{ queue: name, body: "probe", group: "t", taskKey: "probe" }]);
      if (sent?.kind === "failed") throw new Fault(sent.fault.code, sent.fault.message);
    });
    await attempt(`look at ${name}`, () => queue.isBehind(name));
  }
  const expiresAtS = Date.now() / 1000 + 86_400;
  await attempt("put payload", () => payloads.put(`${role}/payload`, new Uint8Array([1]), { expiresAtS }));
  await attempt("get payload", () => payloads.get(`${role}/payload`));
  await attempt("miss payload", () => payloads.get(`${role}/none`));
  await beyond(attempt, key.pk);
  await store.write({ kind: "put", key: { pk: "probes", sk: role }, fields: { can: JSON.stringify(can) }, when: [] });
}

/** What nobody needs: of the services themselves, past what the adapters know. */
async function beyond(
  attempt: (what: string, run: () => Promise<unknown>) => Promise<void>,
  pk: string,
): Promise<void> {
  const [dynamodb, sqs, s3, events] = [
    new DynamoDBClient(),
    new SQSClient(),
    new S3Client({ forcePathStyle: true }),
    new EventBridgeClient(),
  ];
  const TableName = env(envNames.table);
  const Key = { pk: { S: pk }, sk: { S: "STATE" } };
  await attempt("scan the table", () => dynamodb.send(new ScanCommand({ TableName, Limit: 1 })));
  await attempt("write many", () =>
    dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: [{ DeleteRequest: { Key } }] } })),
  );
  await attempt("write a transaction", () =>
    dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [{ Delete: { TableName, Key } }] })),
  );
  await attempt("speak PartiQL", () =>
    dynamodb.send(new ExecuteStatementCommand({ Statement: `SELECT * FROM "${TableName}"` })),
  );
  await attempt("change the table", () =>
    dynamodb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false })),
  );
  await attempt("delete the table", () => dynamodb.send(new DeleteTableCommand({ TableName })));
  await attempt("list queues", () => sqs.send(new ListQueuesCommand({})));
  for (const name of ["wake:standard", "watch", "task:default", "task:mail", "dead", "dead-task"]) {
    const QueueUrl = queueUrl(env(envNames.queueBase), name);
    await attempt(`take from ${name}`, () =>
      sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 0, WaitTimeSeconds: 0 })),
    );
    await attempt(`change ${name}`, () =>
      sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { VisibilityTimeout: "1" } })),
    );
    await attempt(`purge ${name}`, () => sqs.send(new PurgeQueueCommand({ QueueUrl })));
    await attempt(`delete ${name}`, () => sqs.send(new DeleteQueueCommand({ QueueUrl })));
  }
  const Bucket = env(envNames.bucket);
  await attempt("remove a payload", () => s3.send(new DeleteObjectCommand({ Bucket, Key: "none" })));
  await attempt("list buckets", () => s3.send(new ListBucketsCommand({})));
  await attempt("open the bucket", () => s3.send(new PutBucketPolicyCommand({ Bucket, Policy: "{}" })));
  await attempt("delete the bucket", () => s3.send(new DeleteBucketCommand({ Bucket })));
  await attempt("publish events", () =>
    events.send(new PutEventsCommand({ Entries: [{ Source: "probe", DetailType: "probe", Detail: "{}" }] })),
  );
}

const isDenial = (error: unknown): boolean =>
  error instanceof Error && /AccessDenied|not authorized/i.test(`${error.name} ${error.message}`);

const onEvent = bySource(
  onBatch({ init }, async (deps, batch) => {
    for (const { body } of batch) if (body.startsWith("as ")) await probe(deps, body.slice("as ".length));
    return [];
  }),
  onSchedule({ init }, (deps) => probe(deps, "scheduled")),
);

/** The api function has a third kind of event: it answers when it has tried everything. */
export const handler = async (event: Parameters<typeof onEvent>[0], context: Parameters<typeof onEvent>[1]) => {
  if (!("requestContext" in event)) return await onEvent(event, context);
  await probe(init(), "api");
  return { statusCode: 204 };
};
