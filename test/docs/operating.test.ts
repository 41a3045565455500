import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { defaultLimits } from "../../lib/core/limits.ts";
import { dimensionNames, metricNames } from "../../lib/core/metrics.ts";
import { read } from "./pages.ts";

const page = read("docs/operating.md");

/** The files of these folders, one after the other. */
const sourcesOf = (...folders: readonly string[]): string =>
  folders
    .flatMap((folder) =>
      readdirSync(new URL(`../../${folder}`, import.meta.url)).flatMap((file) =>
        file.endsWith(".ts") ? [read(`${folder}/${file}`)] : [],
      ),
    )
    .join("\n");

test("every metric and dimension of the page is one that the engine counts", () => {
  const [, metrics = ""] = page.split(/## Metrics|## Logs/);
  const rows = [...metrics.matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \|/gm)];
  const named = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => name));
  expect(named.toSorted()).toEqual([...metricNames].sort());
  const listed = dimensionNames.map((name) => `\`${name}\``).join(", ");
  expect(metrics.replaceAll("\n", " ")).toContain(`(${listed})`);
});

test("every metric is counted somewhere", () => {
  const counted =
    sourcesOf("lib/engine", "lib/aws")
      .match(/metrics\.count\([^;]*/g)
      ?.join("\n") ?? "";
  expect(metricNames.filter((name) => !counted.includes(`"${name}"`))).toEqual([]);
});

test("every event of the log is on the page, and no other", () => {
  const written = sourcesOf("lib/engine", "lib/aws", "lib/http").match(/log\??\.write\([^;{]*/g) ?? [];
  const events = written.flatMap((call) => [...call.matchAll(/"([a-z]+[.-][a-z.-]+)"/g)].map(([, name = ""]) => name));
  const [, logs = ""] = page.split("## Logs");
  const named = [...logs.matchAll(/^\| ((?:`[a-z.-]+`(?:, )?)+) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([a-z.-]+)`/g)].map(([, name = ""]) => name),
  );
  expect(named.toSorted()).toEqual([...new Set(events)].sort());
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
