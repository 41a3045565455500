import {
  type Alarm,
  AlarmStatusWidget,
  AlarmStatusWidgetSortBy,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { ITable, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Construct } from "constructs";
import type { Queues } from "./queues.ts";
import { type RunbookAnchor, runbook } from "./runbook.ts";
import { engineMetric, functionMetric, tableMetric, tableParts, throttledOf } from "./signals.ts";

interface DashboardParts {
  readonly functions: readonly NodejsFunction[];
  readonly queues: Queues;
  readonly table: ITable | TableV2;
  readonly metricsNamespace: string;
  readonly alarms: readonly Alarm[];
  readonly runbookUrl: string;
}

const columns = 24;

/**
 * For a person who was woken: first whether anything is wrong, what, and what to do; then how the work flows, from what is asked to what is stored; at the
 * bottom what it costs. Three graphs a row, each titled with the question that it answers.
 */
export function createDashboard(scope: Construct, parts: DashboardParts): Dashboard {
  return new Dashboard(scope, "Dashboard", { widgets: [...isAnythingWrong(parts), ...flow(parts), ...cost(parts)] });
}

function isAnythingWrong({ alarms, runbookUrl, metricsNamespace: namespace, queues }: DashboardParts): IWidget[][] {
  const rows = (Object.keys(runbook) as RunbookAnchor[]).map((anchor) => `| ${anchor} | ${runbook[anchor]} |`);
  return [
    [
      text(
        2,
        `# Is anything wrong?\nRed below: find its name in the table under it; the runbook has the queries and the commands: ${runbookUrl}. Nothing red: nobody has to get up.`,
      ),
    ],
    [
      new AlarmStatusWidget({
        title: "Alarms, the red ones first",
        alarms: [...alarms],
        sortBy: AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
        width: columns,
        height: 5,
      }),
    ],
    [
      graph("Runs that were ended by force, held back, left undone", [
        ...(["force-fails", "force-fails-held", "uncompensated", "livelocks"] as const).map((name) =>
          engineMetric(namespace, name),
        ),
      ]),
      graph("What was given up", [
        ...[...queues].filter(([name]) => name.startsWith("dead")).map(([, queue]) => depthOf(queue)),
        engineMetric(namespace, "messages-dead"),
        engineMetric(namespace, "deliveries-lost"),
      ]),
      graph("How long is the oldest overdue? (ms)", [engineMetric(namespace, "watchdog-overdue-age-ms", "Maximum")]),
    ],
    [text(9, `## What to do\n| alarm | what to do |\n|---|---|\n${rows.join("\n")}`)],
  ];
}

function flow({ metricsNamespace: namespace, queues, functions, table }: DashboardParts): IWidget[][] {
  const of = (...names: Parameters<typeof engineMetric>[1][]) => names.map((name) => engineMetric(namespace, name));
  const waiting = [...queues].filter(([name]) => !name.startsWith("dead")).map(([, queue]) => queue);
  return [
    [text(1, "# How does the work flow?")],
    [
      graph("Do runs start and end?", of("runs-started", "runs-ended", "runs-parked")),
      graph("Does work wait in the queues?", waiting.map(depthOf)),
      graph(
        "How long does a wake-up wait? (ms)",
        ["p50", "p99"].map((p) => engineMetric(namespace, "wake-age-ms", p).with({ label: p })),
      ),
    ],
    [
      graph("Are attempts claimed and ended?", of("attempts-claimed", "attempts-ended", "attempts-late")),
      graph(
        "How long does an attempt take? (ms)",
        ["p50", "p99"].map((p) => engineMetric(namespace, "attempt-ms", p).with({ label: p })),
      ),
      graph("Is the same run woken from many sides?", of("commits", "requeues", "noop-ticks"), [
        engineMetric(namespace, "conflicts-percent", "Average"),
      ]),
    ],
    [
      graph(
        "Do functions fail?",
        functions.map((fn) => functionMetric(fn, "Errors").with({ label: fn.node.id })),
      ),
      graph(
        "Are functions slow? (p99, ms)",
        functions.map((fn) => functionMetric(fn, "Duration", "p99").with({ label: fn.node.id })),
      ),
      graph("Are functions or the table throttled?", [
        ...functions.map((fn) => functionMetric(fn, "Throttles").with({ label: fn.node.id })),
        ...tableParts.map((index) => throttledOf(table, index)),
      ]),
    ],
    [
      graph(
        "Does the watchdog look, and what does it find?",
        of("watchdog-sweeps", "watchdog-overdue", "watchdog-sends", "watchdog-held"),
      ),
      graph(
        "Does mail reach somebody?",
        of("signals-appended", "signals-undelivered", "mailbox-full", "gates-decided"),
      ),
      graph("Is anything handed back or ahead?", of("messages-handed-back", "sends-failed", "format-ahead", "strikes")),
    ],
  ];
}

function cost({ metricsNamespace: namespace, functions, table }: DashboardParts): IWidget[][] {
  return [
    [text(1, "# What does it cost?")],
    [
      graph(
        "Invocations",
        functions.map((fn) => functionMetric(fn, "Invocations").with({ label: fn.node.id })),
      ),
      graph(
        "Write units",
        tableParts.map((index) =>
          tableMetric(table, "ConsumedWriteCapacityUnits", index).with({ label: index ?? "table" }),
        ),
      ),
      graph(
        "Read units",
        tableParts.map((index) =>
          tableMetric(table, "ConsumedReadCapacityUnits", index).with({ label: index ?? "table" }),
        ),
      ),
    ],
    [
      graph(
        "Seconds of functions (sum of durations, ms)",
        functions.map((fn) => functionMetric(fn, "Duration").with({ label: fn.node.id })),
      ),
      graph("Messages sent", [engineMetric(namespace, "messages-sent")]),
      graph("Bytes beside the table", [engineMetric(namespace, "payload-bytes")]),
    ],
  ];
}

function depthOf(queue: {
  metricApproximateNumberOfMessagesVisible: (props: object) => IMetric;
  node: { id: string };
}) {
  return queue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum", label: queue.node.id });
}

function graph(title: string, left: IMetric[], right: IMetric[] = []): GraphWidget {
  return new GraphWidget({ title, left, right, width: columns / 3, height: 6, liveData: true });
}

function text(height: number, markdown: string): TextWidget {
  return new TextWidget({ markdown, width: columns, height });
}
