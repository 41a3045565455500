import type { Dimensions, MetricName } from "../core/metrics.ts";
import type { Metrics } from "../ports.ts";

export interface EmfMetricsOptions {
  /** CloudWatch namespace. */
  readonly namespace: string;
  /** Takes one line without its end. CloudWatch Logs makes metrics of it: no request, no permission. */
  readonly print: (line: string) => void;
  readonly nowMs: () => number;
}

/** CloudWatch takes at most this many values of one metric in a line. */
const valuesMax = 100;

/**
 * Metrics in the embedded metric format. Counts of an invocation are summed up and leave with `flush`; durations and sizes keep their
 * single values, for percentiles. Each is written with its dimensions and without any, so that an alarm needs to know none.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function createEmfMetrics({ namespace, print, nowMs }: EmfMetricsOptions): Metrics {
  const books = new Map<string, { dimensions: Dimensions; values: Map<MetricName, number[]> }>();

  const lineOf = (dimensions: Dimensions, values: ReadonlyMap<MetricName, readonly number[]>): string => {
    const names = Object.keys(dimensions);
    return JSON.stringify({
      _aws: {
        Timestamp: nowMs(),
        CloudWatchMetrics: [
          {
            Namespace: namespace,
            Dimensions: names.length > 0 ? [[], names] : [[]],
            Metrics: [...values.keys()].map((name) => ({ Name: name, Unit: unitOf(name) })),
          },
        ],
      },
      ...dimensions,
      ...Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list])),
    });
  };

  return {
    count(name, value = 1, dimensions = {}) {
      const sorted = Object.entries(dimensions)
        .filter(([, text]) => text !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1));
      const key = JSON.stringify(sorted);
      const book = books.get(key) ?? {
        dimensions: Object.fromEntries(sorted),
        values: new Map<MetricName, number[]>(),
      };
      books.set(key, book);
      const before = book.values.get(name) ?? [];
      if (unitOf(name) === "Count") book.values.set(name, [(before[0] ?? 0) + value]);
      else book.values.set(name, [...before, value]);
    },
    async flush() {
      const taken = [...books.values()];
      books.clear();
      for (const { dimensions, values } of taken) {
        const longest = Math.max(...[...values.values()].map((list) => list.length));
        for (let from = 0; from < longest; from += valuesMax) {
          const part = [...values].map(([name, list]) => [name, list.slice(from, from + valuesMax)] as const);
          print(lineOf(dimensions, new Map(part.filter(([, list]) => list.length > 0))));
        }
      }
    },
  };
}

function unitOf(name: MetricName): "Milliseconds" | "Percent" | "Bytes" | "Count" {
  if (name.endsWith("-ms")) return "Milliseconds";
  if (name.endsWith("-percent")) return "Percent";
  return name.endsWith("-bytes") ? "Bytes" : "Count";
}
