import { expect, test } from "vitest";
import { defaultLimits } from "../../lib/core/limits.ts";
import { dimensionNames, metricNames } from "../../lib/core/metrics.ts";
import { read } from "./pages.ts";

const page = read("docs/operating.md");

test("every metric and dimension of the page is one that the engine counts", () => {
  const [, metrics = ""] = page.split("## Metrics");
  const rows = [...metrics.matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \|/gm)];
  const named = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => name));
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !(metricNames as readonly string[]).includes(name))).toEqual([]);
  const listed = dimensionNames.map((name) => `\`${name}\``).join(", ");
  expect(metrics.replaceAll("\n", " ")).toContain(`(${listed})`);
});

test("the periods and counts of the page are the engine's", () => {
  const { requeuesMax, strikesMax, stuckAfterMs, forceFailsMax, deadlineMs, dispatchGraceMs, clockSlackMs } =
    defaultLimits;
  expect([requeuesMax, strikesMax, stuckAfterMs, forceFailsMax]).toEqual([12, 3, 300_000, 10]);
  expect([deadlineMs, dispatchGraceMs, clockSlackMs]).toEqual([30 * 86_400_000, 60_000, 5000]);
  for (const words of ["after 12 requeues", "three strikes and five minutes", "ten a minute", "30 days unless given"]) {
    expect(page).toContain(words);
  }
});
