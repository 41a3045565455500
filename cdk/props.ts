import type { RemovalPolicy } from "aws-cdk-lib";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { EventBus, IEventBus } from "aws-cdk-lib/aws-events";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Bucket, IBucket } from "aws-cdk-lib/aws-s3";
import type { Limits } from "../lib/core/limits.ts";
import type { Tier } from "../lib/core/queue-names.ts";
import type { Ceilings } from "./alarms.ts";
import type { ApiOptions } from "./api.ts";
import type { FunctionOptions, MappedOptions } from "./functions.ts";

/** What may be chosen of a worker group. */
export interface GroupOptions extends MappedOptions {
  /**
   * Unless given: ten seconds more than the longest step of the group may take, and at least a minute. Long enough for every step, and no longer:
   * a worker that dies unseen is made up for after its lease, but its queue hides the message for six of these, and strikes
   * against a run are further apart than the longest of them.
   */
  readonly timeoutS?: number;
  /** Keeps a group that no workflow names any more, for the runs of an earlier deploy that still do. */
  readonly isKept?: boolean;
}

/** What may be chosen of the coordinator: it alone takes messages in batches, as it runs no user's code. */
export interface CoordinatorOptions extends MappedOptions {
  /** Wake-ups per invocation, 1 to 10; 10 unless given. The watchdog's come alone, always: one may kill its function. */
  readonly batchSize?: number;
  /** Seconds that SQS gathers a batch, 0 to 300; 0 unless given: each second is one that a run waits. */
  readonly batchWindowS?: number;
}

/** What may be chosen of the watchdog. */
export interface WatchdogOptions extends FunctionOptions {
  /**
   * Keeps one invocation of the account's concurrency for the watchdog, so that two sweeps never run at once; yes unless said
   * otherwise. A new account, whose limit is 10, refuses any reservation: say no there until the limit is raised. Sweeps beside each other cost
   * duplicates, and harm nothing.
   */
  readonly isReserved?: boolean;
}

/** Choices of an installation; only the workflows have no default. `Groups` are the names of the worker groups: see {@link Tickwright}. */
export interface TickwrightProps<Groups extends string = string> {
  /**
   * File, relative to where the CDK runs, that exports `workflows`, a list of all that shall be run. It is loaded at synthesis, so
   * without top-level `await`, and bundled with esbuild, which has to be installed.
   */
  readonly workflows: string;
  /**
   * Start of the queues' names: at most 39 letters, digits and hyphens. Unless given it is made of the stack's name and the construct's path
   * in it, so that no two installations of an account meet. The queues alone have names, because the code finds a queue's URL by its logical
   * name; the table, the bucket, functions, roles and log groups have those that CloudFormation gives them. Another prefix means other queues.
   */
  readonly prefix?: string;
  /**
   * Worker groups by name, each a function of its own with its own role. Unless given, every group that the workflows name; if
   * given, it names all of them. Synthesis loads the workflows and refuses a step without a group and a group without a step.
   */
  readonly groups?: Readonly<Record<Groups, GroupOptions>>;
  /** Wake-up queues; `standard` unless given. */
  readonly tiers?: readonly Tier[];
  readonly coordinator?: CoordinatorOptions;
  readonly watchdog?: WatchdogOptions;
  /** The function that closes tasks which no worker could take. */
  readonly deadTasks?: MappedOptions;
  /**
   * The HTTP API: `"http"` unless said otherwise, with signed requests (IAM), so that nobody outside the account gets in and an idle
   * one costs nothing; options for tokens, browsers and throttles; `"none"` for neither API nor function.
   */
  readonly api?: "http" | "none" | ApiOptions;
  /** A bus on which ends of runs and opened gates are told, at least once: yours, or one of the construct's own. None unless given. */
  readonly events?: EventBus | IEventBus | boolean;
  /**
   * A table that is there already, such as a restored one: `TableV2.fromTableAttributes` or `fromTableName`. It needs the keys and both
   * indexes of ours; what is said here of the table (its removal, `kmsKey`) then does not reach it, and expiry, point-in-time
   * recovery and deletion protection, which a restore does not bring back, are its owner's: docs/deploy.md, "Restoring the table".
   */
  readonly table?: ITable | TableV2;
  /**
   * A bucket that is there already, for payloads too big for the table; its owner adds {@link payloadRules} to it. `"none"`: nothing
   * bigger than a record of the table can be stored. A bucket of the installation unless given.
   */
  readonly bucket?: IBucket | Bucket | "none";
  /**
   * Encrypts the table, the queues, the bucket and the log groups; AWS's own keys do unless given. A key that is only imported needs a policy that lets
   * CloudWatch Logs of this account use it. Functions may use it through these services only.
   */
  readonly kmsKey?: IKey;
  readonly limits?: Partial<Limits>;
  /** What becomes of the data when the construct is removed: kept, and the table protected against deletion, unless said otherwise. */
  readonly removalPolicy?: RemovalPolicy;
  /** One month unless given. */
  readonly logRetention?: RetentionDays;
  /** Who is told when an alarm goes off. */
  readonly alarmActions?: readonly IAlarmAction[];
  /**
   * How much invocation and writing is alarming: more than so many in five minutes, three times in a row. `"learnt"`: a band that CloudWatch learns in two
   * weeks and that costs three alarm metrics each. Emulators know no such bands.
   */
  readonly ceilings?: Ceilings | "learnt";
  /** Where your copy of the runbook is read, without an anchor: alarms link to it. The page of the package unless given. */
  readonly runbookUrl?: string;
  /** A CloudWatch dashboard; yes unless said otherwise (three of an account are free, then 3 US$ a month each). */
  readonly hasDashboard?: boolean;
}
