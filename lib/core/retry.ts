import type { RetryPolicy } from "./definition.ts";
import { fractionOf } from "./hash.ts";

/**
 * Pause between the end of one try and the next, in milliseconds. `tries` have ended so far (at least 1). The chance in it comes
 * from `seed` alone, so every process computes the same pause: the tick stays pure.
 */
export function retryDelayMs(policy: RetryPolicy, tries: number, seed: string): number {
  const grown = policy.firstDelayMs * policy.factor ** (tries - 1);
  const full = Math.min(policy.longestDelayMs, Number.isFinite(grown) ? grown : policy.longestDelayMs);
  return Math.round(full * (1 - policy.jitter) + full * policy.jitter * fractionOf(seed));
}
