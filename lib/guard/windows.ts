import { defaultLimits } from "../core/limits.ts";
import type { Random } from "../ports.ts";

/**
 * How long to wait before an attempt, in whole milliseconds: anything from nothing to the attempt's window, evenly spread ("full
 * jitter"), so that the losers of one race do not meet again. Attempts count from 1, which has no pause; past the last window:
 * `undefined`, give up.
 * Source: AWS Architecture Blog, "Exponential Backoff And Jitter".
 */
export function pauseBefore(
  attempt: number,
  random: Pick<Random, "fraction">,
  windowsMs: readonly number[] = defaultLimits.commitWindowsMs,
): number | undefined {
  const windowMs = windowsMs[attempt - 1];
  return windowMs === undefined ? undefined : Math.floor(random.fraction() * (windowMs + 1));
}
