import { Duration } from "aws-cdk-lib";
import type { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import type { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { EventBus, IEventBus } from "aws-cdk-lib/aws-events";
import type { CfnFunction } from "aws-cdk-lib/aws-lambda";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { Schedule, ScheduleExpression } from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { Construct } from "constructs";
import { envNames, metricsNamespace } from "../lib/aws/names.ts";
import { type FunctionRole, wiring, workerOf } from "../lib/aws/wiring.ts";
import {
  deadQueue,
  deadTaskQueue,
  type QueueName,
  type Tier,
  taskQueue,
  wakeQueue,
  watchQueue,
} from "../lib/core/queue-names.ts";
import { digest } from "../lib/digest.ts";
import { createAlarms } from "./alarms.ts";
import { apiOptionsOf, createApi } from "./api.ts";
import { announceOn } from "./events.ts";
import { attach, createFunction, entryOf, type FunctionOptions } from "./functions.ts";
import { grantFirstSending, grantPayloads, grantRecords, grantSearch, grantSending } from "./grants.ts";
import { type Plan, planOf } from "./plan.ts";
import type { TickwrightProps } from "./props.ts";
import { createQueues, type Queues, queueBaseOf } from "./queues.ts";
import { createBucket, createTable } from "./storage.ts";

export type { ApiOptions } from "./api.ts";
export type { FunctionOptions } from "./functions.ts";
export type { GroupOptions, TickwrightProps } from "./props.ts";

/**
 * A Tickwright installation: the table, queues with their dead-letter queues, the coordinator, a worker per group, the watchdog on its
 * schedule, and alarms. Code and infrastructure take their names and periods from the same files.
 */
export class Tickwright extends Construct {
  readonly table: TableV2;
  readonly bucket: Bucket | undefined;
  /** By logical name, such as `wake:standard`. */
  readonly queues: Queues;
  /** URL of the queues up to their suffix, for whoever sends to them. */
  readonly queueBase: string;
  readonly coordinator: NodejsFunction;
  readonly watchdog: NodejsFunction;
  /** By group. */
  readonly workers: Readonly<Record<string, NodejsFunction>>;
  /** The function behind the API, and the API: its `apiEndpoint` is the address. */
  readonly api: { readonly handler: NodejsFunction; readonly http: HttpApi } | undefined;
  /** Where the runs are told of. */
  readonly eventBus: EventBus | IEventBus | undefined;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: TickwrightProps) {
    super(scope, id);
    const plan = planOf(props);
    const { prefix, groups, tiers, removalPolicy } = plan;
    this.table = createTable(this, removalPolicy);
    this.bucket = props.hasPayloadBucket === false ? undefined : createBucket(this, removalPolicy);
    this.queues = createQueues(this, prefix, plan.sources, ({ consumer }) => plan.timeoutSOf(consumer));
    this.queueBase = queueBaseOf(prefix, this.queues);

    const build = (
      id: string,
      role: FunctionRole | "api",
      entry: string,
      options: FunctionOptions,
      description: string,
    ) =>
      createFunction(this, id, {
        ...options,
        entry: options.entry ?? entryOf(entry),
        workflowsFile: plan.workflowsFile,
        timeoutS: role === "api" ? (options.timeoutS ?? wiring.apiTimeoutS) : plan.timeoutSOf(role),
        description,
        logRetention: props.logRetention ?? RetentionDays.ONE_MONTH,
        removalPolicy,
        environment: { ...this.environment(plan, role), ...options.environment },
      });
    this.coordinator = build("Coordinator", "coordinator", "coordinator", props.coordinator ?? {}, "Ticks runs.");
    this.watchdog = build(
      "Watchdog",
      "watchdog",
      "watchdog",
      props.watchdog ?? {},
      "Finds what is overdue or given up.",
    );
    this.workers = Object.fromEntries(
      Object.entries(groups).map(([group, options]) => {
        const name = `Worker${group.charAt(0).toUpperCase()}${group.slice(1)}`;
        return [group, build(name, workerOf(group), "worker", options, `Runs the steps of group ${group}.`)];
      }),
    );
    const options = apiOptionsOf(props.api);
    if (options) {
      const handler = build("Api", "api", "api", options, "Answers the API.");
      if (options.jwt) handler.addEnvironment(envNames.tenantClaim, options.jwt.tenantClaim);
      const accessLog = new LogGroup(this, "ApiAccessLogs", {
        retention: props.logRetention ?? RetentionDays.ONE_MONTH,
        removalPolicy,
      });
      this.api = { handler, http: createApi(this, { options, handler, accessLog }) };
    }
    for (const fn of this.functions()) fn.addEnvironment(envNames.build, buildOf(this.functions()));
    this.connect(plan);
    this.grant(Object.keys(groups), tiers);
    // the watchdog sends wake-ups and ticks nothing
    this.eventBus = announceOn(
      this,
      props.events,
      this.functions().filter((fn) => fn !== this.watchdog),
    );
    new Schedule(this, "WatchdogSchedule", {
      schedule: ScheduleExpression.rate(Duration.millis(wiring.watchIntervalMs)),
      description: "Calls the watchdog.",
      // A missed call is made up by the next one; a late one would only run beside it.
      target: new LambdaInvoke(this.watchdog, { retryAttempts: 0, maxEventAge: Duration.minutes(1) }),
    });
    this.alarms = createAlarms(this, {
      functions: Object.fromEntries(this.functions().map((fn) => [fn.node.id, fn])),
      watchdog: this.watchdog,
      deadQueues: { Dead: this.queue(deadQueue), DeadTask: this.queue(deadTaskQueue) },
      metricsNamespace: metricsNamespace(prefix),
      actions: props.alarmActions ?? [],
    });
  }

  /** Every function. */
  functions(): NodejsFunction[] {
    return [this.coordinator, this.watchdog, ...Object.values(this.workers), ...(this.api ? [this.api.handler] : [])];
  }

  private queue(name: QueueName) {
    const queue = this.queues.get(name);
    if (queue === undefined) throw new Error(`There is no queue ${name}.`);
    return queue;
  }

  private environment(plan: Plan, role: FunctionRole | "api"): Record<string, string> {
    return {
      [envNames.table]: this.table.tableName,
      [envNames.queueBase]: this.queueBase,
      [envNames.metrics]: metricsNamespace(plan.prefix),
      ...(this.bucket && { [envNames.bucket]: this.bucket.bucketName }),
      ...(role.startsWith("worker:") && { [envNames.group]: role.slice("worker:".length) }),
      ...(Object.keys(plan.limits).length > 0 && { [envNames.limits]: JSON.stringify(plan.limits) }),
    };
  }

  private connect(plan: Plan): void {
    for (const source of plan.sources) {
      const fn =
        source.consumer === "coordinator"
          ? this.coordinator
          : source.consumer === "watchdog"
            ? this.watchdog
            : this.workers[source.consumer.slice("worker:".length)];
      if (fn) attach(fn, this.queue(source.queue), source, plan.maxConcurrencyOf(source.consumer));
    }
  }

  /** Each function may do what its verb does, and no more. */
  private grant(groups: readonly string[], tiers: readonly Tier[]): void {
    const wakes = tiers.map(wakeQueue);
    const tasks = groups.map(taskQueue);
    for (const fn of [this.coordinator, ...Object.values(this.workers)]) {
      grantRecords(fn, this.table);
      grantPayloads(fn, this.bucket);
      grantSending(fn, this.queues, [...wakes, ...tasks, deadQueue]);
    }
    if (this.api) {
      grantRecords(this.api.handler, this.table);
      grantPayloads(this.api.handler, this.bucket);
      // a run's first messages, its signals' wake-ups
      grantFirstSending(this.api.handler, this.queues, [...wakes, ...tasks]);
    }
    // The coordinator sends a watchdog's wake-up again when it cannot finish it.
    grantSending(this.coordinator, this.queues, [watchQueue]);
    grantRecords(this.watchdog, this.table);
    grantSearch(this.watchdog, this.table);
    // A dead task that cannot be buried now goes on as a new message.
    grantSending(this.watchdog, this.queues, [watchQueue, ...wakes, deadTaskQueue, deadQueue]);
  }
}

/** One name for the code of all functions, from the hashes of their bundles: a change of one makes it another build. */
function buildOf(functions: readonly NodejsFunction[]): string {
  const keys = functions.map((fn) => ((fn.node.defaultChild as CfnFunction).code as CfnFunction.CodeProperty).s3Key);
  return digest(keys).slice(0, 12);
}
