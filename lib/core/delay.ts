/** The longest delay of one SQS message. */
const delaySecondsMax = 900;

/**
 * A delay as SQS takes it: whole seconds from 0 to 900, never shorter than asked for unless that is more than a message can wait (then
 * whoever receives it sends it on for the rest). Throws a RangeError for NaN.
 * Source: Amazon SQS API Reference, SendMessage, `DelaySeconds`; the SDK does not check it.
 */
export function toDelaySeconds(delayMs: number): number {
  if (Number.isNaN(delayMs)) throw new RangeError("A delay is not a number.");
  return Math.min(delaySecondsMax, Math.max(0, Math.ceil(delayMs / 1000)));
}
