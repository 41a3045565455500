import { describe, expect, it } from "vitest";
import { axisStepMs, duration } from "../../lib/cli/duration.ts";
import { drawMeters } from "../../lib/cli/meters.ts";
import { drawProgress, redraw } from "../../lib/cli/progress.ts";
import { terminalOf } from "../../lib/cli/terminal.ts";
import { drawTimeline, type Mark, type Timeline, type TimelineBar } from "../../lib/cli/timeline.ts";

const plain = { width: 100, isTty: true, hasColour: false };
const startedAtMs = Date.UTC(2026, 1, 3, 9, 30);
const bar = (from: number, to: number | undefined, mark: Mark, label?: string): TimelineBar => ({
  fromMs: startedAtMs + from,
  toMs: to === undefined ? undefined : startedAtMs + to,
  mark,
  label,
});
const order: Timeline = {
  title: "order order-4711",
  status: "succeeded",
  fromMs: startedAtMs,
  toMs: startedAtMs + 64_000,
  nowMs: startedAtMs + 99_000,
  rows: [
    { name: "reserve-stock", kind: "step", bars: [bar(0, 900, "ok")] },
    {
      name: "charge",
      kind: "step",
      bars: [bar(1000, 4000, "failed", "card declined"), bar(9000, 14_000, "lost"), bar(20_000, 23_000, "ok")],
    },
    { name: "attempt 2", kind: "", depth: 1, bars: [bar(9000, 14_000, "lost", "the lease ran out at ".repeat(5))] },
    { name: "cool-off", kind: "sleep", bars: [bar(23_000, 33_000, "arrived")] },
    { name: "approval", kind: "gate", bars: [bar(33_000, 58_000, "approved", "by ada")] },
    { name: "gift-wrap", kind: "step", bars: [bar(58_000, 58_000, "skipped")] },
    { name: "a-name-that-is-far-too-long-for-any-column", kind: "map", bars: [bar(58_000, 64_000, "ok")] },
  ],
};

describe("a timeline", () => {
  it("shows who did what when, how each try ended, and who decided", () => {
    expect(`\n${drawTimeline(order, plain).join("\n")}\n`).toMatchInlineSnapshot(`
      "
      order order-4711  succeeded in 1 min 4 s  since 2026-02-03 09:30:00 UTC

                                            0                           30 s                        1 min
                                            ├───────────────────────────┼───────────────────────────┼────
      reserve-stock                  step  ✔ 900 ms
      charge                         step  ███✘    ▒▒▒▒▒†    ███✔ 3 s
      └ attempt 2                                  ▒▒▒▒▒† the lease ran out at the lease ran out at the…
      cool-off                       sleep                      ┄┄┄┄┄┄┄┄┄◆ 10 s
      approval                       gate                         by ada ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄✔
      gift-wrap                      step                                                skipped ·
      a-name-that-is-far-too-long-f… map                                                     6 s ██████✔

      █✔ done   █✘ failed   ▒† worker lost   · skipped   ┄◆ arrived   ┄✔ approved
      "
    `);
  });

  it("lets what has no end reach the present while the run lives", () => {
    const live = { ...order, status: "running", toMs: undefined, nowMs: startedAtMs + 40_000 };
    const rows = [{ name: "approval", kind: "gate", bars: [bar(10_000, undefined, "waiting", "for a manager")] }];
    expect(`\n${drawTimeline({ ...live, rows }, { ...plain, width: 60 }).join("\n")}\n`).toMatchInlineSnapshot(`
      "
      order order-4711  running for 40 s  since 2026-02-03 09:30:00 UTC

                     0               15 s            30 s
                     ├───────────────┼───────────────┼───────────
      approval gate for a ma… ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄…

      ┄… waiting
      "
    `);
  });

  it("never draws a line wider than the terminal, and shows every bar however short", () => {
    for (const width of [40, 57, 80, 200]) {
      const lines = drawTimeline(order, { ...plain, width });
      expect(Math.max(...lines.slice(2, -1).map((line) => [...line].length))).toBeLessThanOrEqual(width);
      expect(lines.join("\n").match(/✔/g)?.length).toBeGreaterThanOrEqual(4);
    }
  });

  it("draws a run without rows or duration", () => {
    const lines = drawTimeline({ ...order, toMs: startedAtMs, rows: [] }, plain);
    expect(lines[0]).toContain("succeeded in 0 ms");
  });
});

describe("progress", () => {
  const progress = [
    { workflow: "order", counts: { succeeded: 812, failed: 3, running: 140, paused: 1 } },
    { workflow: "newsletter", counts: { succeeded: 40, cancelled: 1, compensating: 2 } },
  ];

  it("is a bar per workflow with its counts, and a sum", () => {
    expect(`\n${drawProgress(progress, 42_000, plain).join("\n")}\n`).toMatchInlineSnapshot(`
      "
      order      ████████████████████▓┄░░░ 815/956  █ 812 succeeded ▓ 3 failed ┄ 1 paused ░ 140 running
      newsletter ███████████████████████▒▚   41/43  █ 40 succeeded ▒ 1 cancelled ▚ 2 compensating
      856 of 999 runs have ended after 42 s
      "
    `);
  });

  it("is plain lines where there is no terminal", () => {
    const lines = drawProgress(progress, 42_000, { ...plain, isTty: false });
    expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
      "
      order: 815/956 ended (812 succeeded, 3 failed, 1 paused, 140 running)
      newsletter: 41/43 ended (40 succeeded, 1 cancelled, 2 compensating)
      856 of 999 runs have ended after 42 s
      "
    `);
  });

  it("never rounds away what exists, and fills its width exactly", () => {
    const counts = { succeeded: 100_000, failed: 1, cancelled: 1, running: 1 };
    const [line = ""] = drawProgress([{ workflow: "w", counts }], 0, plain);
    expect(line).toMatch(/█+▓▒░/);
    const widths = [11, 47, 90].map((running) => {
      const [drawn = ""] = drawProgress([{ workflow: "w", counts: { running, failed: 2 } }], 0, plain);
      return drawn.match(/[▓░]+(?= )/)?.[0].length;
    });
    expect(new Set(widths).size).toBe(1);
  });

  it("draws over what it drew before", () => {
    expect(redraw(["a", "b"], 3)).toBe("\u001b[3A\u001b[2Ka\n\u001b[2Kb\n\u001b[0J");
  });
});

describe("meters", () => {
  it("stand in columns, with what they come to and what they mean", () => {
    const lines = drawMeters(
      [
        {
          title: "DynamoDB",
          meters: [
            { name: "writes", value: 12_345, per: "2.1 per step", note: "each conditional" },
            { name: "write units", value: 12_345.678, unit: "WCU" },
          ],
        },
        { title: "SQS", meters: [{ name: "sent", value: 1_234_567, unit: "messages" }] },
      ],
      plain,
    );
    expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
      "
      DynamoDB
        writes         12,345          2.1 per step each conditional
        write units 12,345.68 WCU

      SQS
        sent        1,234,567 messages
      "
    `);
  });
});

describe("colours", () => {
  it("are for terminals only, and never against NO_COLOR", () => {
    expect(terminalOf({ isTTY: true, columns: 120 }, {})).toEqual({ width: 120, isTty: true, hasColour: true });
    expect(terminalOf({ isTTY: true, columns: 120 }, { NO_COLOR: "1" }).hasColour).toBe(false);
    expect(terminalOf({ isTTY: true }, { NO_COLOR: "" }).hasColour).toBe(true);
    expect(terminalOf({ isTTY: true }, { TERM: "dumb" }).hasColour).toBe(false);
    expect(terminalOf({}, {})).toEqual({ width: 100, isTty: false, hasColour: false });
  });

  it("change nothing but the colour", () => {
    const coloured = drawTimeline(order, { ...plain, hasColour: true }).join("\n");
    expect(coloured).toContain("\u001b[32m");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what escape sequences are
    expect(coloured.replace(/\u001b\[\d+m/g, "").replace(/ +$/gm, "")).toBe(drawTimeline(order, plain).join("\n"));
  });
});

describe("durations", () => {
  it("are said in at most two units", () => {
    const said = [0, 840, 3210, 59_949, 60_000, 125_000, 12_000_000, 190_000_000].map(duration);
    expect(said).toEqual(["0 ms", "840 ms", "3.2 s", "59.9 s", "1 min", "2 min 5 s", "3 h 20 min", "2 d 4 h"]);
  });

  it("are cut into steps that people read without thinking", () => {
    expect([90, 900, 64_000, 86_400_000, 1e12].map((spanMs) => axisStepMs(spanMs, 6))).toEqual([
      20, 200, 15_000, 21_600_000, 166_666_666_667,
    ]);
  });
});
