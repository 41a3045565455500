import { Duration, Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule, ScheduleExpression } from "aws-cdk-lib/aws-scheduler";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { wiring } from "../lib/aws/wiring.ts";
import { acknowledge } from "./acknowledged.ts";
import { encryptionOf } from "./queues.ts";

/**
 * Calls the watchdog every minute. A missed call is made up by the next one; a late one would only run beside it. What the scheduler cannot
 * deliver goes to a dead-letter queue of its own, encrypted with AWS's key: a call carries nothing of anybody's. (The CDK's own target would let
 * the schedule call every version of the function, and share its role with other schedules of the stack.)
 */
export function createSchedule(scope: Construct, watchdog: IFunction, isHalted: boolean): Queue {
  const dead = new Queue(scope, "ScheduleDead", {
    retentionPeriod: Duration.days(wiring.deadRetentionDays),
    ...encryptionOf(undefined),
    enforceSSL: true,
  });
  acknowledge(dead, "AwsSolutions-SQS3", "It is the dead-letter queue of the schedule.");
  const allowed = (action: string, resource: string) =>
    new PolicyStatement({ actions: [action], resources: [resource] });
  const role = new Role(scope, "ScheduleRole", {
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: { StringEquals: { "aws:SourceAccount": Stack.of(scope).account } },
    }),
    description: "Lets the schedule call the watchdog.",
    inlinePolicies: {
      call: new PolicyDocument({
        statements: [allowed("lambda:InvokeFunction", watchdog.functionArn), allowed("sqs:SendMessage", dead.queueArn)],
      }),
    },
  });
  new CfnSchedule(scope, "WatchdogSchedule", {
    scheduleExpression: ScheduleExpression.rate(Duration.millis(wiring.watchIntervalMs)).expressionString,
    flexibleTimeWindow: { mode: "OFF" },
    description: "Calls the watchdog.",
    state: isHalted ? "DISABLED" : "ENABLED",
    target: {
      arn: watchdog.functionArn,
      roleArn: role.roleArn,
      retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
      deadLetterConfig: { arn: dead.queueArn },
    },
  });
  return dead;
}
