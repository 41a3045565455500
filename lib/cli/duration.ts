/** A duration as people say it, in at most two units: `0 ms`, `840 ms`, `3.2 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${Number((ms / 1000).toFixed(1))} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return both(seconds, 60, "min", 1, "s");
  if (seconds < 86_400) return both(seconds, 3600, "h", 60, "min");
  return both(seconds, 86_400, "d", 3600, "h");
}

function both(seconds: number, big: number, bigName: string, small: number, smallName: string): string {
  const smalls = Math.floor((seconds % big) / small);
  const bigs = `${Math.floor(seconds / big)} ${bigName}`;
  return smalls === 0 ? bigs : `${bigs} ${smalls} ${smallName}`;
}

/** Steps of a time axis that people read without thinking. */
const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000, 2_592_000_000,
];

/** The smallest readable step that cuts a span into at most this many parts. */
export function axisStepMs(spanMs: number, partsMax: number): number {
  return steps.find((step) => spanMs / step <= partsMax) ?? Math.ceil(spanMs / partsMax);
}
