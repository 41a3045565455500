import { Duration } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IAlarmAction, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { MetricName } from "../lib/core/metrics.ts";

interface AlarmParts {
  readonly functions: Readonly<Record<string, NodejsFunction>>;
  readonly watchdog: NodejsFunction;
  readonly deadQueues: Readonly<Record<string, Queue>>;
  readonly metricsNamespace: string;
  readonly actions: readonly IAlarmAction[];
}

/** What a person must look at, each with what to do in its description. A quiet installation reports nothing, so silence is good. */
export function createAlarms(scope: Construct, parts: AlarmParts): Alarm[] {
  const { functions, watchdog, deadQueues, metricsNamespace, actions } = parts;
  const alarms: Alarm[] = [];
  const above = (id: string, metric: Metric, threshold: number, alarmDescription: string): void => {
    alarms.push(
      new Alarm(scope, id, {
        metric,
        threshold,
        evaluationPeriods: 1,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
        alarmDescription,
      }),
    );
  };
  for (const [id, queue] of Object.entries(deadQueues)) {
    const depth = queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5), statistic: "Maximum" });
    above(`${id}Alarm`, depth, 0, "Messages were given up. Read their reason, mend the cause, redrive them.");
  }
  for (const [id, fn] of Object.entries(functions)) {
    const dropped = fn.metric("RecursiveInvocationsDropped", { period: Duration.minutes(5), statistic: "Sum" });
    above(`${id}RecursionAlarm`, dropped, 0, "Lambda cut a chain of invocations. Its RecursiveLoop must be Allow.");
  }
  const held: MetricName = "force-fails-held";
  above(
    "ForceFailsHeldAlarm",
    new Metric({ namespace: metricsNamespace, metricName: held, statistic: "Sum", period: Duration.minutes(5) }),
    0,
    "Many runs could not be processed at once, and failing them was stopped. A deploy is the likely cause: roll it back.",
  );
  alarms.push(
    new Alarm(scope, "WatchdogSilentAlarm", {
      metric: watchdog.metricInvocations({ period: Duration.minutes(5), statistic: "Sum" }),
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
      alarmDescription: "The watchdog is not called: long timers do not fire and lost messages are not sent again.",
    }),
  );
  for (const alarm of alarms) alarm.addAlarmAction(...actions);
  return alarms;
}
