import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";

export interface ClientOptions {
  /** Of an emulator; the real service unless given. Path-style addresses are used with it. */
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly connectionTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
}

/**
 * Clients with explicit time-outs, far below a function's own: a frozen function wakes with dead sockets, and without time-outs such a
 * request hangs until the function is killed. One attempt a request: the adapters repeat what may be repeated. To be made once a
 * process, at module scope, so that connections are kept.
 */
export function createDynamodbClient(options: ClientOptions = {}): DynamoDBClient {
  return new DynamoDBClient({ ...settings(options, 3000), maxAttempts: 1 });
}

/** The same for SQS. The request time-out is for sending; a long poll needs more: pass `requestTimeoutMs`. */
export function createSqsClient(options: ClientOptions = {}): SQSClient {
  return new SQSClient({ ...settings(options, 5000), maxAttempts: 1 });
}

/** The same for EventBridge. */
export function createEventBridgeClient(options: ClientOptions = {}): EventBridgeClient {
  return new EventBridgeClient({ ...settings(options, 3000), maxAttempts: 1 });
}

/** The same for S3. Objects are written once by name, so the SDK may repeat requests by itself. */
export function createS3Client(options: ClientOptions = {}): S3Client {
  return new S3Client({
    ...settings(options, 20_000),
    maxAttempts: 3,
    forcePathStyle: options.endpoint !== undefined,
  });
}

function settings(options: ClientOptions, requestTimeoutMs: number) {
  return {
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(options.region !== undefined && { region: options.region }),
    ...(options.credentials !== undefined && { credentials: options.credentials }),
    requestHandler: {
      connectionTimeout: options.connectionTimeoutMs ?? 1000,
      requestTimeout: options.requestTimeoutMs ?? requestTimeoutMs,
      // without it the SDK only warns
      throwOnRequestTimeout: true,
    },
  };
}
