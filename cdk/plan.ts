import { RemovalPolicy } from "aws-cdk-lib";
import { prefixCharsMax } from "../lib/aws/names.ts";
import { type FunctionRole, type Source, sourcesOf, wiring, workerOf } from "../lib/aws/wiring.ts";
import { defaultLimits, fixed, type Limits } from "../lib/core/limits.ts";
import type { Tier } from "../lib/core/queue-names.ts";
import type { FunctionOptions } from "./functions.ts";
import type { GroupOptions, TickwrightProps } from "./props.ts";
import { type LoadedWorkflows, loadWorkflows } from "./workflows.ts";

/** An installation's choices, complete and checked. */
export interface Plan {
  /** Absolute path of the user's workflows. */
  readonly workflowsFile: string;
  readonly prefix: string;
  readonly groups: Readonly<Record<string, FunctionOptions>>;
  readonly tiers: readonly Tier[];
  readonly sources: readonly Source[];
  readonly limits: Partial<Limits>;
  readonly removalPolicy: RemovalPolicy;
  timeoutSOf(role: FunctionRole): number;
  maxConcurrencyOf(role: FunctionRole): number;
}

/** Choices and defaults, checked: throws at synthesis what AWS would refuse, or what would break at run time. */
export function planOf(props: TickwrightProps): Plan {
  const { prefix = "tickwright", tiers = ["standard"] } = props;
  if (!/^[A-Za-z0-9-]+$/.test(prefix) || prefix.length > prefixCharsMax) {
    throw new Error(`The prefix ${prefix} must be 1 to ${prefixCharsMax} letters, digits and hyphens.`);
  }
  if (!tiers.includes("standard")) throw new Error("The tier standard is always there: name it too.");
  const loaded = loadWorkflows(props.workflows);
  const reserveMs = props.limits?.reserveMs ?? defaultLimits.reserveMs;
  const groups = groupsOf(props.groups, loaded, reserveMs);
  const optionsOf = (role: FunctionRole): FunctionOptions =>
    (role === "coordinator" || role === "watchdog" ? props[role] : groups[role.slice("worker:".length)]) ?? {};
  const kindOf = (role: FunctionRole) => (role === "coordinator" || role === "watchdog" ? role : "worker");
  const timeoutSOf = (role: FunctionRole) => optionsOf(role).timeoutS ?? wiring.timeoutS[kindOf(role)];
  const roles: FunctionRole[] = ["coordinator", "watchdog", ...Object.keys(groups).map(workerOf)];
  const longestMs = 1000 * Math.max(...roles.map(timeoutSOf));
  return {
    workflowsFile: loaded.file,
    prefix,
    groups,
    tiers,
    sources: sourcesOf({ groups: Object.keys(groups), tiers }),
    limits: spaced(props.limits ?? {}, longestMs),
    removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    timeoutSOf,
    maxConcurrencyOf: (role) => optionsOf(role).maxConcurrency ?? wiring.maxConcurrency[kindOf(role)],
  };
}

/** The groups that the workflows name, each with a time-out in which its steps fit. */
function groupsOf(
  given: TickwrightProps["groups"],
  { file, steps }: LoadedWorkflows,
  reserveMs: number,
): Record<string, FunctionOptions> {
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
    Object.entries(groups).map(([group, { isKept = false, ...options }]) => {
      if (!named.has(group) && !isKept) {
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
