import { join } from "node:path";
import { parseArgs } from "node:util";
import { startDev } from "../../functions/dev.ts";
import { createDynamodbStore } from "../../lib/aws/dynamodb-store.ts";
import { drawMeters } from "../../lib/cli/meters.ts";
import { drawProgress, redraw } from "../../lib/cli/progress.ts";
import { drawable } from "../../lib/cli/run-timeline.ts";
import { terminalOf } from "../../lib/cli/terminal.ts";
import { drawTimeline } from "../../lib/cli/timeline.ts";
import type { MetricName } from "../../lib/core/metrics.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { readResult, timeline } from "../../lib/engine/inspect.ts";
import { sandbox } from "../sandbox.ts";
import { countsOf, type Driven, drive } from "./drive.ts";
import { differences } from "./expectation.ts";
import { drawOutcomes, metersOf, mostInstructive, type Outcome } from "./report.ts";
import { type PlannedRun, readRunFile } from "./run-file.ts";
import { hurried } from "./workflows.ts";

const examples = ["order", "documents", "onboarding"] as const;

const help = `npm run demo -- [options]

Runs the examples on an embedded stack (DynamoDB, SQS and S3 on loopback, nothing kept), does to each run what its input file says,
and checks how it ends. Exits with 1 if a run ended otherwise than its file says.

  --only EXAMPLE    one of ${examples.join(", ")}; may be given more than once
  --runs FILE       the runs of this file instead, of the same workflows
  --help            this text
`;

/** Real time that the demo may take before it gives up. */
const limitMs = 90_000;
const terminal = terminalOf(process.stdout, process.env);
const print = (...lines: readonly string[]) => void process.stdout.write(`${lines.join("\n")}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true, default: [...examples] },
      runs: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return print(help) ?? 0;
  const planned = await planOf(values.only, values.runs);
  const totals: { [name in MetricName]?: number } = {};
  const oddities: string[] = [];
  const dev = await startDev({
    workflows: hurried,
    isMetered: true,
    limits: { dispatchGraceMs: 2_000, owedGraceMs: 2_000, childPollMs: 3_000 },
    scale: { timeoutMs: 8_000, visibilityS: 10, watchIntervalMs: 1_000 },
    log: {
      write: (level, event, fields) => {
        if (level === "error") oddities.push(`${event} ${JSON.stringify(fields)}`);
      },
    },
    metrics: {
      count: (name, value = 1) => {
        totals[name] = (totals[name] ?? 0) + value;
      },
      flush: async () => undefined,
    },
  });
  sandbox.crash = () => dev.mortality.die();
  const { engine, stack } = dev;
  const { tableName, clients } = stack;
  const watcher = { ...engine, store: createDynamodbStore({ ...engine, client: clients.dynamodb, tableName }) };
  print(
    `Tickwright on this machine: DynamoDB at ${stack.endpoints.dynamodb}, SQS and S3 at ${stack.endpoints.sqs}.`,
    "",
  );
  try {
    const runs = await drive(planned, { engine, watcher, onLook: progress(), pollMs: 200, limitMs });
    const meters = metersOf(totals, stack.meters());
    const outcomes = await Promise.all(runs.map((run) => outcomeOf(watcher, run)));
    report(outcomes, meters, oddities);
    return outcomes.every((outcome) => outcome.differences.length === 0) && oddities.length === 0 ? 0 : 1;
  } finally {
    await stack.stop();
  }
}

async function planOf(only: readonly string[], file: string | undefined): Promise<readonly PlannedRun[]> {
  if (file !== undefined) return await readRunFile(file);
  const unknown = only.find((name) => !(examples as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`There is no example "${unknown}". There are ${examples.join(", ")}.`);
  const files = only.map((name) => join(import.meta.dirname, "..", name, "runs.json"));
  return (await Promise.all(files.map(readRunFile))).flat();
}

/** A bar per workflow, drawn over the last one; where there is no terminal a few plain lines. */
function progress(): (runs: readonly Driven[]) => void {
  const startedAtMs = performance.now();
  let linesBefore = 0;
  let nextAtMs = 0;
  return (runs) => {
    const elapsedMs = performance.now() - startedAtMs;
    const isOver = runs.every(({ run }) => run?.endedAtMs !== undefined);
    if (!terminal.isTty && elapsedMs < nextAtMs && !isOver) return;
    nextAtMs = elapsedMs + 4_000;
    const byWorkflow = Map.groupBy(runs, ({ planned }) => planned.workflow);
    const all = [...byWorkflow].map(([workflow, own]) => ({ workflow, counts: countsOf(own) }));
    const lines = drawProgress(all, elapsedMs, terminal);
    if (terminal.isTty) process.stdout.write(redraw(lines, linesBefore));
    else print(...lines);
    linesBefore = lines.length;
  };
}

async function outcomeOf(engine: Engine, { planned, ref, run, troubles }: Driven): Promise<Outcome> {
  if (!run) return { planned, timeline: undefined, differences: [...troubles, "there is no such run"] };
  const told = await timeline(engine, ref);
  const { output } = await readResult(engine, ref);
  const value = output?.ok ? output.value : undefined;
  return { planned, timeline: told, differences: [...troubles, ...differences(planned.expect, told, value)] };
}

function report(outcomes: readonly Outcome[], meters: ReturnType<typeof metersOf>, oddities: readonly string[]): void {
  for (const [workflow, own] of Map.groupBy(outcomes, ({ planned }) => planned.workflow)) {
    print("", ...drawOutcomes(workflow, own, terminal));
    const drawn = mostInstructive(own);
    if (drawn) print("", ...drawTimeline(drawable(drawn), terminal));
  }
  print("", ...drawMeters(meters, terminal), "");
  const wrong = outcomes.filter((outcome) => outcome.differences.length > 0);
  for (const { planned, differences: found } of wrong) for (const each of found) print(`${planned.runId}: ${each}`);
  for (const each of oddities) print(`error logged: ${each}`);
  if (wrong.length > 0) print(`${wrong.length} of ${outcomes.length} runs did not end as their input files say.`);
  else print(`All ${outcomes.length} runs ended as their input files say.`);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
