import { Duration } from "aws-cdk-lib";
import {
  Alarm,
  AnomalyDetectionAlarm,
  ComparisonOperator,
  type IAlarmAction,
  type IMetric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import type { ITable, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { MetricName } from "../lib/core/metrics.ts";
import { type RunbookAnchor, runbook } from "./runbook.ts";
import { engineMetric, functionMetric, tableMetric, tableParts } from "./signals.ts";

/** More than this in five minutes is looked at; a hundred invocations and a thousand write units a second unless given. */
export interface Ceilings {
  /** Of one function. */
  readonly invocations?: number;
  /** Of the table. */
  readonly writeUnits?: number;
}

const ceiling = { invocations: 30_000, writeUnits: 300_000 } as const;

/** What alarms watch. */
export interface AlarmParts {
  readonly functions: readonly NodejsFunction[];
  /** Those that messages call: a loop shows in how often. */
  readonly looping: readonly NodejsFunction[];
  readonly deadQueue: Queue;
  readonly deadTaskQueue: Queue;
  readonly scheduleDeadQueue: Queue;
  readonly table: ITable | TableV2;
  readonly metricsNamespace: string;
  readonly ceilings: Ceilings | "learnt";
  readonly runbookUrl: string;
  readonly actions: readonly IAlarmAction[];
}

interface Watch {
  readonly metric: IMetric;
  /** Above it is alarming; 0 unless given. */
  readonly above?: number;
  /** Of the last periods of five minutes, how many; one of one unless given. */
  readonly of?: readonly [periods: number, outOf: number];
  /** Too few values for a percentile leave the alarm as it is. */
  readonly isFewIgnored?: boolean;
}

/** Ten minutes: five sweeps and as many wake-ups. */
const overdueMsMax = 600_000;
/** Standard deviations around what CloudWatch has learnt of the last two weeks. */
const bandWidth = 4;

/** Metrics of the engine of which one is too many. */
const never: { readonly [id in string]: readonly [MetricName, RunbookAnchor] } = {
  ForceFailsAlarm: ["force-fails", "force-fails"],
  ForceFailsHeldAlarm: ["force-fails-held", "force-fails-held"],
  UncompensatedAlarm: ["uncompensated", "uncompensated"],
  PoisonAlarm: ["messages-dead", "poison-messages"],
  LostDeliveriesAlarm: ["deliveries-lost", "lost-deliveries"],
};

/**
 * What a person must look at, each with what to do and where to read on. A quiet installation reports nothing, so silence is good, but for
 * the watchdog's.
 */
export function createAlarms(scope: Construct, parts: AlarmParts): readonly Alarm[] {
  const { metricsNamespace: namespace, table, ceilings } = parts;
  const { invocations = ceiling.invocations, writeUnits = ceiling.writeUnits } = ceilings === "learnt" ? {} : ceilings;
  const alarms: Alarm[] = [];
  const describe = (anchor: RunbookAnchor) => `${runbook[anchor]} ${parts.runbookUrl}#${anchor}`;
  const watch = (
    id: string,
    anchor: RunbookAnchor,
    { metric, above = 0, of: [periods, outOf] = [1, 1], isFewIgnored }: Watch,
  ) => {
    const alarm = new Alarm(scope, id, {
      metric,
      threshold: above,
      evaluationPeriods: outOf,
      datapointsToAlarm: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: describe(anchor),
      ...(isFewIgnored && { evaluateLowSampleCountPercentile: "ignore" }),
    });
    alarms.push(alarm);
  };
  const watchLoad = (id: string, anchor: RunbookAnchor, metric: IMetric, ceiling: number) => {
    if (ceilings !== "learnt") return watch(id, anchor, { metric, above: ceiling, of: [3, 3] });
    const alarm = new AnomalyDetectionAlarm(scope, id, {
      metric,
      stdDevs: bandWidth,
      evaluationPeriods: 3,
      comparisonOperator: ComparisonOperator.GREATER_THAN_UPPER_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: describe(anchor),
    });
    alarms.push(alarm);
  };
  const silent = new Alarm(scope, "NoSweepAlarm", {
    metric: engineMetric(namespace, "watchdog-sweeps"),
    threshold: 1,
    evaluationPeriods: 1,
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: TreatMissingData.BREACHING,
    alarmDescription: describe("no-sweep"),
  });
  alarms.push(silent);

  for (const [id, [name, anchor]] of Object.entries(never))
    watch(id, anchor, { metric: engineMetric(namespace, name) });
  watch("OverdueAlarm", "overdue", {
    metric: engineMetric(namespace, "watchdog-overdue-age-ms", "Maximum"),
    above: overdueMsMax,
    of: [2, 2],
  });
  // a try wins with 0 or loses with 100, so the median says which most do; under 20 tries it says nothing, and changes nothing
  watch("ConflictsAlarm", "conflicts", {
    metric: engineMetric(namespace, "conflicts-percent", "p50"),
    above: 50,
    of: [3, 3],
    isFewIgnored: true,
  });
  // some during a deploy are as they should be
  watch("FormatAheadAlarm", "format-ahead", { metric: engineMetric(namespace, "format-ahead"), of: [4, 4] });

  const waiting = (queue: Queue) =>
    queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5), statistic: "Maximum" });
  watch("DeadAlarm", "dead-letters", { metric: waiting(parts.deadQueue) });
  watch("ScheduleDeadAlarm", "schedule-dead-letters", { metric: waiting(parts.scheduleDeadQueue) });
  // each is closed by its consumer, and metered as a lost delivery: here it is one that stays
  watch("DeadTaskAlarm", "dead-tasks", { metric: waiting(parts.deadTaskQueue), of: [3, 3] });

  for (const fn of parts.functions) {
    const { id } = fn.node;
    watch(`${id}RecursionAlarm`, "recursion", { metric: functionMetric(fn, "RecursiveInvocationsDropped") });
    watch(`${id}ErrorsAlarm`, "errors", { metric: functionMetric(fn, "Errors"), of: [2, 3] });
    watch(`${id}ThrottlesAlarm`, "function-throttles", { metric: functionMetric(fn, "Throttles"), of: [2, 3] });
  }
  for (const fn of parts.looping)
    watchLoad(`${fn.node.id}InvocationsAlarm`, "invocations", functionMetric(fn, "Invocations"), invocations);
  for (const index of tableParts) {
    const part = index === undefined ? "Table" : `Index${index.charAt(0).toUpperCase()}${index.slice(1)}`;
    for (const what of ["Read", "Write"] as const) {
      const metric = tableMetric(table, `${what}ThrottleEvents`, index);
      watch(`${part}${what}ThrottlesAlarm`, "table-throttles", { metric, of: [2, 3] });
    }
  }
  watchLoad("WriteUnitsAlarm", "write-units", tableMetric(table, "ConsumedWriteCapacityUnits"), writeUnits);
  if (parts.actions.length > 0) for (const alarm of alarms) alarm.addAlarmAction(...parts.actions);
  return alarms;
}
