import type { MailCursor } from "./run.ts";

/**
 * Which signals of the mailbox a run has dealt with. Signals are taken when a node waits for them, so an unwanted one stands
 * before nothing: all below `signals` are dealt with, and bit j of `mask` says so of `signals + j`.
 */
export function isTaken(cursor: MailCursor, seq: number): boolean {
  if (seq < cursor.signals) return true;
  const bit = seq - cursor.signals;
  return bit < 32 && ((cursor.mask >>> bit) & 1) === 1;
}

/** The cursor after one more signal. Throws a RangeError beyond the mask: the mailbox holds no more than it has bits. */
export function take(cursor: MailCursor, seq: number): MailCursor {
  const bit = seq - cursor.signals;
  if (bit < 0 || bit > 31) throw new RangeError(`signal ${seq} is outside the mailbox at ${cursor.signals}`);
  let mask = (cursor.mask | (1 << bit)) >>> 0;
  let signals = cursor.signals;
  while (mask & 1) {
    mask >>>= 1;
    signals += 1;
  }
  return { ...cursor, signals, mask };
}

/** How many signals beyond the cursor were taken out of order. */
export function takenAhead(cursor: MailCursor): number {
  let count = 0;
  for (let mask = cursor.mask; mask; mask &= mask - 1) count += 1;
  return count;
}
