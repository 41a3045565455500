import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const ministack = join(root, ".venv/bin/ministack");

/** Whether MiniStack is installed: `python3 -m venv .venv && .venv/bin/pip install ministack==1.5.33`. */
export const hasEmulator = existsSync(ministack);
if (!hasEmulator) {
  console.warn("Skipped: MiniStack is missing. python3 -m venv .venv && .venv/bin/pip install ministack==1.5.33");
}

export interface Emulator {
  readonly endpoint: string;
  /** What the AWS SDK and the CDK's CLI take from the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What it and the functions on it have printed. */
  log(): string;
  stop(): Promise<void>;
}

/** MiniStack on a free port of loopback, with IAM enforced: a function without a grant is refused as in AWS. */
export async function startEmulator(): Promise<Emulator> {
  const folder = mkdtempSync(join(tmpdir(), "tickwright-emulator-"));
  const port = await freePort();
  const endpoint = `http://localhost:${port}`;
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "us-east-1",
    AWS_DEFAULT_REGION: "us-east-1",
    // Its functions run on the node that is first here.
    PATH: [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
  };
  const logFile = join(folder, "log");
  const output = openSync(logFile, "w");
  const server = spawn(ministack, [], {
    env: { ...process.env, ...env, GATEWAY_PORT: String(port), BIND_HOST: "127.0.0.1", AUTH: "true" },
    stdio: ["ignore", output, output],
  });
  const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const log = () => readFileSync(logFile, "utf8");
  for (let tries = 0; !(await isUp(endpoint)); tries++) {
    if (tries > 120) {
      const said = log();
      await stop();
      throw new Error(`MiniStack did not come up: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return { endpoint, env, log, stop };
}

/** Synthesizes an app and deploys it with the CDK's own CLI, into an account that it bootstraps. Returns its outputs, by stack. */
export function deploy(emulator: Emulator, appFile: string): Record<string, Record<string, string>> {
  const assembly = mkdtempSync(join(tmpdir(), "tickwright-assembly-"));
  try {
    cdk(emulator, ["synth", "--quiet", "--app", `node ${appFile}`, "--output", assembly]);
    for (const file of readdirSync(assembly)) {
      if (file.endsWith(".template.json")) concede(join(assembly, file));
    }
    const outputs = join(assembly, "outputs.json");
    cdk(emulator, ["bootstrap", "aws://000000000000/us-east-1", "--app", assembly]);
    cdk(emulator, ["deploy", "--all", "--app", assembly, "--require-approval", "never", "--outputs-file", outputs]);
    return JSON.parse(readFileSync(outputs, "utf8")) as Record<string, Record<string, string>>;
  } finally {
    rmSync(assembly, { recursive: true, force: true });
  }
}

function cdk(emulator: Emulator, args: readonly string[]): void {
  const run = spawnSync(join(root, "node_modules/.bin/cdk"), args, {
    cwd: root,
    env: { ...process.env, ...emulator.env },
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(`cdk ${args[0]} failed: ${run.stdout}${run.stderr}`);
}

interface Statement {
  readonly Effect: string;
  Action: string | string[];
  readonly Condition?: unknown;
}

/**
 * Where the emulator differs from AWS. It speaks plain HTTP, which the policies that demand TLS refuse. It checks `SendMessageBatch` as an
 * action of its own; in AWS `sqs:SendMessage` covers it (Service Authorization Reference, "Actions defined by Amazon SQS").
 */
function concede(file: string): void {
  const template = JSON.parse(readFileSync(file, "utf8")) as {
    Resources: Record<string, { Type: string; Properties?: { PolicyDocument?: { Statement: Statement[] } } }>;
  };
  for (const [id, { Type, Properties }] of Object.entries(template.Resources)) {
    if (Type === "AWS::SQS::QueuePolicy" || Type === "AWS::S3::BucketPolicy") delete template.Resources[id];
    for (const statement of Properties?.PolicyDocument?.Statement ?? []) {
      const actions = [statement.Action].flat();
      if (actions.includes("sqs:SendMessage")) statement.Action = [...actions, "sqs:SendMessageBatch"];
    }
  }
  writeFileSync(file, JSON.stringify(template));
}

async function isUp(endpoint: string): Promise<boolean> {
  const answer = await fetch(`${endpoint}/_ministack/health`).catch(() => undefined);
  return answer?.ok === true;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
