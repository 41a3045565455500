import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { HandedBack, Received } from "../ports/received.ts";
import { attributeNames } from "./names.ts";

/** A defect of the code, not of a run: for an error log. */
export interface Defect {
  readonly what: string;
  readonly cause?: unknown;
}

/** What a batch ended with: Lambda's answer, and what went wrong with the code on the way (never with a single run). */
export interface BatchOutcome {
  readonly response: SQSBatchResponse;
  /** How many messages are handed back: they become visible again after the queue's visibility time-out. */
  readonly handedBack: number;
  /** Defects: a record that could not be mapped, a verb that threw or named an unknown message. */
  readonly defects: readonly Defect[];
}

/**
 * One SQS record as the engine sees it. Throws if the record is not what SQS promises (no text, no receive count):
 * `runBatch` hands such a record back alone.
 */
export function toReceived(record: SQSRecord): Received {
  const { messageId, body, attributes, messageAttributes } = record;
  if (typeof body !== "string") throw new TypeError(`SQS record ${messageId} has no body`);
  const receiveCount = Number(attributes?.ApproximateReceiveCount);
  if (!Number.isInteger(receiveCount) || receiveCount < 1) {
    throw new TypeError(`SQS record ${messageId} has no receive count`);
  }
  const sentAtMs = Number(attributes.SentTimestamp);
  const taskKey = messageAttributes?.[attributeNames.taskKey]?.stringValue;
  return {
    id: messageId,
    body,
    receiveCount,
    ...(Number.isFinite(sentAtMs) ? { sentAtMs } : {}),
    ...(taskKey === undefined ? {} : { taskKey }),
    ...(attributes.AWSTraceHeader === undefined ? {} : { trace: attributes.AWSTraceHeader }),
  };
}

/**
 * An SQS event through a verb of the engine, as Lambda's partial batch response. It does not throw: once a record is done, an
 * exception would hand all of them back. What a verb throws hands back the whole batch, as nobody knows what was done; so does
 * an id that was not in the batch, because some message was meant by it. Both are defects, for the caller to log. Only an event
 * that is none of SQS's throws, before anything is touched.
 *
 * Lambda takes an empty list as success of all, and an unknown, empty or misspelt identifier as failure of all:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export async function runBatch(
  event: SQSEvent,
  verb: (batch: readonly Received[]) => Promise<HandedBack>,
): Promise<BatchOutcome> {
  if (!Array.isArray(event?.Records) || !event.Records.every((record) => typeof record?.messageId === "string")) {
    throw new TypeError("this event is not a batch of SQS records");
  }
  const defects: Defect[] = [];
  const batch: Received[] = [];
  const failed = new Set<string>();
  for (const record of event.Records) {
    try {
      batch.push(toReceived(record));
    } catch (cause) {
      defects.push({ what: "a record could not be read", cause });
      failed.add(record.messageId);
    }
  }
  const ids = new Set(batch.map((message) => message.id));
  const handBack = await handBackOf(verb, batch, defects);
  const unknown = handBack.filter((id) => !ids.has(id));
  if (unknown.length > 0) defects.push({ what: `the verb handed back what it was not given: ${unknown.join(", ")}` });
  for (const id of unknown.length > 0 ? ids : handBack) failed.add(id);
  return {
    response: { batchItemFailures: [...failed].map((itemIdentifier) => ({ itemIdentifier })) },
    handedBack: failed.size,
    defects,
  };
}

async function handBackOf(
  verb: (batch: readonly Received[]) => Promise<HandedBack>,
  batch: readonly Received[],
  defects: Defect[],
): Promise<HandedBack> {
  if (batch.length === 0) return [];
  try {
    return await verb(batch);
  } catch (cause) {
    defects.push({ what: "the verb threw", cause });
    return batch.map((message) => message.id);
  }
}
