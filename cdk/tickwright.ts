import type { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import type { Alarm, Dashboard } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { EventBus, IEventBus } from "aws-cdk-lib/aws-events";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { CfnFunction } from "aws-cdk-lib/aws-lambda";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Bucket, IBucket } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { envNames, metricsNamespace } from "../lib/aws/names.ts";
import { type FunctionRole, wiring, workerOf } from "../lib/aws/wiring.ts";
import { deadQueue, deadTaskQueue, type QueueName, taskQueue, wakeQueue, watchQueue } from "../lib/core/queue-names.ts";
import { digest } from "../lib/digest.ts";
import { createAlarms } from "./alarms.ts";
import { type ApiOptions, createApi } from "./api.ts";
import { createDashboard } from "./dashboard.ts";
import { announceOn } from "./events.ts";
import { createFunction, entryOf } from "./functions.ts";
import { grantFirstSending, grantPayloads, grantRecords, grantSearch, grantSending, grantTaking } from "./grants.ts";
import { letLogsUse } from "./key.ts";
import { attach } from "./mappings.ts";
import { type Plan, planOf } from "./plan.ts";
import type { TickwrightProps } from "./props.ts";
import { createQueues, type Queues, queueBaseOf } from "./queues.ts";
import { runbookPage } from "./runbook.ts";
import { createSchedule } from "./schedule.ts";
import { createBucket, createTable } from "./storage.ts";

export type { Ceilings } from "./alarms.ts";
export type { ApiOptions } from "./api.ts";
export type { FunctionBundling } from "./bundling.ts";
export type { FunctionOptions, MappedOptions } from "./functions.ts";
export type { CoordinatorOptions, GroupOptions, TickwrightProps, WatchdogOptions } from "./props.ts";
export { payloadRules } from "./storage.ts";

/**
 * A Tickwright installation: the table, queues with their dead-letter queues, the coordinator, a worker per group, the watchdog on its
 * schedule, alarms and a dashboard. Code and infrastructure take their names and periods from the same files.
 *
 * `Groups` is taken from `groups`, so that `workers` has exactly those names. A type parameter, `new Tickwright<"default" | "films">(...)`, asks for
 * a choice for each of them. The compiler cannot take the names out of the workflows themselves: they are named by a path, and the type of a
 * workflow tells of its input and output and not of its steps. So synthesis, which loads them, has the last word.
 */
export class Tickwright<Groups extends string = string> extends Construct {
  readonly table: ITable | TableV2;
  readonly bucket: IBucket | Bucket | undefined;
  /** By logical name, such as `wake:standard`. */
  readonly queues: Queues;
  /** URL of the queues up to their suffix, for whoever sends to them. */
  readonly queueBase: string;
  /** CloudWatch namespace of the engine's metrics. */
  readonly metricsNamespace: string;
  readonly coordinator: NodejsFunction;
  readonly watchdog: NodejsFunction;
  /** Closes tasks that no worker could take. */
  readonly deadTasks: NodejsFunction;
  /** By group. */
  readonly workers: Readonly<Record<Groups, NodejsFunction>>;
  /** The function behind the API, and the API: its `apiEndpoint` is the address. */
  readonly api: { readonly handler: NodejsFunction; readonly http: HttpApi } | undefined;
  /** Where the runs are told of. */
  readonly eventBus: EventBus | IEventBus | undefined;
  readonly alarms: readonly Alarm[];
  readonly dashboard: Dashboard | undefined;

  constructor(scope: Construct, id: string, props: TickwrightProps<Groups>) {
    super(scope, id);
    const plan = planOf(this, props);
    const { removalPolicy } = plan;
    const { kmsKey, runbookUrl = runbookPage } = props;
    if (kmsKey) letLogsUse(this, kmsKey);
    this.table = props.table ?? createTable(this, { removalPolicy, kmsKey });
    this.bucket = props.bucket === "none" ? undefined : (props.bucket ?? createBucket(this, { removalPolicy, kmsKey }));
    this.queues = createQueues(this, { prefix: plan.prefix, mappings: plan.mappings, kmsKey });
    this.queueBase = queueBaseOf(plan.prefix, this.queues);
    this.metricsNamespace = metricsNamespace(plan.prefix);

    const build = (
      id: string,
      role: FunctionRole | "api",
      entry: string,
      description: string,
      reservedConcurrency?: number,
    ) =>
      createFunction(this, id, {
        ...plan.optionsOf(role),
        entry: plan.optionsOf(role).entry ?? entryOf(entry),
        workflowsFile: plan.workflowsFile,
        timeoutS: plan.timeoutSOf(role),
        description,
        logRetention: plan.logRetention,
        removalPolicy,
        kmsKey,
        variables: this.variablesOf(plan, role),
        ...(reservedConcurrency !== undefined && { reservedConcurrency }),
      });
    const isReserved = props.watchdog?.isReserved ?? true;
    this.coordinator = build("Coordinator", "coordinator", "coordinator", "Ticks runs.");
    this.watchdog = build(
      "Watchdog",
      "watchdog",
      "watchdog",
      "Finds what is overdue.",
      isReserved ? wiring.watchdogConcurrency : undefined,
    );
    this.deadTasks = build("DeadTasks", "dead-tasks", "watchdog", "Closes tasks that no worker could take.");
    this.workers = Object.fromEntries(
      Object.keys(plan.groups).map((group) => {
        const name = `Worker${group.charAt(0).toUpperCase()}${group.slice(1)}`;
        return [group, build(name, workerOf(group), "worker", `Runs the steps of group ${group}.`)];
      }),
    ) as Record<Groups, NodejsFunction>;
    if (plan.api)
      this.api = this.answering(plan.api, build("Api", "api", "api", "Answers the API."), { ...plan, kmsKey });
    this.nameBuild();
    this.connect(plan);
    this.grant(plan, props.table ? props.table.encryptionKey : kmsKey);
    // the watchdog sends wake-ups and ends nothing; what buries dead tasks may end a run
    this.eventBus = announceOn(
      this,
      props.events,
      this.functions().filter((fn) => fn !== this.watchdog),
    );
    const scheduleDeadQueue = createSchedule(this, this.watchdog, plan.isHalted);
    this.alarms = createAlarms(this, {
      functions: this.functions(),
      looping: [this.coordinator, ...this.workerList()],
      deadQueue: this.queue(deadQueue),
      deadTaskQueue: this.queue(deadTaskQueue),
      scheduleDeadQueue,
      table: this.table,
      metricsNamespace: this.metricsNamespace,
      ceilings: props.ceilings ?? {},
      runbookUrl,
      actions: props.alarmActions ?? [],
    });
    this.dashboard =
      (props.hasDashboard ?? true)
        ? createDashboard(this, {
            functions: this.functions(),
            queues: this.queues,
            table: this.table,
            metricsNamespace: this.metricsNamespace,
            alarms: this.alarms,
            runbookUrl,
          })
        : undefined;
  }

  /** Every function. */
  functions(): readonly NodejsFunction[] {
    const others = [this.deadTasks, ...(this.api ? [this.api.handler] : [])];
    return [this.coordinator, this.watchdog, ...others, ...this.workerList()];
  }

  /** The API in front of its function, with a log of who asked for what. */
  private answering(
    options: ApiOptions,
    handler: NodejsFunction,
    {
      logRetention,
      removalPolicy,
      kmsKey,
    }: Pick<Plan, "logRetention" | "removalPolicy"> & { readonly kmsKey: IKey | undefined },
  ) {
    if (options.jwt) handler.addEnvironment(envNames.tenantClaim, options.jwt.tenantClaim);
    const accessLog = new LogGroup(this, "ApiAccessLogs", {
      retention: logRetention,
      removalPolicy,
      ...(kmsKey && { encryptionKey: kmsKey }),
    });
    return { handler, http: createApi(this, { options, handler, accessLog }) };
  }

  private workerList(): readonly NodejsFunction[] {
    return Object.values(this.workers);
  }

  private queue(name: QueueName) {
    const queue = this.queues.get(name);
    if (queue === undefined) throw new Error(`There is no queue ${name}.`);
    return queue;
  }

  private variablesOf(plan: Plan, role: FunctionRole | "api"): Record<string, string> {
    return {
      [envNames.table]: this.table.tableName,
      [envNames.queueBase]: this.queueBase,
      [envNames.metrics]: this.metricsNamespace,
      ...(this.bucket && { [envNames.bucket]: this.bucket.bucketName }),
      ...(role.startsWith("worker:") && { [envNames.group]: role.slice("worker:".length) }),
      ...(Object.keys(plan.limits).length > 0 && { [envNames.limits]: JSON.stringify(plan.limits) }),
    };
  }

  /**
   * Every function is told the build. The watchdog, which wakes what is parked when a build is new, is deployed after all others: sooner, its
   * first round would wake runs into the code that they were parked by, and the next comes a quarter of an hour later.
   */
  private nameBuild(): void {
    const build = buildOf(this.functions());
    for (const fn of this.functions()) fn.addEnvironment(envNames.build, build);
    const watchdog = this.watchdog.node.defaultChild as CfnFunction;
    for (const fn of this.functions()) {
      if (fn !== this.watchdog) watchdog.node.addDependency(fn.node.defaultChild as CfnFunction);
    }
  }

  private connect(plan: Plan): void {
    for (const mapping of plan.mappings) {
      const fn = this.consumerOf(mapping.consumer);
      attach(fn, this.queue(mapping.queue), mapping, plan.isHalted);
      grantTaking(fn, this.queue(mapping.queue));
    }
  }

  private consumerOf(role: FunctionRole): NodejsFunction {
    if (role === "coordinator" || role === "watchdog") return this[role];
    return role === "dead-tasks" ? this.deadTasks : this.workers[role.slice("worker:".length) as Groups];
  }

  /** Each function may do what its verb does, and no more. docs/security.md says it in words. */
  private grant({ groups, tiers }: Plan, tableKey: IKey | undefined): void {
    const wakes = tiers.map(wakeQueue);
    const tasks = Object.keys(groups).map(taskQueue);
    for (const fn of [this.coordinator, ...this.workerList()]) {
      grantRecords(fn, this.table, tableKey);
      grantPayloads(fn, this.bucket);
      grantSending(fn, this.queues, [...wakes, ...tasks, deadQueue]);
    }
    if (this.api) {
      grantRecords(this.api.handler, this.table, tableKey);
      grantPayloads(this.api.handler, this.bucket);
      // a run's first messages, its signals' wake-ups
      grantFirstSending(this.api.handler, this.queues, [...wakes, ...tasks]);
    }
    // The coordinator sends a watchdog's wake-up again when it cannot finish it.
    grantSending(this.coordinator, this.queues, [watchQueue]);
    grantRecords(this.watchdog, this.table, tableKey);
    grantSearch(this.watchdog, this.table);
    grantSending(this.watchdog, this.queues, [watchQueue, wakeQueue("standard")]);
    grantRecords(this.deadTasks, this.table, tableKey);
    // A dead task that cannot be buried now goes on as a new message.
    grantSending(this.deadTasks, this.queues, [...wakes, deadTaskQueue, deadQueue]);
  }
}

/** One name for the code of all functions, from the hashes of their bundles: a change of one makes it another build. */
function buildOf(functions: readonly NodejsFunction[]): string {
  const keys = functions.map((fn) => ((fn.node.defaultChild as CfnFunction).code as CfnFunction.CodeProperty).s3Key);
  return digest(keys).slice(0, 12);
}
