import { messageBytes } from "../ports/sendable.ts";
import type { Message } from "../ports.ts";

/** A message and its place among those that were handed over. */
export type Numbered = { readonly message: Message; readonly index: number };

/**
 * SQS takes ten messages a request and 1 MiB for all of them together. Some emulators and older queues stop at 256 KiB, so a batch does
 * too; a single larger message travels alone.
 */
const batchBytesMax = 256 * 1024;
const batchMessagesMax = 10;

/** Messages of one queue each, at most ten and 256 KiB a batch, in their order. */
export function batchesOf(messages: readonly Numbered[]): readonly (readonly Numbered[])[] {
  const batches: Numbered[][] = [];
  for (const ofQueue of Map.groupBy(messages, ({ message }) => message.queue).values()) {
    let batch: Numbered[] = [];
    let bytes = 0;
    for (const one of ofQueue) {
      const size = messageBytes(one.message);
      if (batch.length > 0 && (batch.length === batchMessagesMax || bytes + size > batchBytesMax)) {
        batches.push(batch);
        batch = [];
        bytes = 0;
      }
      batch.push(one);
      bytes += size;
    }
    batches.push(batch);
  }
  return batches;
}
