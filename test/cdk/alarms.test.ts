import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { describe, expect, it } from "vitest";
import { runbook } from "../../cdk/runbook.ts";
import { indexes, metricsNamespace } from "../../lib/aws/names.ts";
import { metricNames } from "../../lib/core/metrics.ts";
import { readSources } from "../architecture/sources.ts";
import { read } from "../docs/pages.ts";
import { all, idsOf, type Json, nameOf, synthesized, targetOf } from "./synthesis.ts";

const template = synthesized({ prefix: "tickwright", groups: { default: {}, mail: {} } });
const alarms = all(template, "AWS::CloudWatch::Alarm");
const alarmOf = (name: string): Json => Object.entries(alarms).find(([id]) => nameOf(id) === name)?.[1];
const functions = idsOf(template, "AWS::Lambda::Function");
const anchorOf = (alarm: Json) => /\S+#([a-z-]+)$/.exec(alarm.AlarmDescription)?.[1];
const headings = [...read("docs/runbook.md").matchAll(/^## ([a-z-]+)$/gm)].map(([, heading = ""]) => heading);
/** Every metric of an alarm, in math or not. */
const metricsOf = (alarm: Json): Json[] =>
  alarm.Metrics?.flatMap(({ MetricStat: stat }: Json) => stat?.Metric ?? []) ?? [alarm];

describe("the alarms", () => {
  it("link each to a heading of the runbook, and each heading has an alarm", () => {
    const anchors = new Set(Object.values(alarms).map(anchorOf));
    expect([...anchors].sort()).toEqual([...headings].sort());
    expect([...headings].sort()).toEqual(Object.keys(runbook).sort());
  });

  it("are looked into with events that the code logs", () => {
    const named = [...read("docs/runbook.md").matchAll(/event = "([a-z.-]+)"/g)].map(([, event]) => `"${event}"`);
    const code = [...readSources("lib", "functions").values()].join("\n");
    expect(new Set(named).size).toBeGreaterThan(4);
    expect(named.filter((event) => !code.includes(event))).toEqual([]);
  });

  it("cost what docs/deploy.md says", () => {
    const costOf = (props: Parameters<typeof synthesized>[0]) =>
      Object.values(all(synthesized(props), "AWS::CloudWatch::Alarm"))
        .map((alarm) => metricsOf(alarm).length)
        .reduce((sum, count) => sum + count, 0);
    const one = costOf({});
    expect(read("docs/deploy.md")).toContain(`| ${one} alarm metrics at 0.10 | ${(one / 10).toFixed(2)} |`);
    expect(read("docs/deploy.md")).toContain(
      `${costOf({ groups: { default: {}, mail: {} } }) - one} alarm metrics and a mapping`,
    );
  });

  it("say in one sentence what to do, and where the runbook is, which may be elsewhere", () => {
    for (const alarm of Object.values(alarms)) {
      const [sentence] = alarm.AlarmDescription.split(" node_modules/tickwright/docs/runbook.md#");
      expect(Object.values(runbook)).toContain(sentence);
      expect(alarm.AlarmDescription.length).toBeLessThan(1024);
    }
    const elsewhere = synthesized({ runbookUrl: "https://wiki.example/tickwright" });
    for (const alarm of Object.values(all(elsewhere, "AWS::CloudWatch::Alarm"))) {
      expect(alarm.AlarmDescription).toContain(" https://wiki.example/tickwright#");
    }
  });

  it("watch metrics that the engine counts, in this installation's namespace", () => {
    const ours = Object.values(alarms)
      .flatMap(metricsOf)
      .filter(({ Namespace: namespace }) => namespace.startsWith("Tickwright"));
    expect(ours.length).toBeGreaterThan(7);
    for (const { Namespace: namespace, MetricName: name, Dimensions: dimensions } of ours) {
      expect(namespace).toBe(metricsNamespace("tickwright"));
      expect(metricNames).toContain(name);
      expect(dimensions).toBeUndefined();
    }
  });

  it("watch every dead-letter queue", () => {
    const watched = Object.values(alarms)
      .filter(({ MetricName: name }) => name === "ApproximateNumberOfMessagesVisible")
      .map(({ Dimensions: [{ Value: value }] }) => targetOf(value));
    expect(watched.sort()).toEqual(["QueueDead", "QueueDeadTask", "ScheduleDead"]);
  });

  it.each(["RecursiveInvocationsDropped", "Errors", "Throttles"])("watch %s of every function", (metric) => {
    const watched = Object.values(alarms)
      .filter(({ MetricName: name }) => name === metric)
      .map(({ Dimensions: [{ Value: value }] }) => targetOf(value));
    expect(watched.sort()).toEqual(functions);
  });

  it("go off when nobody has swept for five minutes, and for no other silence", () => {
    const breaching = Object.values(alarms).filter(({ TreatMissingData: missing }) => missing === "breaching");
    expect(breaching).toHaveLength(1);
    expect(breaching[0]).toMatchObject({
      MetricName: "watchdog-sweeps",
      Statistic: "Sum",
      Period: 300,
      EvaluationPeriods: 1,
      Threshold: 1,
      ComparisonOperator: "LessThanThreshold",
    });
    const others = Object.values(alarms).filter((alarm) => alarm !== breaching[0]);
    for (const alarm of others) expect(alarm.TreatMissingData).toBe("notBreaching");
  });

  it("watch throttled reads and writes of the table and of each index apart: the table's own metric tells of no index", () => {
    const watched = Object.values(alarms)
      .filter((alarm) => anchorOf(alarm) === "table-throttles")
      .map(({ MetricName: name, Dimensions: dimensions }) => [
        name,
        dimensions.find(({ Name: each }: Json) => each === "GlobalSecondaryIndexName")?.Value,
      ]);
    const both = (index: string | undefined) => [
      ["ReadThrottleEvents", index],
      ["WriteThrottleEvents", index],
    ];
    expect(watched).toEqual([undefined, ...Object.values(indexes).map(({ name }) => name)].flatMap(both));
  });

  const loads = [
    "ConsumedWriteCapacityUnits Table",
    ...["Coordinator", "WorkerDefault", "WorkerMail"].map((fn) => `Invocations ${fn}`),
  ];
  const loadOf = (alarm: Json): string => {
    const [{ MetricName: name, Dimensions: dimensions }] = metricsOf(alarm);
    return `${name} ${targetOf(dimensions?.[0].Value)}`;
  };

  it("hold invocations of whatever messages call, and write units, under a ceiling", () => {
    const given = { groups: { default: {}, mail: {} }, ceilings: { invocations: 7, writeUnits: 8 } };
    for (const [from, invocations, writeUnits] of [
      [template, 30_000, 300_000],
      [synthesized(given), 7, 8],
    ] as const) {
      const held = Object.values(all(from, "AWS::CloudWatch::Alarm")).filter((alarm) => loads.includes(loadOf(alarm)));
      expect(held.map(loadOf).sort()).toEqual(loads);
      for (const { MetricName: name, Threshold: threshold, EvaluationPeriods: periods } of held) {
        expect([threshold, periods]).toEqual([name === "Invocations" ? invocations : writeUnits, 3]);
      }
    }
  });

  it("hold them against a band that CloudWatch learns, if one wants", () => {
    const learnt = synthesized({ groups: { default: {}, mail: {} }, ceilings: "learnt" });
    const bands = Object.values(all(learnt, "AWS::CloudWatch::Alarm")).filter(({ ThresholdMetricId: id }) => id);
    expect(bands.map(loadOf).sort()).toEqual(loads);
    for (const band of bands) {
      expect(band.ComparisonOperator).toBe("GreaterThanUpperThreshold");
      expect(JSON.stringify(band.Metrics)).toContain("ANOMALY_DETECTION_BAND");
    }
  });

  it("are plain ones unless one wants bands: emulators know no metric math", () => {
    for (const alarm of Object.values(alarms)) expect(alarm.Metrics).toBeUndefined();
  });

  it("see conflicts where most tries lose, for long, and there are enough of them to tell", () => {
    expect(alarmOf("ConflictsAlarm")).toMatchObject({
      MetricName: "conflicts-percent",
      ExtendedStatistic: "p50",
      EvaluateLowSampleCountPercentile: "ignore",
      Threshold: 50,
      EvaluationPeriods: 3,
      DatapointsToAlarm: 3,
    });
  });

  it("tell whom one names, of all of them", () => {
    const told = synthesized((stack) => ({ alarmActions: [new SnsAction(new Topic(stack, "Pager"))] }));
    const actions = Object.values(all(told, "AWS::CloudWatch::Alarm")).map(({ AlarmActions: each }) => each);
    expect(actions.length).toBeGreaterThan(25);
    for (const each of actions) expect(each.map(targetOf)).toEqual([expect.stringContaining("Pager")]);
  });
});

describe("the dashboard", () => {
  const bodyOf = (from: typeof template): Json => {
    const [dashboard] = Object.values(all(from, "AWS::CloudWatch::Dashboard"));
    const parts: Json[] = dashboard.DashboardBody["Fn::Join"][1];
    return JSON.parse(parts.map((part) => (typeof part === "string" ? part : targetOf(part))).join(""));
  };
  const { widgets } = bodyOf(template);
  const titles: string[] = widgets.map(
    ({ properties }: Json) => properties.title ?? properties.markdown.split("\n")[0],
  );

  it("asks first whether anything is wrong, then how the work flows, then what it costs", () => {
    const order = [
      "# Is anything wrong?",
      "Alarms, the red ones first",
      "## What to do",
      "# How does the work flow?",
      "# What does it cost?",
    ];
    const places = order.map((title) => titles.indexOf(title));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places.slice(0, 2)).toEqual([0, 1]);
  });

  it("shows every alarm, and what to do about each", () => {
    const shown = widgets.find(({ type }: Json) => type === "alarm").properties.alarms;
    expect(shown).toHaveLength(Object.keys(alarms).length);
    const table = widgets.find(({ properties }: Json) => properties.markdown?.startsWith("## What to do")).properties
      .markdown;
    for (const [anchor, sentence] of Object.entries(runbook)) expect(table).toContain(`| ${anchor} | ${sentence} |`);
  });

  it("graphs metrics that the engine counts, every queue and every function", () => {
    const graphed = JSON.stringify(widgets.filter(({ type }: Json) => type === "metric"));
    const ours = [...graphed.matchAll(/"Tickwright\/tickwright","([a-z-]+)"/g)].map(([, name]) => name);
    expect(ours.length).toBeGreaterThan(25);
    for (const name of ours) expect(metricNames).toContain(name);
    for (const queue of idsOf(template, "AWS::SQS::Queue").filter((id) => id !== "ScheduleDead")) {
      expect(graphed).toContain(`"QueueName","${queue}`);
    }
    for (const fn of functions) expect(graphed).toContain(`"FunctionName","${fn}`);
    for (const { name } of Object.values(indexes)) expect(graphed).toContain(`"GlobalSecondaryIndexName","${name}"`);
  });

  it("fits the grid: no widget hangs over its edge or over another", () => {
    for (const { x, width } of widgets) expect(x + width).toBeLessThanOrEqual(24);
    const taken = new Set<string>();
    for (const { x, y, width, height } of widgets) {
      for (let column = x; column < x + width; column++) {
        for (let row = y; row < y + height; row++) {
          expect(taken.has(`${column},${row}`)).toBe(false);
          taken.add(`${column},${row}`);
        }
      }
    }
  });

  it("is not there if one wants none", () => {
    synthesized({ hasDashboard: false }).resourceCountIs("AWS::CloudWatch::Dashboard", 0);
  });
});
