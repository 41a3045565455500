import type { RemovalPolicy } from "aws-cdk-lib";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";
import type { EventBus, IEventBus } from "aws-cdk-lib/aws-events";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Limits } from "../lib/core/limits.ts";
import type { Tier } from "../lib/core/queue-names.ts";
import type { ApiOptions } from "./api.ts";
import type { FunctionOptions } from "./functions.ts";

/** What may be chosen of a worker group. */
export interface GroupOptions extends FunctionOptions {
  /**
   * Unless given: ten seconds more than the longest step of the group may take, and at least a minute. Long enough for every step, and no longer:
   * a worker that dies unseen is made up for after its lease, but its queue hides the message for six of these, and strikes
   * against a run are further apart than the longest of them.
   */
  readonly timeoutS?: number;
  /** Keeps a group that no workflow names any more, for the runs of an earlier deploy that still do. */
  readonly isKept?: boolean;
}

/** Choices of an installation; only the workflows have no default. */
export interface TickwrightProps {
  /**
   * File, relative to where the CDK runs, that exports `workflows`, a list of all that shall be run. It is loaded at synthesis, so
   * without top-level `await`, and bundled with esbuild, which has to be installed.
   */
  readonly workflows: string;
  /** Start of the queues' names: letters, digits and hyphens. `tickwright` unless given; two installations in one region need two. */
  readonly prefix?: string;
  /**
   * Worker groups by name, each a function of its own with its own role. Unless given, every group that the workflows name; if
   * given, it names all of them.
   */
  readonly groups?: Readonly<Record<string, GroupOptions>>;
  /** Wake-up queues; `standard` unless given. */
  readonly tiers?: readonly Tier[];
  readonly coordinator?: FunctionOptions;
  readonly watchdog?: FunctionOptions;
  /**
   * The HTTP API: `"http"` unless said otherwise, with signed requests (IAM), so that nobody outside the account gets in and an idle
   * one costs nothing; options for tokens, browsers and throttles; `"none"` for neither API nor function.
   */
  readonly api?: "http" | "none" | ApiOptions;
  /** A bus on which ends of runs and opened gates are told, at least once: yours, or one of the construct's own. None unless given. */
  readonly events?: EventBus | IEventBus | boolean;
  /** A bucket for payloads too big for the table; yes unless said otherwise. */
  readonly hasPayloadBucket?: boolean;
  readonly limits?: Partial<Limits>;
  /** What becomes of the data when the construct is removed: kept unless said otherwise. */
  readonly removalPolicy?: RemovalPolicy;
  /** One month unless given. */
  readonly logRetention?: RetentionDays;
  /** Who is told when an alarm goes off. */
  readonly alarmActions?: readonly IAlarmAction[];
}
