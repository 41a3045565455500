import { Fault } from "../core/faults.ts";
import type { Message } from "../ports.ts";

/**
 * SQS takes 1 MiB for one message, names, types and values of its attributes counted.
 * Source: Amazon SQS Developer Guide, "Amazon SQS message quotas".
 */
const messageBytesMax = 1024 * 1024;

/** Bytes of a message that count. */
export function messageBytes(message: Message): number {
  return (
    utf8Bytes(message.body) + attributeBytes("taskKey", message.taskKey) + attributeBytes("reason", message.reason)
  );
}

/** Why a queue would refuse a message; `undefined` if it would not. Every adapter asks here first. */
export function faultOfMessage(message: Message): Fault | undefined {
  const bytes = messageBytes(message);
  if (message.body === "" || bytes > messageBytesMax) {
    return new Fault("refused", `A message has ${bytes} bytes; it has to have a body and at most ${messageBytesMax}.`);
  }
  if (message.taskKey === "") return new Fault("refused", "A message has an empty task key.");
  if (Number.isNaN(message.delaySeconds)) return new Fault("refused", "The delay of a message is not a number.");
  return undefined;
}

function attributeBytes(name: string, value: string | undefined): number {
  return value ? name.length + "String".length + utf8Bytes(value) : 0;
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
