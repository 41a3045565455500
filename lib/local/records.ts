import type { Message } from "@aws-sdk/client-sqs";
import type { SQSEvent, SQSMessageAttributes, SQSRecord } from "aws-lambda";
import { region } from "./endpoint.ts";

/** Received messages in the shape in which Lambda hands them to a function. */
export function eventOf(messages: readonly Message[], queueArn: string): SQSEvent {
  return { Records: messages.map((message) => recordOf(message, queueArn)) };
}

function recordOf(message: Message, queueArn: string): SQSRecord {
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    attributes: {
      ...message.Attributes,
      ApproximateReceiveCount: message.Attributes?.ApproximateReceiveCount ?? "1",
      SentTimestamp: message.Attributes?.SentTimestamp ?? "0",
      SenderId: message.Attributes?.SenderId ?? "",
      ApproximateFirstReceiveTimestamp: message.Attributes?.ApproximateFirstReceiveTimestamp ?? "0",
    },
    messageAttributes: attributesOf(message),
    md5OfBody: message.MD5OfBody ?? "",
    eventSource: "aws:sqs",
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}

function attributesOf({ MessageAttributes: attributes = {} }: Message): SQSMessageAttributes {
  const mapped: SQSMessageAttributes = {};
  for (const [name, { DataType: dataType = "String", StringValue, BinaryValue }] of Object.entries(attributes)) {
    mapped[name] = {
      dataType,
      ...(StringValue === undefined ? {} : { stringValue: StringValue }),
      ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString("base64") }),
      stringListValues: [],
      binaryListValues: [],
    };
  }
  return mapped;
}
