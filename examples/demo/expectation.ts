import { isDeepStrictEqual } from "node:util";
import type { Json } from "../../lib/core/json.ts";
import type { RunTimeline } from "../../lib/core/timeline.ts";
import type { Expectation } from "./run-file.ts";

/** Everything in which a run ended otherwise than it should have, one sentence each. */
export function differences(expected: Expectation, run: RunTimeline, output: Json | undefined): readonly string[] {
  const found: string[] = [];
  const compare = (what: string, wanted: unknown, is: unknown) => {
    if (wanted !== undefined && !isDeepStrictEqual(wanted, is))
      found.push(`${what}: ${shown(wanted)} expected, ${shown(is)} found`);
  };
  const nodeOf = (name: string) => run.nodes.find((node) => node.name === name);
  compare("status", expected.status, run.status);
  compare("output", expected.output, output);
  compare("reason", expected.reason, run.reason?.code);
  compare("isUncompensated", expected.isUncompensated, run.isUncompensated);
  if (expected.message !== undefined && !run.reason?.message.includes(expected.message))
    found.push(`reason: "${expected.message}" expected in it, "${run.reason?.message ?? ""}" found`);
  for (const [name, wanted] of Object.entries(expected.attempts)) {
    const node = nodeOf(name);
    compare(`attempts of ${name}`, wanted, node && node.attempts.length + node.hidden);
  }
  for (const [name, wanted] of Object.entries(expected.gates)) {
    const { comment: _, data: __, ...decision } = nodeOf(name)?.attempts[0]?.decision ?? {};
    compare(`gate ${name}`, wanted, decision);
  }
  for (const [name, wanted] of Object.entries(expected.items)) {
    const items = nodeOf(name)?.items;
    compare(`items of ${name}`, wanted, { total: items?.total ?? 0, failed: items?.failed ?? 0 });
  }
  compare("skipped", expected.skipped && [...expected.skipped].sort(), names(run, "skipped").sort());
  compare("undone", expected.undone, undoneBy(run));
  return found;
}

const names = (run: RunTimeline, state: string): string[] =>
  run.nodes.flatMap((node) => (node.state === state && node.undoes === undefined ? [node.name] : []));

function undoneBy(run: RunTimeline): readonly string[] {
  return [...run.nodes]
    .reverse()
    .filter((node) => node.undoes !== undefined && node.state === "done")
    .sort((one, other) => (one.fromMs ?? 0) - (other.fromMs ?? 0))
    .flatMap((node) => node.undoes ?? []);
}

const shown = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));
