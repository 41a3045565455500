import { describe, expect, it } from "vitest";
import { createEmfMetrics } from "../../lib/aws/emf-metrics.ts";
import { createJsonLog } from "../../lib/aws/json-log.ts";
import { Fault } from "../../lib/core/faults.ts";

function printed() {
  const lines: string[] = [];
  const options = { print: (line: string) => void lines.push(line), nowMs: () => 1_700_000_000_000 };
  return { options, read: () => lines.splice(0).map((line) => JSON.parse(line)) };
}

describe("metrics in the embedded metric format", () => {
  it("leave once a flush: counts summed, durations and sizes each, with and without dimensions", async () => {
    const { options, read } = printed();
    const metrics = createEmfMetrics({ ...options, namespace: "Tickwright/t" });
    metrics.count("commits", 1, { workflow: "order", status: "running" });
    metrics.count("commits", 2, { status: "running", workflow: "order" });
    metrics.count("wake-age-ms", 5);
    metrics.count("wake-age-ms", 7);
    metrics.count("force-fails-held");
    await metrics.flush();
    const about = (Dimensions: string[][], Metrics: object[]) => ({
      Timestamp: 1_700_000_000_000,
      CloudWatchMetrics: [{ Namespace: "Tickwright/t", Dimensions, Metrics }],
    });
    expect(read()).toEqual([
      {
        _aws: about([[], ["status", "workflow"]], [{ Name: "commits", Unit: "Count" }]),
        workflow: "order",
        status: "running",
        commits: 3,
      },
      {
        _aws: about(
          [[]],
          [
            { Name: "wake-age-ms", Unit: "Milliseconds" },
            { Name: "force-fails-held", Unit: "Count" },
          ],
        ),
        "wake-age-ms": [5, 7],
        "force-fails-held": 1,
      },
    ]);
    await metrics.flush();
    expect(read()).toEqual([]);
  });

  it("are cut into lines of at most a hundred values, none lost, none twice", async () => {
    const { options, read } = printed();
    const metrics = createEmfMetrics({ ...options, namespace: "n" });
    metrics.count("commits", 4);
    for (let bytes = 1; bytes <= 250; bytes++) metrics.count("payload-bytes", bytes);
    await metrics.flush();
    const lines = read();
    expect(lines.map((line) => line["payload-bytes"].length)).toEqual([100, 100, 50]);
    expect(lines.map((line) => line.commits)).toEqual([4, undefined, undefined]);
    expect(lines.flatMap((line) => line["payload-bytes"])).toEqual(Array.from({ length: 250 }, (_, n) => n + 1));
  });
});

describe("the log", () => {
  it("is an object a line, with errors, their codes and their causes", () => {
    const { options, read } = printed();
    const log = createJsonLog({ ...options, fields: () => ({ function: "coordinator" }) });
    const cause = new Fault("denied", "no grant", {}, { cause: new TypeError("deeper") });
    log.write("error", "batch-defect", { cause, size: 3n });
    log.write("debug", "too quiet", {});
    expect(read()).toMatchObject([
      {
        time: "2023-11-14T22:13:20.000Z",
        level: "error",
        event: "batch-defect",
        function: "coordinator",
        cause: { name: "Fault", code: "denied", message: "no grant", cause: { name: "TypeError", message: "deeper" } },
        size: "3",
      },
    ]);
  });

  it("never throws: what cannot be printed is named", () => {
    const { options, read } = printed();
    const circular: { self?: unknown } = {};
    circular.self = circular;
    createJsonLog(options).write("info", "odd", { circular });
    expect(read()).toMatchObject([{ event: "odd", unprintable: ["circular"] }]);
  });
});
