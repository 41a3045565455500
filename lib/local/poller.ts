import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { judge } from "./batch-response.ts";
import { invoke, type LambdaFunction } from "./invocation.ts";
import { eventOf } from "./records.ts";

export type BatchFunction = LambdaFunction<SQSEvent, SQSBatchResponse | undefined>;

/** An event source mapping of Lambda, as it would be deployed. */
export interface Mapping {
  readonly queueUrl: string;
  readonly functionName: string;
  readonly run: BatchFunction;
  /** The function's time-out. The queue's visibility time-out must not be shorter, as in AWS. */
  readonly timeoutMs: number;
  /** Messages per invocation, 1 to 10. */
  readonly batchSize: number;
  /** Invocations at once. */
  readonly maxConcurrency: number;
  /** Longest wait of one receive request, 1 to 20 s. */
  readonly waitS?: number;
}

/** What a poller met that a person may want to read. Nothing of it is lost: the messages come again. */
export type PollerNotice = { readonly functionName: string; readonly messages: number } & (
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timed-out"; readonly timeoutMs: number }
  | { readonly kind: "malformed"; readonly reason: string }
  | { readonly kind: "unreachable"; readonly error: unknown }
);

export interface Poller {
  /** Invocations under way, abandoned ones not counted. */
  busy(): number;
  /** Takes no more messages, and waits for the invocations under way. Pending long polls end by themselves or are released. */
  stop(): Promise<void>;
}

/**
 * Polls one queue as Lambda's event source mapping does: up to `maxConcurrency` batches at once, an invocation as soon as a receive
 * brings anything, deletes only what the function did not hand back. What it handed back, and every message of a batch that threw,
 * timed out or answered malformed (E2), stays invisible until the queue's visibility time-out; after `maxReceiveCount` receives the
 * queue's redrive policy moves it. Not played: the recursion check (L1), polling that slows down under throttling.
 */
export async function startPoller(
  client: SQSClient,
  mapping: Mapping,
  notice: (notice: PollerNotice) => void,
): Promise<Poller> {
  const queueArn = await checked(client, mapping);
  const under = new Set<Promise<void>>();
  let isStopping = false;
  let freed = () => {};

  const take = async (messages: readonly Message[]): Promise<void> => {
    const done = await handled(mapping, messages, queueArn, notice);
    if (done.length > 0) await remove(client, mapping, done, notice);
  };
  const loop = async (): Promise<void> => {
    while (!isStopping) {
      if (under.size >= mapping.maxConcurrency) {
        await new Promise<void>((resolve) => {
          freed = resolve;
        });
        continue;
      }
      const messages = await receive(client, mapping, notice);
      if (messages.length === 0) continue;
      const taken = take(messages).finally(() => {
        under.delete(taken);
        freed();
      });
      under.add(taken);
    }
  };
  const looping = loop();
  return {
    busy: () => under.size,
    stop: async () => {
      isStopping = true;
      freed();
      await looping;
      await Promise.all(under);
    },
  };
}

/** AWS refuses a mapping whose queue hides messages for a shorter time than its function may run (L5). */
async function checked(client: SQSClient, mapping: Mapping): Promise<string> {
  const asked = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: mapping.queueUrl,
      AttributeNames: ["QueueArn", "VisibilityTimeout"],
    }),
  );
  const visibilityS = Number(asked.Attributes?.VisibilityTimeout);
  if (visibilityS * 1000 < mapping.timeoutMs) {
    throw new Error(
      `Queue visibility timeout: ${visibilityS} seconds is less than the time-out of ${mapping.functionName}: ` +
        `${mapping.timeoutMs / 1000} seconds. AWS refuses this mapping.`,
    );
  }
  return asked.Attributes?.QueueArn ?? "";
}

async function receive(
  client: SQSClient,
  mapping: Mapping,
  notice: (notice: PollerNotice) => void,
): Promise<readonly Message[]> {
  try {
    const received = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: mapping.queueUrl,
        MaxNumberOfMessages: mapping.batchSize,
        WaitTimeSeconds: mapping.waitS ?? 20,
        MessageSystemAttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      }),
    );
    return received.Messages ?? [];
  } catch (error) {
    notice({ kind: "unreachable", functionName: mapping.functionName, messages: 0, error });
    await new Promise((resolve) => setTimeout(resolve, 500));
    return [];
  }
}

/** The messages that may be deleted. */
async function handled(
  { functionName, run, timeoutMs }: Mapping,
  messages: readonly Message[],
  queueArn: string,
  notice: (notice: PollerNotice) => void,
): Promise<readonly Message[]> {
  const about = { functionName, messages: messages.length };
  const invoked = await invoke(functionName, run, eventOf(messages, queueArn), timeoutMs);
  if (invoked.kind === "threw") notice({ ...about, kind: "threw", error: invoked.error });
  if (invoked.kind === "timed-out") notice({ ...about, kind: "timed-out", timeoutMs });
  if (invoked.kind !== "answered") return [];
  const verdict = judge(
    invoked.answer,
    messages.map((message) => message.MessageId ?? ""),
  );
  if (verdict.kind === "failure") {
    notice({ ...about, kind: "malformed", reason: verdict.reason });
    return [];
  }
  return messages.filter((message) => !verdict.failed.has(message.MessageId ?? ""));
}

async function remove(
  client: SQSClient,
  { functionName, queueUrl }: Mapping,
  messages: readonly Message[],
  notice: (notice: PollerNotice) => void,
): Promise<void> {
  const entries = messages.map((message, index) => ({ Id: String(index), ReceiptHandle: message.ReceiptHandle }));
  try {
    await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }));
  } catch (error) {
    notice({ kind: "unreachable", functionName, messages: messages.length, error });
  }
}
