import type { SQSEvent, SQSRecord } from "aws-lambda";

/** A record as Lambda hands it over, by default received for the second time. */
export function record(messageId: string, over: Partial<SQSRecord> = {}): SQSRecord {
  return {
    messageId,
    receiptHandle: `handle-of-${messageId}`,
    body: `{"id":"${messageId}"}`,
    attributes: {
      ApproximateReceiveCount: "2",
      SentTimestamp: "1700000000000",
      SenderId: "me",
      ApproximateFirstReceiveTimestamp: "1700000000001",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:queue",
    awsRegion: "us-east-1",
    ...over,
  };
}

/** An event of these records. */
export const batchOf = (...records: readonly SQSRecord[]): SQSEvent => ({ Records: [...records] });
