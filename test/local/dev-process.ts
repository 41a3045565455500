import { type ChildProcess, exec, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { registry } from "../../examples/registry.ts";
import { devLimits } from "../../functions/dev.ts";
import { createDynamodbClient, createS3Client } from "../../lib/aws/clients.ts";
import { createDynamodbStore } from "../../lib/aws/dynamodb-store.ts";
import { processClock, processRandom } from "../../lib/aws/process.ts";
import { createS3Payloads } from "../../lib/aws/s3-payloads.ts";
import { createEngine, type Engine } from "../../lib/engine/engine.ts";
import { credentials, region } from "../../lib/local/endpoint.ts";
import { createRecordingLog, createRecordingMetrics } from "../../lib/testing/recording.ts";

const root = join(import.meta.dirname, "..", "..");

/** `npm run dev` as a process of its own, with what it prints about itself. */
export interface DevProcess {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly tableName: string;
  /** Runs the printed command for a run; gives what that prints. */
  wake(runId: string): Promise<string>;
  /** As the kernel would: without a warning. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it, and waits until it has said everything. */
export async function spawnDev(args: readonly string[]): Promise<DevProcess> {
  const child = spawn(process.execPath, [join(root, "functions", "dev.ts"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: string[] = [];
  child.stderr.on("data", (chunk) => said.push(String(chunk)));
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (line.startsWith("Stop with")) break;
  }
  child.stdout.resume();
  const text = said.join("\n");
  const found = /DynamoDB at (\S+), SQS and S3 at (\S+), table ([\w-]+)/.exec(text);
  const command = said.find((line) => line.trim().startsWith("node --input-type"));
  if (!found || !command) throw new Error(`the process did not start: ${text}`);
  const [, dynamodb = "", sqs = "", tableName = ""] = found;
  return {
    dynamodb,
    sqs,
    tableName,
    wake: async (runId) => (await promisify(exec)(command.replace("RUN-ID", runId), { cwd: root })).stdout,
    kill: () => ended(child, "SIGKILL"),
    stop: () => ended(child, "SIGTERM"),
  };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

/**
 * The engine's verbs against the table of another process. None of its messages arrives anywhere, and what it leaves for the watchdog is
 * due long after the test.
 */
export function engineAt({ dynamodb, sqs, tableName }: DevProcess): { engine: Engine; close(): void } {
  const [clock, random] = [processClock, processRandom];
  const table = createDynamodbClient({ endpoint: dynamodb, region, credentials });
  const objects = createS3Client({ endpoint: sqs, region, credentials });
  const engine = createEngine({
    store: createDynamodbStore({ client: table, tableName, clock, random }),
    queue: {
      send: async (messages) => messages.map(() => ({ kind: "sent" })),
      isBehind: async () => false,
    },
    payloads: createS3Payloads({ client: objects, bucket: tableName.replace(/-table$/, "-payloads"), clock }),
    clock,
    random,
    log: createRecordingLog(),
    metrics: createRecordingMetrics(),
    registry,
    limits: { ...devLimits, owedGraceMs: 600_000 },
    build: "test",
  });
  const close = () => {
    table.destroy();
    objects.destroy();
  };
  return { engine, close };
}
