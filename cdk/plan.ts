import { Names, RemovalPolicy } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { prefixCharsMax } from "../lib/aws/names.ts";
import { type FunctionRole, sourcesOf, wiring, workerOf } from "../lib/aws/wiring.ts";
import { defaultLimits, fixed, type Limits } from "../lib/core/limits.ts";
import { tiers as knownTiers, type Tier } from "../lib/core/queue-names.ts";
import { type ApiOptions, apiOptionsOf } from "./api.ts";
import type { FunctionOptions, MappedOptions } from "./functions.ts";
import { isHalted } from "./halt.ts";
import { type Mapping, mappingOf } from "./mappings.ts";
import type { GroupOptions, TickwrightProps } from "./props.ts";
import { type LoadedWorkflows, loadWorkflows } from "./workflows.ts";

/** An installation's choices, complete and checked. */
export interface Plan {
  /** Absolute path of the user's workflows. */
  readonly workflowsFile: string;
  readonly prefix: string;
  readonly groups: Readonly<Record<string, GroupOptions>>;
  readonly tiers: readonly Tier[];
  /** Every queue that a function takes from. */
  readonly mappings: readonly Mapping[];
  readonly limits: Partial<Limits>;
  readonly removalPolicy: RemovalPolicy;
  readonly logRetention: RetentionDays;
  readonly isHalted: boolean;
  /** Choices of the API; none if there is no API. */
  readonly api: ApiOptions | undefined;
  optionsOf(role: FunctionRole | "api"): FunctionOptions;
  timeoutSOf(role: FunctionRole | "api"): number;
}

/** Choices and defaults, checked: throws at synthesis what AWS would refuse, or what would break at run time. */
export function planOf(scope: Construct, props: TickwrightProps): Plan {
  const { tiers = ["standard"], removalPolicy = RemovalPolicy.RETAIN } = props;
  const prefix = props.prefix ?? prefixOf(scope);
  if (!/^[A-Za-z0-9-]+$/.test(prefix) || prefix.length > prefixCharsMax) {
    throw new Error(`The prefix ${prefix} must be 1 to ${prefixCharsMax} letters, digits and hyphens.`);
  }
  if (!tiers.includes("standard")) throw new Error("The tier standard is always there: name it too.");
  const strange = tiers.find((tier) => !knownTiers.includes(tier));
  if (strange !== undefined) throw new Error(`There is no tier ${strange}: choose of ${knownTiers.join(", ")}.`);
  const loaded = loadWorkflows(props.workflows);
  const reserveMs = props.limits?.reserveMs ?? defaultLimits.reserveMs;
  const groups = groupsOf(props.groups, loaded, reserveMs);
  const api = apiOptionsOf(props.api);
  const optionsOf = (role: FunctionRole | "api"): MappedOptions => {
    if (role === "api") return api ?? {};
    if (role === "coordinator" || role === "watchdog") return props[role] ?? {};
    return (role === "dead-tasks" ? props.deadTasks : groups[role.slice("worker:".length)]) ?? {};
  };
  const timeoutSOf = (role: FunctionRole | "api") =>
    optionsOf(role).timeoutS ?? (role === "api" ? wiring.apiTimeoutS : wiring.timeoutS[kindOf(role)]);
  const roles: FunctionRole[] = ["coordinator", "watchdog", "dead-tasks", ...Object.keys(groups).map(workerOf)];
  for (const role of roles) checkTimeout(role, timeoutSOf(role));
  const longestMs = 1000 * Math.max(...roles.map(timeoutSOf));
  return {
    workflowsFile: loaded.file,
    prefix,
    groups,
    tiers,
    mappings: sourcesOf({ groups: Object.keys(groups), tiers }).map((source) =>
      mappingOf(source, optionsOf(source.consumer), timeoutSOf(source.consumer)),
    ),
    limits: spaced(props.limits ?? {}, longestMs),
    removalPolicy,
    logRetention: props.logRetention ?? RetentionDays.ONE_MONTH,
    isHalted: isHalted(scope),
    api,
    optionsOf,
    timeoutSOf,
  };
}

function kindOf(role: FunctionRole): keyof typeof wiring.timeoutS {
  if (role === "coordinator" || role === "watchdog") return role;
  return role === "dead-tasks" ? "deadTasks" : "worker";
}

/**
 * One name per stack and construct: the stack's name, which an account and region have once, and the path in it, shortened in the middle,
 * with a hash of the whole at the end.
 */
function prefixOf(scope: Construct): string {
  return Names.uniqueResourceName(scope, { maxLength: prefixCharsMax, separator: "-", allowedSpecialCharacters: "-" });
}

function checkTimeout(role: FunctionRole, timeoutS: number): void {
  const mostS = fixed.functionMsMax / 1000;
  if (Number.isInteger(timeoutS) && timeoutS >= 1 && timeoutS <= mostS) return;
  throw new Error(`The timeoutS of ${role} is ${timeoutS}: Lambda takes whole seconds from 1 to ${mostS}.`);
}

/** The groups that the workflows name, each with a time-out in which its steps fit. */
function groupsOf(
  given: TickwrightProps["groups"],
  { file, steps }: LoadedWorkflows,
  reserveMs: number,
): Record<string, GroupOptions> {
  const named = new Set(steps.map(({ group }) => group));
  if (named.size === 0) named.add("default");
  const groups: Readonly<Record<string, GroupOptions>> =
    given ?? Object.fromEntries([...named].map((group) => [group, {}]));
  for (const { workflow, node, group } of steps) {
    if (groups[group] !== undefined) continue;
    throw new Error(
      `The step ${node} of workflow ${workflow} is for group ${group}, which has no function: add \`${group}: {}\` to groups.`,
    );
  }
  return Object.fromEntries(
    Object.entries(groups).map(([group, options]) => {
      if (!named.has(group) && options.isKept !== true) {
        throw new Error(
          `No workflow of ${file} names the group ${group}: remove it from groups, or set its isKept while runs of an earlier deploy still need it.`,
        );
      }
      const ofGroup = steps.filter((step) => step.group === group);
      const longestMs = Math.max(0, ...ofGroup.map(({ timeoutMs }) => timeoutMs));
      const timeoutS = options.timeoutS ?? workerTimeoutS(longestMs);
      for (const { workflow, node, timeoutMs } of ofGroup) {
        if (timeoutMs + reserveMs <= timeoutS * 1000) continue;
        throw new Error(
          `The step ${node} of workflow ${workflow} may take ${timeoutMs} ms, and ${reserveMs} ms are kept back to record its end: raise timeoutS of group ${group} above ${timeoutS}, or shorten the step's timeout.`,
        );
      }
      return [group, { ...options, timeoutS }];
    }),
  );
}

function workerTimeoutS(longestMs: number): number {
  const roomyS = Math.ceil(longestMs / 1000) + wiring.workerMarginS;
  return Math.min(fixed.functionMsMax / 1000, Math.max(wiring.timeoutS.worker, roomyS));
}

/** Strikes are further apart than any function may run: a processing that still runs must not count twice. */
function spaced(limits: Partial<Limits>, longestMs: number): Partial<Limits> {
  const { strikeSpacingMs } = limits;
  if (strikeSpacingMs !== undefined && strikeSpacingMs <= longestMs) {
    throw new Error(`strikeSpacingMs must be more than the longest time-out of a function, ${longestMs} ms.`);
  }
  if (strikeSpacingMs !== undefined || longestMs < defaultLimits.strikeSpacingMs) return limits;
  return { ...limits, strikeSpacingMs: longestMs + 60_000 };
}
