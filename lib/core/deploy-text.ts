import { type Finding, mendOf, type Verdict } from "./deploy-check.ts";
import type { DefinitionVerdict, DeployReport } from "./deploy-report.ts";

const says: { readonly [verdict in Verdict]: string } = {
  finishes: "finish",
  resumes: "resume",
  "may-park": "may park",
  parks: "park",
  "waits-in-vain": "wait in vain",
  "stays-parked": "stay parked",
};

/** A report for people: for each graph what becomes of its runs, why, and what to do about it. */
export function deployText(report: DeployReport): string {
  const { against, definitions, isPartial, isBad } = report;
  if (definitions.length === 0) return against === "runs" ? "No run is in flight." : "The last build had no workflows.";
  const blocks = definitions.map((each) => blockOf(each, against));
  const verdict = isBad
    ? against === "runs"
      ? "This deploy would stop runs. What parks burns no tries, and goes on with a build that has what it needs."
      : "This deploy would stop runs of the last build, if there are any in flight."
    : "This deploy stops nothing.";
  return [...blocks, ...(isPartial ? ["Not all runs were looked at."] : []), verdict].join("\n\n");
}

function blockOf(
  { workflow, hash, graph, findings, counts, runs }: DefinitionVerdict,
  against: DeployReport["against"],
): string {
  const sums = Object.entries(counts).map(([verdict, count]) => `${count} ${says[verdict as Verdict]}`);
  const graphs = {
    same: "the same graph",
    old: "new runs get another graph; runs in flight keep this one",
    gone: "the workflow is gone: runs in flight go on by their stored graph",
  };
  return [
    `${workflow} (${hash.slice(0, 8)}): ${graphs[graph]}`,
    ...(against === "runs" ? [`  runs in flight: ${sums.join(", ") || "none"}`] : []),
    ...findings.map((each) => `  ${findingText(each)}\n      mend: ${mendOf(each)}`),
    ...runs.map(
      ({ tenant, runId, status, verdict, faults }) =>
        `  ${tenant}/${runId} (${status}) would ${says[verdict]}${faults.length > 0 ? `: ${faults.join("; ")}` : ""}`,
    ),
  ].join("\n");
}

function findingText({ node, kind, subject, isUndo }: Finding): string {
  const what = {
    "handler-gone": `step ${subject} is gone`,
    "input-changed": `the input schema of ${subject} changed`,
    "output-changed": `the output schema of ${subject} changed: what reads it may no longer fit`,
    "schema-unknown": `whether the schema of ${subject} changed is not known`,
    "signal-refused": `its signal "${subject}" would be refused`,
    "group-gone": `no step runs in worker group "${subject}" any more: its worker may be gone`,
    "child-unchecked": `child workflow "${subject}" has another graph now, or is gone`,
  };
  return `${node}: ${what[kind]}${isUndo ? " (it only undoes)" : ""}`;
}
