import { pauseBefore } from "../guard/windows.ts";
import type { Clock, Random } from "../ports.ts";
import { classify, type ErrorClass } from "./errors.ts";

/** What adapters wait with. */
export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
}

/** Full-jitter windows of the tries of one request; with the time-outs of `clients.ts` they fit into a function's reserve. */
export const retryWindowsMs = [0, 50, 100, 200] as const;

/**
 * Asks again, after a pause, while the error is of a class that another try may mend. What the last try throws is thrown. The SDK's
 * own retries are off: it repeats writes silently, and then nobody knows whether the first was applied.
 */
export async function retrying<T>(
  { clock, random }: Patience,
  kinds: readonly ErrorClass[],
  ask: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      const pauseMs = pauseBefore(attempt + 1, random, retryWindowsMs);
      if (pauseMs === undefined || signal?.aborted || !kinds.includes(classify(error))) throw error;
      await clock.sleep(pauseMs);
    }
  }
}
