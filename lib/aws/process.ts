import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Clock, Random } from "../ports.ts";

/** The machine's clock. */
export const processClock: Clock = {
  nowMs: () => Date.now(),
  async sleep(delayMs, signal) {
    if (!(delayMs > 0)) return;
    try {
      await wait(delayMs, undefined, { signal });
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

/** The machine's randomness. */
export const processRandom: Random = {
  fraction: () => Math.random(),
  token: () => randomBytes(8).toString("hex"),
};
