import { join } from "node:path";
import { type Driven, drive } from "../examples/demo/drive.ts";
import { differences } from "../examples/demo/expectation.ts";
import { type PlannedRun, readRunFile } from "../examples/demo/run-file.ts";
import { workflows } from "../examples/registry.ts";
import { statusOf } from "../lib/core/run.ts";
import { readResult, timeline } from "../lib/engine/inspect.ts";
import { engineOn } from "../lib/tools/installation.ts";
import { type Ask, createApiClient } from "./api-client.ts";
import { deployed, requireEndpoint } from "./deploy.ts";
import { endpointAt } from "./endpoint.ts";
import { root } from "./state.ts";

/** Runs of the examples' input files that wait for nobody longer than a person would like to look: theirs are deployed with real periods. */
const shown = [
  "order-20931",
  "order-20935",
  "order-20936",
  "order-20943",
  "order-20944",
  "order-20946",
  "order-20947",
  "order-20949",
  "order-20951",
  "order-20954",
  "lease-rotterdam-1987",
  "will-of-h-marsh",
  "batch-2024-06-12",
  "annual-report-2011",
];
const limitMs = 240_000;
/** So many of them are started through the API; the others through table and queue, as `tickwright/connect` does. */
const overHttp = 4;

/** Starts runs on the deployed stack, does to them what their files say, and tells how each ended. Gives the number of differences. */
export async function demo(say: (line: string) => void): Promise<number> {
  const port = await requireEndpoint();
  const { TableName: tableName = "", QueueBase: queueBase = "", BucketName: bucket, ApiUrl: apiUrl } = deployed();
  const { engine, close } = engineOn(
    {
      tableName,
      queueBase,
      ...(bucket !== undefined && { bucket }),
      endpoint: endpointAt(port),
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
    },
    workflows,
  );
  try {
    // again and again on one stack: an id that was used is another run's
    const suffix = Date.now().toString(36);
    const planned = (await planOf()).map((each) => renamed(each, `${each.runId}-${suffix}`));
    say(`Starting ${planned.length} runs on ${endpointAt(port)}; MiniStack looks at a queue about once a second.`);
    if (apiUrl !== undefined) await startOverHttp(createApiClient(apiUrl, port), planned.slice(0, overHttp), say);
    let told = "";
    const onLook = (runs: readonly Driven[]) => {
      const ended = runs.filter(({ run }) => run?.endedAtMs !== undefined).length;
      const line = `  ${ended} of ${runs.length} have ended`;
      if (line !== told) say(line);
      told = line;
    };
    const runs = await drive(planned, { engine, watcher: engine, onLook, pollMs: 500, limitMs });
    let wrong = 0;
    for (const { planned: plan, ref, run, troubles } of runs) {
      const found = run
        ? [
            ...troubles,
            ...differences(plan.expect, await timeline(engine, ref), outputOf(await readResult(engine, ref))),
          ]
        : [...troubles, "there is no such run"];
      wrong += found.length;
      say(`${run ? statusOf(run).padEnd(10) : "missing   "} ${plan.runId}: ${plan.about}`);
      for (const each of found) say(`           otherwise than its file says: ${each}`);
    }
    say(wrong === 0 ? `All ${runs.length} runs ended as their input files say.` : `${wrong} differences.`);
    return wrong;
  } finally {
    close();
  }
}

async function startOverHttp(ask: Ask, runs: readonly PlannedRun[], say: (line: string) => void): Promise<void> {
  for (const { workflow, runId, input } of runs) {
    const { status, body } = await ask("POST", "/runs", { body: { workflow, runId, input } });
    say(`  POST /runs ${runId}: ${status}`);
    if (status !== 201) throw new Error(`The API did not start ${runId}: ${JSON.stringify(body)}`);
  }
}

const outputOf = ({ output }: Awaited<ReturnType<typeof readResult>>) => (output?.ok ? output.value : undefined);

async function planOf(): Promise<readonly PlannedRun[]> {
  const files = ["order", "documents"].map((name) => join(root, "examples", name, "runs.json"));
  const all = (await Promise.all(files.map(readRunFile))).flat();
  return shown.map((runId) => {
    const found = all.find((each) => each.runId === runId);
    if (!found) throw new Error(`No input file has a run ${runId}.`);
    return found;
  });
}

/** Ids stand in what a run yields, too. */
function renamed(planned: PlannedRun, runId: string): PlannedRun {
  const text = JSON.stringify(planned).replaceAll(planned.runId, runId);
  return JSON.parse(text) as PlannedRun;
}
