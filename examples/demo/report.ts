import { duration } from "../../lib/cli/duration.ts";
import type { Meter } from "../../lib/cli/meters.ts";
import type { Terminal } from "../../lib/cli/terminal.ts";
import { paint, sized } from "../../lib/cli/terminal.ts";
import type { MetricName } from "../../lib/core/metrics.ts";
import type { RunTimeline } from "../../lib/core/timeline.ts";
import type { StackMeters } from "../../lib/local/meters.ts";
import type { PlannedRun } from "./run-file.ts";

/** A planned run and what became of it. */
export interface Outcome {
  readonly planned: PlannedRun;
  readonly timeline: RunTimeline | undefined;
  /** In what it differs from its input file. */
  readonly differences: readonly string[];
}

const looks = {
  succeeded: { mark: "✔", style: "green" },
  failed: { mark: "✘", style: "red" },
  cancelled: { mark: "⊘", style: "yellow" },
  terminated: { mark: "■", style: "magenta" },
} as const;

/** A heading for a workflow, then a line per run: how it ended, and what that shows. */
export function drawOutcomes(workflow: string, outcomes: readonly Outcome[], terminal: Terminal): readonly string[] {
  const idWidth = Math.max(...outcomes.map(({ planned }) => planned.runId.length));
  const good = outcomes.filter(({ differences }) => differences.length === 0).length;
  const verdict = good === outcomes.length ? "all as expected" : `${outcomes.length - good} not as expected`;
  return [
    `${paint(terminal, "bold", workflow)}  ${outcomes.length} runs, ${verdict}`,
    ...outcomes.map(({ planned, timeline, differences }) => {
      const status = timeline?.status ?? "missing";
      const { mark, style } = looks[status as keyof typeof looks] ?? { mark: "?", style: "cyan" };
      const took = timeline?.toMs === undefined ? "" : duration(timeline.toMs - timeline.fromMs);
      const room = Math.max(10, terminal.width - idWidth - 26);
      const about = sized(planned.about, Math.min(room, [...planned.about].length));
      const isGood = differences.length === 0;
      return `  ${paint(terminal, style, `${mark} ${status.padEnd(10)}`)} ${planned.runId.padEnd(idWidth)} ${took.padStart(8)}  ${
        isGood ? paint(terminal, "dim", about) : paint(terminal, "red", "not as expected")
      }`;
    }),
  ];
}

/** The run with the most to tell: many ways for attempts to end, decisions, things undone; not the widest. */
export function mostInstructive(outcomes: readonly Outcome[]): RunTimeline | undefined {
  const stories = outcomes.flatMap(({ timeline }) => (timeline ? [{ timeline, score: scoreOf(timeline) }] : []));
  return stories.reduce(
    (best, each) => (each.score > best.score ? each : best),
    stories[0] ?? { timeline: undefined, score: 0 },
  ).timeline;
}

function scoreOf({ nodes }: RunTimeline): number {
  const kinds = nodes.flatMap(({ attempts, undoes, kind }) =>
    attempts.map(({ state, decision }) => `${undoes ? "undo" : kind}/${decision ? decision.approved : state}`),
  );
  const began = nodes.filter(({ attempts }) => attempts.length > 0).length;
  const hasDeath = nodes.some(({ attempts }) => attempts.some(({ state }) => state === "lost"));
  return new Set(kinds).size * 3 + began + (hasDeath ? 4 : 0);
}

/** What all of it cost, in groups. */
export function metersOf(
  totals: { readonly [name in MetricName]?: number },
  stack: StackMeters,
): readonly { readonly title: string; readonly meters: readonly Meter[] }[] {
  const total = (name: MetricName) => totals[name] ?? 0;
  const [runs, commits, attempts] = [total("runs-started"), total("commits"), total("attempts-ended")];
  const each = (value: number, count: number, of: string) => `${Number((value / Math.max(1, count)).toFixed(2))} ${of}`;
  const { dynamodb, sqs, invocations } = stack;
  return [
    {
      title: "Coordination",
      meters: [
        { name: "runs", value: runs, note: "children of other runs included" },
        { name: "attempts", value: attempts, per: each(attempts, runs, "a run"), note: "of steps, in workers" },
        {
          name: "commits",
          value: commits,
          per: each(commits, attempts, "an attempt"),
          note: "guarded by the record's version",
        },
        {
          name: "conflicts",
          value: total("conflicts"),
          per: each(total("conflicts"), commits, "a commit"),
          note: "races lost, computed again: no errors",
        },
        { name: "requeues", value: total("requeues"), note: "conflicts that went on as a new message" },
        { name: "no-op ticks", value: total("noop-ticks"), note: "wake-ups with nothing to do: nothing written" },
        { name: "force-fails", value: total("force-fails"), note: "runs that could not move" },
      ],
    },
    {
      title: "DynamoDB, in capacity units as the embedded server meters them",
      meters: [
        {
          name: "write units",
          value: dynamodb.writeUnits,
          per: each(dynamodb.writeUnits, attempts, "an attempt"),
          note: "indexes and refused conditions included",
        },
        { name: "read units", value: dynamodb.readUnits, per: each(dynamodb.readUnits, attempts, "an attempt") },
        { name: "writes", value: dynamodb.writes, note: `${dynamodb.refused} of them refused by their condition` },
      ],
    },
    {
      title: "SQS, in requests",
      meters: [
        { name: "sends", value: sqs.sendRequests, note: `${sqs.sent} messages` },
        { name: "receives", value: sqs.receiveRequests, note: `${sqs.emptyReceives} brought nothing` },
        { name: "deletes", value: sqs.deleteRequests, note: `${sqs.deleted} messages` },
      ],
    },
    {
      title: "Invocations",
      meters: Object.entries(invocations).map(([name, value]) => ({ name, value })),
    },
  ];
}
