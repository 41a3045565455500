import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { workflows as configured } from "#workflows";
import { groupsOf } from "../lib/authoring/groups.ts";
import { createDynamodbStore } from "../lib/aws/dynamodb-store.ts";
import { onBatch, onSchedule } from "../lib/aws/handler.ts";
import { createJsonLog } from "../lib/aws/json-log.ts";
import { processClock, processRandom } from "../lib/aws/process.ts";
import { createS3Payloads } from "../lib/aws/s3-payloads.ts";
import { createSqsQueue } from "../lib/aws/sqs-queue.ts";
import { Fault } from "../lib/core/faults.ts";
import { defaultLimits, type Limits } from "../lib/core/limits.ts";
import { bury } from "../lib/engine/bury.ts";
import { coordinate } from "../lib/engine/coordinate.ts";
import { createEngine, type Engine } from "../lib/engine/engine.ts";
import { start } from "../lib/engine/start.ts";
import { watch } from "../lib/engine/watch.ts";
import { work } from "../lib/engine/work.ts";
import { answer } from "../lib/http/api.ts";
import { type AnyWorkflow, createRegistry } from "../lib/index.ts";
import { startHttpServer } from "../lib/local/http-server.ts";
import { createMortality, type Mortality } from "../lib/local/mortal.ts";
import { type Stack, type StackOptions, startStack } from "../lib/local/stack.ts";
import { awsCommand, nodeCommand } from "../lib/local/wake-command.ts";
import type { Events, Log, Metrics, RunStore } from "../lib/ports.ts";

/** What a developer's machine wants otherwise than AWS: faults heal in seconds instead of minutes. */
export const devLimits: Limits = {
  ...defaultLimits,
  clockSlackMs: 500,
  dispatchGraceMs: 5_000,
  owedGraceMs: 5_000,
  childPollMs: 10_000,
  strikeSpacingMs: 25_000,
  stuckAfterMs: 60_000,
  watchIntervalMs: 5_000,
  reserveMs: 500,
};

export interface DevOptions extends Pick<StackOptions, "dataFolder" | "ports" | "scale" | "onNotice"> {
  readonly workflows: readonly AnyWorkflow[];
  readonly log: Log;
  readonly metrics: Metrics;
  /** Stands before the table's adapter: to meter it. */
  readonly around?: (store: RunStore) => RunStore;
  /** Lets the stack's meters count capacity units. */
  readonly isMetered?: boolean;
  /** Otherwise than {@link devLimits}. */
  readonly limits?: Partial<Limits>;
  /** Where ends of runs and opened gates are told; nowhere unless given. */
  readonly events?: Events;
  /** Of the API; any free one unless given. */
  readonly apiPort?: number;
}

export interface Dev {
  readonly stack: Stack;
  readonly engine: Engine;
  readonly mortality: Mortality;
  /** Where the API is. */
  readonly apiUrl: string;
}

/** The embedded stack with the functions of the deployed one behind its pollers. Each start is a build of its own, so the watchdog wakes what is parked. */
export async function startDev(options: DevOptions): Promise<Dev> {
  const mortality = createMortality();
  const groups = groupsOf(options.workflows);
  let engine: Engine | undefined;
  const stack = await startStack({
    groups,
    ...options,
    functions: (wired) => {
      const [clock, random] = [processClock, processRandom];
      const store = createDynamodbStore({
        client: wired.clients.dynamodb,
        tableName: wired.tableName,
        isMetered: options.isMetered ?? false,
        clock,
        random,
      });
      const built = createEngine({
        store: mortality.guarded(options.around ? options.around(store) : store),
        queue: mortality.guarded(
          createSqsQueue({ client: wired.clients.sqs, queueBase: wired.queueBase, clock, random }),
        ),
        payloads: mortality.guarded(createS3Payloads({ client: wired.clients.s3, bucket: wired.bucket, clock })),
        events: options.events,
        clock,
        random,
        log: options.log,
        metrics: options.metrics,
        registry: createRegistry(options.workflows),
        limits: { ...devLimits, ...options.limits },
        build: `dev-${clock.nowMs()}`,
      });
      engine = built;
      const onion = { init: () => built };
      const worker = (group: string) =>
        onBatch<Engine>(
          onion,
          mortality.invocation((deps, batch, remaining) => work(deps, group, batch, remaining)),
        );
      return {
        coordinator: onBatch(onion, mortality.invocation(coordinate)),
        workers: Object.fromEntries(groups.map((group) => [group, worker(group)])),
        watchdog: onSchedule(onion, watch),
        deadTasks: onBatch(onion, bury),
      };
    },
  });
  if (!engine) throw new Error("the stack did not build its functions");
  const api = { engine, tenancy: {} };
  const server = await startHttpServer({ port: options.apiPort ?? 0, answer: (request) => answer(api, request) }).catch(
    async (error) => {
      await stack.stop();
      throw error;
    },
  );
  const stop = async () => {
    await server.stop();
    await stack.stop();
  };
  return { stack: { ...stack, stop }, engine, mortality, apiUrl: server.url };
}

const help = `npm run dev -- [options]

Runs Tickwright on this machine: DynamoDB, SQS and S3 on loopback, and the functions behind them.

  --ephemeral       keep nothing; otherwise everything stays in .tickwright/ and goes on at the next start
  --data FOLDER     keep it elsewhere
  --start FILE      start the runs of a JSON file: [{ "workflow": "order", "runId": "o-1", "input": { ... } }, ...]
  --events          print what an installation with a bus would publish
  --api-port N      where the HTTP API listens; any free port otherwise
  --quiet           print no log lines
  --help            this text
`;

const options = {
  ephemeral: { type: "boolean" },
  data: { type: "string" },
  start: { type: "string" },
  "api-port": { type: "string" },
  events: { type: "boolean" },
  quiet: { type: "boolean" },
  help: { type: "boolean" },
} as const;

interface StartedRun {
  readonly workflow: string;
  readonly runId: string;
  readonly input: unknown;
}

/** What the command line asks for. What nobody can make sense of ends the process, with the reason and the help. */
async function asked() {
  try {
    const { values } = parseArgs({ options });
    const runs: unknown = values.start === undefined ? [] : JSON.parse(await readFile(values.start, "utf8"));
    if (!Array.isArray(runs)) throw new Error(`${values.start} is not a list of runs.`);
    const apiPort = Number(values["api-port"] ?? 0);
    if (!Number.isInteger(apiPort) || apiPort < 0 || apiPort > 65_535)
      throw new Error(`--api-port must be a port, not ${values["api-port"]}.`);
    return { ...values, apiPort, runs: runs as readonly StartedRun[] };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return process.exit(2);
  }
}

async function main(): Promise<void> {
  const values = await asked();
  if (values.help) return void process.stdout.write(help);
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const log = createJsonLog({
    print: values.quiet ? () => undefined : print,
    nowMs: processClock.nowMs,
    minimum: "debug",
  });
  const dev = await startDev({
    workflows: configured,
    log,
    metrics: { count: () => undefined, flush: async () => undefined },
    apiPort: values.apiPort,
    ...(values.events && { events: printed(print) }),
    ...(!values.ephemeral && { dataFolder: values.data ?? ".tickwright" }),
    onNotice: (notice) => log.write("warn", `stack.${notice.kind}`, { ...notice }),
  });
  const { stack, engine, apiUrl } = dev;
  const message = {
    endpoint: stack.endpoints.sqs,
    queueUrl: stack.queueUrl("wake:standard"),
    body: '{"runId":"RUN-ID"}',
  };
  print(
    `Tickwright is running: DynamoDB at ${stack.endpoints.dynamodb}, SQS and S3 at ${stack.endpoints.sqs}, table ${stack.tableName}.`,
  );
  print(`API at ${apiUrl}: curl ${apiUrl}/health`);
  print(`Workflows: ${configured.map((workflow) => workflow.name).join(", ")}.`);
  print(
    `\nWake a run by hand, from this folder (put its id for RUN-ID):\n\n  ${nodeCommand(message)}\n\nor, with the AWS CLI:\n\n  ${awsCommand(message)}\n`,
  );
  await startAll(engine, values.runs, print);
  print("Stop with Ctrl-C.");
  const stop = () => void stack.stop().then(() => process.exit(0));
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

/** A bus that prints. */
function printed(print: (line: string) => void): Events {
  return {
    async send(events) {
      for (const event of events) print(`event ${JSON.stringify(event)}`);
      return events.map(() => ({ kind: "sent" }));
    },
  };
}

async function startAll(engine: Engine, runs: readonly StartedRun[], print: (line: string) => void): Promise<void> {
  for (const { workflow, runId, input } of runs) {
    try {
      const { isNew } = await start(engine, { workflow, runId, input });
      print(`${isNew ? "started" : "was there"} ${workflow} ${runId}`);
    } catch (error) {
      if (!Fault.is(error)) throw error;
      print(`not started: ${workflow} ${runId}: ${error.message}`);
    }
  }
}

if (import.meta.main) await main();
