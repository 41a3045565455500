/** Milliseconds, or a number with its unit: seconds, minutes, hours, days. */
export type Duration = number | `${number}${"s" | "m" | "h" | "d"}`;

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a duration, or `undefined` for what is none: `"5 m"`, `"0x10s"` and fractions of a millisecond are not. */
export function durationMs(duration: unknown): number | undefined {
  if (typeof duration === "number") return Number.isInteger(duration) && duration >= 0 ? duration : undefined;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(typeof duration === "string" ? duration : "") ?? [];
  if (amount === undefined) return undefined;
  const ms = Number(amount) * unitMs[unit as keyof typeof unitMs];
  return Number.isInteger(ms) ? ms : undefined;
}

/** What to write instead of `duration`. */
export const durationMend = 'write whole milliseconds, or "30s", "5m", "2h", "3d"';
