import { describe, expect, test } from "vitest";
import { createEmfMetrics } from "../../lib/aws/emf-metrics.ts";
import { createJsonLog } from "../../lib/aws/json-log.ts";
import type { Log, Metrics } from "../../lib/ports.ts";
import { createRecordingLog, createRecordingMetrics } from "../../lib/testing/recording.ts";

type Line = { readonly level: string; readonly event: string; readonly fields: Record<string, unknown> };

/** A log, and what has become of what was written to it. */
const logs: readonly (readonly [string, () => { log: Log; lines(): readonly Line[] }])[] = [
  [
    "JSON lines",
    () => {
      const printed: string[] = [];
      const log = createJsonLog({ print: (line: string) => void printed.push(line), nowMs: () => 1_800_000_000_000 });
      const lines = () =>
        printed.map((line) => {
          const { level, event, ...fields } = JSON.parse(line);
          return { level: String(level).toLowerCase(), event, fields };
        });
      return { log, lines };
    },
  ],
  [
    "a log in memory",
    () => {
      const log = createRecordingLog();
      return { log, lines: () => log.entries };
    },
  ],
];

describe.each(logs)("%s", (_, open) => {
  test("keeps level, event and fields of each line, in their order, and what changes later is not its matter", () => {
    const { log, lines } = open();
    const hints = ["a"];
    log.write("warn", "run.parked", { runId: "order-1", hints });
    hints.push("b");
    log.write("error", "row.too-big", { bytes: 9 });
    expect(lines()).toMatchObject([
      { level: "warn", event: "run.parked", fields: { runId: "order-1", hints: ["a"] } },
      { level: "error", event: "row.too-big", fields: { bytes: 9 } },
    ]);
  });

  test("never throws for what it is given", () => {
    const { log } = open();
    const knot: Record<string, unknown> = {};
    knot["self"] = knot;
    expect(() => log.write("error", "odd", { knot, big: 1n, error: new Error("why") })).not.toThrow();
  });
});

/** Metrics, and the sum of one of them after it went out. */
const metrics: readonly (readonly [string, () => { metrics: Metrics; sum(name: string): number }])[] = [
  [
    "the embedded metric format",
    () => {
      const printed: string[] = [];
      const print = (line: string) => void printed.push(line);
      const sum = (name: string) =>
        printed.map((line) => Number(JSON.parse(line)[name] ?? 0)).reduce((all, each) => all + each, 0);
      return { metrics: createEmfMetrics({ print, nowMs: () => 1_800_000_000_000, namespace: "n" }), sum };
    },
  ],
  [
    "metrics in memory",
    () => {
      const kept = createRecordingMetrics();
      return { metrics: kept, sum: (name) => kept.total(name as "commits") };
    },
  ],
];

describe.each(metrics)("%s", (_, open) => {
  test("counts one unless told, adds up, with dimensions and without, and has lost nothing after a flush", async () => {
    const { metrics: kept, sum } = open();
    kept.count("commits");
    kept.count("commits", 3);
    kept.count("commits", 2, { workflow: "order" });
    await kept.flush();
    kept.count("commits", 4);
    await kept.flush();
    await kept.flush();
    expect([sum("commits"), sum("conflicts")]).toEqual([10, 0]);
  });
});
