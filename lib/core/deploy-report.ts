import type { Definitions } from "./contract.ts";
import { bad, type Finding, factsOfDefinitions, findingsOf, type Verdict } from "./deploy-check.ts";

/** One run in flight. */
export interface RunVerdict {
  readonly tenant: string;
  readonly runId: string;
  readonly status: string;
  readonly verdict: Verdict;
  /** What it will meet, by node. */
  readonly findings: readonly Finding[];
  /** What is known not to fit now, by the schema's own words. */
  readonly faults: readonly string[];
}

/** Everything that runs by one definition. */
export interface DefinitionVerdict {
  readonly workflow: string;
  readonly hash: string;
  /** `same`: the build starts runs by it. `old`: it starts them by another graph. `gone`: it knows no workflow of that name. */
  readonly graph: "same" | "old" | "gone";
  readonly findings: readonly Finding[];
  /** How many runs come to which verdict; empty where no runs were looked at. */
  readonly counts: { readonly [verdict in Verdict]?: number };
  /** Those that do not simply finish, some of them if they are many. */
  readonly runs: readonly RunVerdict[];
}

/** What a deploy of a build would do. */
export interface DeployReport {
  /** `runs`: a table's runs in flight were looked at. `build`: the last build's definitions, so whatever may be in flight. */
  readonly against: "runs" | "build";
  readonly definitions: readonly DefinitionVerdict[];
  /** Not all could be looked at. */
  readonly isPartial: boolean;
  /** Whether runs would park, or might. */
  readonly isBad: boolean;
}

/** Compares two builds: what would become of runs of the last one, if there are any. */
export function compareBuilds(last: Definitions, next: Definitions): DeployReport {
  const build = factsOfDefinitions(next);
  const definitions = Object.entries(last.workflows).map(([workflow, { hash, definition }]): DefinitionVerdict => {
    const graph = !build.hasWorkflow(workflow) ? "gone" : next.workflows[workflow]?.hash === hash ? "same" : "old";
    return { workflow, hash, graph, findings: findingsOf(definition, last.steps, build), counts: {}, runs: [] };
  });
  return reportOf("build", definitions, false);
}

/** What a run of the last build may park for, or wait for in vain. */
const stopping: ReadonlySet<Finding["kind"]> = new Set([
  "handler-gone",
  "input-changed",
  "signal-refused",
  "group-gone",
]);

/** A report, and whether it should stop a deploy. */
export function reportOf(
  against: DeployReport["against"],
  definitions: readonly DefinitionVerdict[],
  isPartial: boolean,
): DeployReport {
  const isBad = definitions.some(({ counts, findings }) =>
    against === "runs"
      ? [...bad].some((verdict) => (counts[verdict] ?? 0) > 0)
      : findings.some(({ kind }) => stopping.has(kind)),
  );
  return { against, definitions, isPartial, isBad };
}
