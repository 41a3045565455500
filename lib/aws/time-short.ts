import type { Context } from "aws-lambda";
import type { Instruments, Invocation, Layer } from "./handler.ts";

/** What is left when the warning is given: a fifth of the invocation's time, at most so long. */
const warnBeforeMsMax = 5_000;

/**
 * Warns while there is still time to say anything: an invocation that Lambda ends leaves no line of its own, only the batch that comes
 * again. Says what it holds; has no say in the answer, and stops nothing.
 */
export function warningOfTime(instruments: () => Promise<Instruments | undefined>): Layer {
  const timers = new WeakMap<Context, NodeJS.Timeout>();
  return {
    before: ({ event, context }) => {
      const remainingMs = context.getRemainingTimeInMillis();
      const leftMs = Math.min(warnBeforeMsMax, Math.round(remainingMs / 5));
      timers.set(context, setTimeout(warn, remainingMs - leftMs, instruments, event, leftMs).unref());
      return undefined;
    },
    after: ({ context }) => {
      clearTimeout(timers.get(context));
      return undefined;
    },
  };
}

async function warn(
  instruments: () => Promise<Instruments | undefined>,
  event: Invocation["event"],
  leftMs: number,
): Promise<void> {
  const found = await instruments();
  found?.log.write("warn", "time-short", { leftMs, holds: heldIn(event) });
  found?.metrics.count("time-short");
  // what is only counted is gone with the process
  await found?.metrics.flush().catch(() => undefined);
}

/** Ids of the messages of a batch, never a body. */
function heldIn(event: unknown): readonly string[] {
  const { Records: records } = (event ?? {}) as { readonly Records?: readonly { readonly messageId?: string }[] };
  return Array.isArray(records) ? records.map(({ messageId = "?" }) => messageId) : [];
}
