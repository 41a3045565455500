import { digest } from "../digest.ts";

/**
 * The names that the code and the infrastructure share: both import them from here, so neither can misspell the other's. The attributes
 * of keys and indexes are frozen with format 1.
 */

/** The table's keys, and the attribute (epoch seconds) by which DynamoDB collects what has expired. */
export const tableKeys = { partition: "pk", sort: "sk", expiry: "x" } as const;

/** Sparse, keys-only indexes; each on a string and a number. */
export const indexes = {
  due: { name: "due", partition: "q", sort: "d" },
  runs: { name: "runs", partition: "p", sort: "o" },
} as const;

/** Message attributes of an SQS message. */
export const attributeNames = { taskKey: "taskKey", reason: "reason" } as const;

/** Environment variables of the functions. `queueBase` is a queue's URL up to {@link queueSuffix}; `bucket` may be missing. */
export const envNames = {
  table: "TICKWRIGHT_TABLE",
  queueBase: "TICKWRIGHT_QUEUE_BASE",
  bucket: "TICKWRIGHT_BUCKET",
  group: "TICKWRIGHT_GROUP",
  /** JSON: the part of `Limits` that this installation sets otherwise. */
  limits: "TICKWRIGHT_LIMITS",
  /** Names the deployed code, the same in all functions: strikes of another build do not count. */
  build: "TICKWRIGHT_BUILD",
  /** Name or ARN of the bus that runs are announced on; missing where nothing is published. */
  eventBus: "TICKWRIGHT_EVENT_BUS",
  /** Claim of a token that names the tenant; missing where requests are signed instead. */
  tenantClaim: "TICKWRIGHT_TENANT_CLAIM",
  /** CloudWatch namespace of the metrics. */
  metrics: "TICKWRIGHT_METRICS",
  /** The least level that is logged: `debug`, `info`, `warn` or `error`; `info` unless set. */
  log: "TICKWRIGHT_LOG",
} as const;

/** CloudWatch namespace of an installation's metrics: two in one account do not add up. */
export function metricsNamespace(prefix: string): string {
  return `Tickwright/${prefix}`;
}

/** SQS names have at most 80 characters; what is left of them after a suffix and a separator. */
export const prefixCharsMax = 39;
const suffixCharsMax = 40;

/**
 * The end of a queue's physical name: `wake:standard` is `wake-standard`. SQS knows letters, digits, `-` and `_`; a name with other
 * characters, or too long, is shortened and ends in a digest of the whole.
 */
export function queueSuffix(queue: string): string {
  const plain = queue.replace(":", "-");
  if (/^[A-Za-z0-9_-]+$/.test(plain) && plain.length <= suffixCharsMax) return plain;
  const kept = plain.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, suffixCharsMax - 13);
  return `${kept}-${digest(queue).slice(0, 12)}`;
}

/** A queue's physical name within one installation. */
export function queueName(prefix: string, queue: string): string {
  return `${prefix}-${queueSuffix(queue)}`;
}

/** A queue's URL, from the `queueBase` of the environment. */
export function queueUrl(queueBase: string, queue: string): string {
  return queueBase + queueSuffix(queue);
}

/**
 * Days after which the payload bucket's lifecycle rules collect an object, by the value of its tag. An object gets the first that
 * covers its expiry; the last covers the longest deadline and retention.
 */
export const keepDays = [7, 31, 62, 124, 248, 496, 992] as const;
export const keepDaysTag = "keep-days";
