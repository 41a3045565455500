import type { RetryPolicy, WorkBody } from "../core/definition.ts";
import { type Duration, durationMend, durationMs } from "./duration.ts";

/** How a failed attempt is tried again. What is left out comes from {@link defaultRetry}. */
export interface Retry {
  /** How often the step may be tried, the first time included. */
  readonly attempts?: number;
  /** Pause before the second attempt. */
  readonly firstDelay?: Duration;
  readonly longestDelay?: Duration;
  /** Each pause is the last one times this. */
  readonly factor?: number;
  /** The share (0 to 1) of a pause that is left to chance, so that many runs do not try again at once. */
  readonly jitter?: number;
}

/** Five attempts, after pauses of up to 1, 2, 4 and 8 seconds. */
export const defaultRetry: RetryPolicy = {
  attempts: 5,
  firstDelayMs: 1000,
  longestDelayMs: 300_000,
  factor: 2,
  jitter: 1,
};

/** One attempt may take this long, unless the step says otherwise. */
export const defaultTimeoutMs = 30_000;

/** Never tried again, or how. */
export type Once = {
  /** Never tried again, not even after a crash: for effects that no idempotency key protects. */
  readonly once: true;
  readonly retry?: never;
};
export type Again = { readonly once?: false; readonly retry?: Retry };

interface Policy {
  readonly once?: boolean;
  readonly retry?: Retry;
  readonly timeout?: Duration;
  readonly heartbeat?: Duration;
  readonly startWithin?: Duration;
}

/** The milliseconds of an option; what is no duration is added to `mends`. */
export function spanOf<D extends number | undefined>(
  name: string,
  duration: Duration | undefined,
  otherwise: D,
  mends: string[],
): number | D {
  if (duration === undefined) return otherwise;
  const given = durationMs(duration);
  if (given === undefined) mends.push(`${name}: ${JSON.stringify(duration)} is no duration, so ${durationMend}`);
  return given ?? otherwise;
}

/** The options of a step or an external that say when an attempt is over and what then, as the definition has them. */

export function policyOf(config: Policy, mends: string[]): Omit<WorkBody, "input" | "handler" | "group"> {
  const ms = <D extends number | undefined>(name: string, duration: Duration | undefined, otherwise: D) =>
    spanOf(name, duration, otherwise, mends);
  const retry: Retry = config.once ? { attempts: 1 } : (config.retry ?? {});
  const firstDelayMs = ms("retry.firstDelay", retry.firstDelay, defaultRetry.firstDelayMs);
  const longest = Math.max(firstDelayMs, defaultRetry.longestDelayMs);
  const heartbeatMs = ms("heartbeat", config.heartbeat, undefined);
  const startWithinMs = ms("startWithin", config.startWithin, undefined);
  return {
    retry: {
      attempts: retry.attempts ?? defaultRetry.attempts,
      firstDelayMs,
      longestDelayMs: ms("retry.longestDelay", retry.longestDelay, longest),
      factor: retry.factor ?? defaultRetry.factor,
      jitter: retry.jitter ?? defaultRetry.jitter,
    },
    timeoutMs: ms("timeout", config.timeout, defaultTimeoutMs),
    ...(heartbeatMs !== undefined && { heartbeatMs }),
    ...(startWithinMs !== undefined && { startWithinMs }),
  };
}
