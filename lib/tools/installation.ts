import { type AnyWorkflow, createRegistry, type RegistryOptions } from "../authoring/registry.ts";
import {
  type ClientOptions,
  createDynamodbClient,
  createEventBridgeClient,
  createS3Client,
  createSqsClient,
} from "../aws/clients.ts";
import { createDynamodbStore } from "../aws/dynamodb-store.ts";
import { createEventBus } from "../aws/event-bus.ts";
import { processClock, processRandom } from "../aws/process.ts";
import { createNoPayloads, createS3Payloads } from "../aws/s3-payloads.ts";
import { createSqsQueue } from "../aws/sqs-queue.ts";
import { defaultLimits, fixed } from "../core/limits.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import type { Log } from "../ports.ts";

/** Where an installation is: its outputs have the names; a developer's machine prints them when it starts. */
export interface Installation {
  readonly tableName: string;
  /** The URL of its queues up to their own names. Without it nothing can be sent, so it can only be looked at. */
  readonly queueBase?: string;
  /** Name or ARN of the bus that it publishes on: without it, what a run owes when it is started from here is not told. */
  readonly eventBus?: string;
  /** Of payloads that are too big for the table. */
  readonly bucket?: string;
  /** Of a stack on this machine: one for all, or one each. The account's own services unless given. */
  readonly endpoint?: string | { readonly dynamodb: string; readonly sqs: string; readonly s3?: string };
  readonly region?: string;
  /** Those of the environment, unless given or an endpoint is. */
  readonly credentials?: ClientOptions["credentials"];
}

/** An engine on somebody else's installation, with the workflows of this process. `close` ends its connections. */
export function engineOn(
  installation: Installation,
  workflows: readonly AnyWorkflow[],
  options: Pick<RegistryOptions, "keep"> = {},
): { readonly engine: Engine; close(): void } {
  const { tableName, queueBase, bucket, eventBus, endpoint } = installation;
  const [clock, random] = [processClock, processRandom];
  const at = (service: "dynamodb" | "sqs" | "s3" | "events"): ClientOptions => {
    // a bus is where the queues are
    const beside = service === "events" ? "sqs" : service;
    const url = typeof endpoint === "object" ? (endpoint[beside] ?? endpoint.sqs) : endpoint;
    const local = {
      endpoint: url,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
      // an emulator on a busy machine takes its time
      requestTimeoutMs: 15_000,
    };
    return {
      ...(url !== undefined && { ...local, endpoint: url }),
      ...(installation.region !== undefined && { region: installation.region }),
      ...(installation.credentials && { credentials: installation.credentials }),
    };
  };
  const clients = [
    createDynamodbClient(at("dynamodb")),
    createSqsClient(at("sqs")),
    createS3Client(at("s3")),
    createEventBridgeClient(at("events")),
  ] as const;
  const [dynamodb, sqs, s3, eventBridge] = clients;
  const engine = createEngine({
    store: createDynamodbStore({ client: dynamodb, tableName, clock, random }),
    queue: queueBase === undefined ? noQueue : createSqsQueue({ client: sqs, queueBase, clock, random }),
    payloads:
      bucket === undefined
        ? createNoPayloads(fixed.itemPayloadBytesMax)
        : createS3Payloads({ client: s3, bucket, clock }),
    events:
      eventBus === undefined ? undefined : createEventBus({ client: eventBridge, busName: eventBus, clock, random }),
    clock,
    random,
    log: silent,
    metrics: { count: () => undefined, flush: async () => undefined },
    registry: createRegistry(workflows, options),
    limits: defaultLimits,
    build: "tools",
  });
  return {
    engine,
    close: () => {
      for (const client of clients) client.destroy();
    },
  };
}

const silent: Log = { write: () => undefined };

const noQueue: Engine["queue"] = {
  send: async (messages) =>
    messages.map(() => ({
      kind: "failed",
      fault: { code: "denied", message: "no queueBase was given: this installation can only be looked at" },
    })),
  isBehind: async () => false,
};
