import { type Duration, durationMend, durationMs } from "../authoring/duration.ts";

/** The milliseconds of a duration; throws for what is none. */
export function spanMs(duration: Duration): number {
  const ms = durationMs(duration);
  if (ms === undefined) throw new RangeError(`${JSON.stringify(duration)} is no duration: ${durationMend}`);
  return ms;
}
