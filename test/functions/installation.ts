import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { envNames, queueUrl } from "../../lib/aws/names.ts";
import { partsFrom } from "../../lib/aws/parts.ts";
import { defaultLimits } from "../../lib/core/limits.ts";
import { createEngine, type Engine } from "../../lib/engine/engine.ts";
import { type AnyWorkflow, createRegistry } from "../../lib/index.ts";
import { credentials, region } from "../../lib/local/endpoint.ts";
import { eventOf } from "../../lib/local/records.ts";
import { openDynamodb, openSqs } from "../contract/servers.ts";
import { bundle } from "./bundle.ts";
import { startFront } from "./front.ts";
import { workflows } from "./workflows.ts";

export type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
export type FunctionName = "coordinator" | "worker" | "watchdog";

/** A line of a function's log, parsed. */
export type Line = { readonly level?: string; readonly event?: string; readonly [name: string]: unknown };

/** The queues of an installation with one group and one tier. */
const queues = ["wake:standard", "watch", "task:default", "dead-task"];

export const refOf = (runId: string) => ({ tenant: "default", runId });

export const contextOf = (remainingMs: number | (() => number)): Context =>
  ({
    awsRequestId: "00000000-0000-4000-8000-000000000000",
    functionName: "tickwright",
    getRemainingTimeInMillis: typeof remainingMs === "number" ? () => remainingMs : remainingMs,
  }) as Context;

/**
 * Table, queues and bucket over the wire, a front that a test can disturb, and the functions' own code: bundled with given workflows as
 * a deploy bundles it, imported, and called with real records. Nothing polls: a test says who receives what, and how many at once.
 */
export async function install({ limits = {} }: { readonly limits?: object } = {}) {
  const dynamodb = await openDynamodb();
  const sqs = await openSqs(queues, { visibilitySeconds: 60, maxReceiveCount: 8 });
  const front = await startFront({ dynamodb: dynamodb.url, sqs: new URL(sqs.queueBase).origin });
  const folder = mkdtempSync(join(tmpdir(), "tickwright-functions-"));
  const env = {
    [envNames.table]: dynamodb.tableName,
    [envNames.queueBase]: sqs.queueBase,
    [envNames.bucket]: sqs.bucket,
    [envNames.group]: "default",
    [envNames.metrics]: "Tickwright/test",
    [envNames.build]: "build-1",
    [envNames.limits]: JSON.stringify(limits),
    AWS_ENDPOINT_URL: front.url,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  Object.assign(process.env, env);
  const lines: Line[] = [];
  const print = process.stdout.write;
  process.stdout.write = ((chunk: string) => lines.push(...parsed(chunk)) > 0) as typeof process.stdout.write;

  async function bundled(name: FunctionName, workflowsFile: string, buildName: string): Promise<string> {
    const outfile = join(folder, `${name}-${buildName}.mjs`);
    await bundle(name, `test/functions/${workflowsFile}`, outfile);
    return outfile;
  }

  const receive = async (queue: string, most = 10): Promise<readonly Message[]> => {
    const { Messages = [] } = await sqs.client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl(sqs.queueBase, queue),
        MaxNumberOfMessages: most,
        MessageSystemAttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      }),
    );
    return Messages;
  };
  const acknowledge = async (queue: string, messages: readonly Message[]): Promise<void> => {
    if (messages.length === 0) return;
    await sqs.client.send(
      new DeleteMessageBatchCommand({
        QueueUrl: queueUrl(sqs.queueBase, queue),
        Entries: messages.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle })),
      }),
    );
  };
  return {
    env,
    front,
    lines,
    dynamodb,
    sqs,
    bundled,
    receive,
    acknowledge,
    /** The handler of a function as it is deployed, in this process. */
    async handler(name: FunctionName, workflowsFile = "workflows.ts", buildName = "build-1"): Promise<Handler> {
      process.env[envNames.build] = buildName;
      const file = await bundled(name, workflowsFile, buildName);
      const { handler } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { handler: Handler };
      return handler;
    },
    engine: (workflows: readonly AnyWorkflow[]): Engine =>
      createEngine({
        ...partsFrom(process.env),
        // what a test asks for by itself is nobody's log line
        log: { write: () => undefined },
        metrics: { count: () => undefined, flush: async () => undefined },
        registry: createRegistry(workflows),
        limits: { ...defaultLimits, ...limits },
      }),
    /**
     * One invocation: receives, calls, and deletes what was not handed back, as an event source mapping does. An answer that names
     * what was not in the batch is an error here: Lambda would hand the whole batch back.
     */
    async invoke(handler: Handler, queue: string, { most = 10, remainingMs = 30_000 } = {}) {
      const messages = await receive(queue, most);
      if (messages.length === 0) return { messages, handedBack: [] };
      const { batchItemFailures } = await handler(eventOf(messages, `arn:of:${queue}`), contextOf(remainingMs));
      const handedBack = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
      const ids = messages.map(({ MessageId }) => MessageId ?? "");
      const strange = handedBack.filter((id, at) => !ids.includes(id) || handedBack.indexOf(id) !== at);
      if (strange.length > 0) throw new Error(`handed back what was not in the batch, or twice: ${strange.join(", ")}`);
      await acknowledge(
        queue,
        messages.filter(({ MessageId }) => !handedBack.includes(MessageId ?? "")),
      );
      return { messages, handedBack };
    },
    async close() {
      process.stdout.write = print;
      await front.stop();
      await dynamodb.close();
      await sqs.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An installation with the workflows of this folder: an engine on it, and the handlers that most tests call. */
export async function prepare(limits: object = {}) {
  const here = await install({ limits });
  const [coordinator, worker] = [await here.handler("coordinator"), await here.handler("worker")];
  return { here, engine: here.engine(workflows), coordinator, worker };
}

export type Installation = Awaited<ReturnType<typeof install>>;

function parsed(chunk: string): Line[] {
  return chunk.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return [];
    return [JSON.parse(line) as Line];
  });
}

/** Names of metrics that were printed, with their sums. */
export function metricsOf(lines: readonly Line[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const line of lines) {
    const { _aws: meta } = line as { _aws?: { CloudWatchMetrics: { Metrics: { Name: string }[] }[] } };
    for (const { Name } of meta?.CloudWatchMetrics[0]?.Metrics ?? [])
      sums[Name] = (sums[Name] ?? 0) + [line[Name]].flat().reduce((sum: number, value) => sum + Number(value), 0);
  }
  return sums;
}

export const errorsIn = (lines: readonly Line[]): readonly Line[] => lines.filter(({ level }) => level === "error");

/** An event as Lambda hands it over, as it was recorded, with these bodies. Ids are `m-0`, `m-1`, ... */
export function recorded(bodies: readonly string[], receiveCount = 1): SQSEvent {
  const file = new URL("./recorded-sqs-event.json", import.meta.url);
  const [record] = (JSON.parse(readFileSync(file, "utf8")) as SQSEvent).Records;
  if (!record) throw new Error("nothing was recorded");
  const attributes = { ...record.attributes, ApproximateReceiveCount: String(receiveCount) };
  return { Records: bodies.map((body, at) => ({ ...record, messageId: `m-${at}`, body, attributes })) };
}
