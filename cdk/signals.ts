import { Duration } from "aws-cdk-lib";
import { type IMetric, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { indexes } from "../lib/aws/names.ts";
import type { MetricName } from "../lib/core/metrics.ts";

/** What alarms and the dashboard look at, by the minute count of the alarms. */
const period = Duration.minutes(5);

/** A metric of the engine, whatever its dimensions: the name is one of the code's. */
export function engineMetric(namespace: string, metricName: MetricName, statistic = "Sum"): Metric {
  return new Metric({ namespace, metricName, statistic, period });
}

/** A metric that Lambda keeps of a function. */
export function functionMetric(fn: NodejsFunction, name: string, statistic = "Sum"): Metric {
  return fn.metric(name, { statistic, period });
}

/** A metric of the table, or of one of its indexes: what throttles an index is not in the table's own. */
export function tableMetric(table: ITable | TableV2, metricName: string, index?: string): Metric {
  return new Metric({
    namespace: "AWS/DynamoDB",
    metricName,
    statistic: "Sum",
    period,
    dimensionsMap: { TableName: table.tableName, ...(index !== undefined && { GlobalSecondaryIndexName: index }) },
  });
}

/** The table and its indexes: `undefined` is the table. */
export const tableParts: readonly (string | undefined)[] = [
  undefined,
  ...Object.values(indexes).map(({ name }) => name),
];

/** Throttled reads and writes of the table or an index. */
export function throttledOf(table: ITable | TableV2, index: string | undefined): IMetric {
  // a graph of several takes no id twice
  const [reads, writes] = [`reads_${index ?? "table"}`, `writes_${index ?? "table"}`];
  return new MathExpression({
    expression: `FILL(${reads}, 0) + FILL(${writes}, 0)`,
    usingMetrics: {
      [reads]: tableMetric(table, "ReadThrottleEvents", index),
      [writes]: tableMetric(table, "WriteThrottleEvents", index),
    },
    label: `throttled, ${index ?? "table"}`,
    period,
  });
}
