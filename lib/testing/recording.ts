import type { Dimensions, MetricName } from "../core/metrics.ts";
import type { Log, Metrics } from "../ports.ts";

export type LogEntry = {
  readonly level: Parameters<Log["write"]>[0];
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

/** A log that keeps what it gets. */
export interface RecordingLog extends Log {
  readonly entries: readonly LogEntry[];
  of(event: string): readonly LogEntry[];
}

/** A log in memory; what it is given is copied. */
export function createRecordingLog(): RecordingLog {
  const entries: LogEntry[] = [];
  return {
    entries,
    of: (event) => entries.filter((entry) => entry.event === event),
    write: (level, event, fields) => void entries.push({ level, event, fields: structuredClone(fields) }),
  };
}

export type MetricEntry = { readonly name: MetricName; readonly value: number; readonly dimensions: Dimensions };

/** Metrics that count by name. `flushes` says how often they would have gone out. */
export interface RecordingMetrics extends Metrics {
  readonly entries: readonly MetricEntry[];
  readonly flushes: number;
  /** The sum of a metric's values; with dimensions, of those that have all of them. */
  total(name: MetricName, dimensions?: Dimensions): number;
  /** All that is not zero, by name. */
  totals(): { readonly [name in MetricName]?: number };
  reset(): void;
}

/** Metrics in memory. */
export function createRecordingMetrics(): RecordingMetrics {
  const entries: MetricEntry[] = [];
  let flushes = 0;
  return {
    entries,
    get flushes() {
      return flushes;
    },
    count: (name, value = 1, dimensions = {}) => void entries.push({ name, value, dimensions }),
    async flush() {
      flushes += 1;
    },
    total: (name, dimensions = {}) =>
      entries
        .filter((entry) => entry.name === name && isWithin(dimensions, entry.dimensions))
        .reduce((sum, entry) => sum + entry.value, 0),
    totals() {
      const sums: { [name in MetricName]?: number } = {};
      for (const { name, value } of entries) sums[name] = (sums[name] ?? 0) + value;
      return sums;
    },
    reset: () => void entries.splice(0),
  };
}

function isWithin(wanted: Dimensions, given: Dimensions): boolean {
  return Object.entries(wanted).every(([name, value]) => given[name as keyof Dimensions] === value);
}
