/** A message as a function received it. */
export interface Received {
  readonly id: string;
  readonly body: string;
  /** 1 at the first delivery. */
  readonly receiveCount: number;
  readonly sentAtMs?: number;
  readonly taskKey?: string;
  /** The trace that it came in, as its carrier spells it: handed on with whatever is sent for it, never read. */
  readonly trace?: string;
}

/** Milliseconds that this process may still use. */
export type Remaining = () => number;

/** What becomes of a batch: the ids of the messages that are handed back; all others are acknowledged. */
export type HandedBack = readonly string[];
