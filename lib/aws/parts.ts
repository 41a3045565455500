import { defaultLimits, fixed, type Limits } from "../core/limits.ts";
import type { Events, PayloadStore } from "../ports.ts";
import {
  type ClientOptions,
  createDynamodbClient,
  createEventBridgeClient,
  createS3Client,
  createSqsClient,
} from "./clients.ts";
import { invocationFields } from "./current-invocation.ts";
import { createDynamodbStore } from "./dynamodb-store.ts";
import { createEmfMetrics } from "./emf-metrics.ts";
import { createEventBus } from "./event-bus.ts";
import { createJsonLog, type LogLevel, logLevels } from "./json-log.ts";
import { envNames } from "./names.ts";
import { processClock, processRandom } from "./process.ts";
import { createNoPayloads, createS3Payloads } from "./s3-payloads.ts";
import { createSqsQueue } from "./sqs-queue.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Everything that a deployed function works with, from its environment: the ports on AWS, the limits of this installation, and the
 * name of the deploy. Throws with the variable's name if one is missing: the function was not deployed by the construct.
 */
export function partsFrom(env: Environment) {
  const clock = processClock;
  const random = processRandom;
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const build = required(env, envNames.build);
  const options = clientOptionsFrom(env);
  return {
    store: createDynamodbStore({
      client: createDynamodbClient(options),
      tableName: required(env, envNames.table),
      clock,
      random,
    }),
    queue: createSqsQueue({
      client: createSqsClient(options),
      queueBase: required(env, envNames.queueBase),
      clock,
      random,
    }),
    payloads: payloadsFrom(env, options),
    events: eventsFrom(env, options),
    clock,
    random,
    log: createJsonLog({
      print,
      nowMs: clock.nowMs,
      minimum: levelFrom(env),
      fields: () => ({ function: env["AWS_LAMBDA_FUNCTION_NAME"], build, ...invocationFields(env) }),
    }),
    metrics: createEmfMetrics({ namespace: required(env, envNames.metrics), print, nowMs: clock.nowMs }),
    limits: limitsFrom(env),
    build,
  };
}

function levelFrom(env: Environment): LogLevel {
  const text = env[envNames.log] ?? "info";
  const level = logLevels.find((each) => each === text);
  if (level === undefined) throw new Error(`${envNames.log} is ${text}: it must be one of ${logLevels.join(", ")}.`);
  return level;
}

/** An emulator says where it is as the SDK's own tools expect it; buckets then have path-style addresses. */
function clientOptionsFrom(env: Environment): ClientOptions {
  const endpoint = env["AWS_ENDPOINT_URL"];
  return endpoint === undefined ? {} : { endpoint };
}

function payloadsFrom(env: Environment, options: ClientOptions): PayloadStore {
  const bucket = env[envNames.bucket];
  return bucket === undefined
    ? createNoPayloads(fixed.itemPayloadBytesMax)
    : createS3Payloads({ client: createS3Client(options), bucket, clock: processClock });
}

function eventsFrom(env: Environment, options: ClientOptions): Events | undefined {
  const busName = env[envNames.eventBus];
  if (busName === undefined) return undefined;
  const client = createEventBridgeClient(options);
  return createEventBus({ client, busName, clock: processClock, random: processRandom });
}

/** The limits that the installation sets otherwise, over those of the engine. */
function limitsFrom(env: Environment): Limits {
  const text = env[envNames.limits];
  return { ...defaultLimits, ...(text === undefined ? {} : (JSON.parse(text) as Partial<Limits>)) };
}

/** The worker group that this function serves. */
export function groupFrom(env: Environment): string {
  return required(env, envNames.group);
}

/** How the API tells tenants apart. */
export function tenancyFrom(env: Environment): { readonly tenantClaim: string | undefined } {
  return { tenantClaim: env[envNames.tenantClaim] };
}

function required(env: Environment, name: string): string {
  const value = env[name];
  if (value === undefined || value === "")
    throw new Error(`The environment variable ${name} is not set: deploy this function with the construct.`);
  return value;
}
