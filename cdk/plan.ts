import { RemovalPolicy } from "aws-cdk-lib";
import { prefixCharsMax } from "../lib/aws/names.ts";
import { type FunctionRole, type Source, sourcesOf, wiring, workerOf } from "../lib/aws/wiring.ts";
import { defaultLimits, type Limits } from "../lib/core/limits.ts";
import type { Tier } from "../lib/core/queue-names.ts";
import type { FunctionOptions } from "./functions.ts";
import type { TickwrightProps } from "./tickwright.ts";

/** An installation's choices, complete and checked. */
export interface Plan {
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
  const { prefix = "tickwright", groups = { default: {} }, tiers = ["standard"] } = props;
  if (!/^[A-Za-z0-9-]+$/.test(prefix) || prefix.length > prefixCharsMax) {
    throw new Error(`The prefix ${prefix} must be 1 to ${prefixCharsMax} letters, digits and hyphens.`);
  }
  if (Object.keys(groups).length === 0) throw new Error("There must be a worker group.");
  if (!tiers.includes("standard")) throw new Error("The tier standard is always there: name it too.");
  const optionsOf = (role: FunctionRole): FunctionOptions =>
    (role === "coordinator" || role === "watchdog" ? props[role] : groups[role.slice("worker:".length)]) ?? {};
  const kindOf = (role: FunctionRole) => (role === "coordinator" || role === "watchdog" ? role : "worker");
  const timeoutSOf = (role: FunctionRole) => optionsOf(role).timeoutS ?? wiring.timeoutS[kindOf(role)];
  const roles: FunctionRole[] = ["coordinator", "watchdog", ...Object.keys(groups).map(workerOf)];
  const longestMs = 1000 * Math.max(...roles.map(timeoutSOf));
  return {
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

/** Strikes are further apart than any function may run: a processing that still runs must not count twice. */
function spaced(limits: Partial<Limits>, longestMs: number): Partial<Limits> {
  const { strikeSpacingMs } = limits;
  if (strikeSpacingMs !== undefined && strikeSpacingMs <= longestMs) {
    throw new Error(`strikeSpacingMs must be more than the longest time-out of a function, ${longestMs} ms.`);
  }
  if (strikeSpacingMs !== undefined || longestMs < defaultLimits.strikeSpacingMs) return limits;
  return { ...limits, strikeSpacingMs: longestMs + 60_000 };
}
