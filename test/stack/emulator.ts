import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrapAndDeploy, cdk } from "../../stack/cdk-cli.ts";
import { endpointAt, envFor, untilUp } from "../../stack/endpoint.ts";
import { installMinistack, spawnMinistack } from "../../stack/ministack.ts";

export interface Emulator {
  readonly port: number;
  readonly endpoint: string;
  /** What the AWS SDK and the CDK's CLI take from the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What it and the functions on it have printed. */
  log(): string;
  stop(): Promise<void>;
}

/** MiniStack on a free port of loopback, installed if it is not there. With `isIamEnforced`, a function without a grant is refused as in AWS. */
export async function startEmulator(options: { readonly isIamEnforced: boolean }): Promise<Emulator> {
  installMinistack((line) => console.info(line));
  const folder = mkdtempSync(join(tmpdir(), "tickwright-emulator-"));
  const port = await freePort();
  const logFile = join(folder, "log");
  const server = spawnMinistack({ port, logFile, isIamEnforced: options.isIamEnforced });
  const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  const log = () => readFileSync(logFile, "utf8");
  const stop = async (): Promise<void> => {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  await untilUp(port, { limitMs: 60_000, onGiveUp: () => `MiniStack did not come up: ${log()}` }).catch(
    async (error: unknown) => {
      await stop();
      throw error;
    },
  );
  return { port, endpoint: endpointAt(port), env: envFor(port), log, stop };
}

export type Outputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Synthesizes an app and deploys it with the CDK's own CLI, into an account that it bootstraps. Returns its outputs, by stack. The
 * template is deployed as it was synthesized, unless `change` is given one file after the other.
 */
export function deploy(
  emulator: Emulator,
  appFile: string,
  options: { readonly env?: Readonly<Record<string, string>>; readonly change?: (file: string) => void } = {},
): Outputs {
  const assembly = mkdtempSync(join(tmpdir(), "tickwright-assembly-"));
  try {
    Object.assign(process.env, options.env);
    cdk(emulator.port, ["synth", "--quiet", "--app", `node ${appFile}`, "--output", assembly], { isQuiet: true });
    for (const file of options.change ? readdirSync(assembly) : [])
      if (file.endsWith(".template.json")) options.change?.(join(assembly, file));
    const outputsFile = join(assembly, "outputs.json");
    bootstrapAndDeploy(emulator.port, { app: assembly, outputsFile, isQuiet: true });
    return JSON.parse(readFileSync(outputsFile, "utf8")) as Outputs;
  } finally {
    rmSync(assembly, { recursive: true, force: true });
  }
}

interface Statement {
  readonly Effect: string;
  Action: string | string[];
  readonly Condition?: unknown;
}

/**
 * Where the emulator differs from AWS once it enforces IAM. It speaks plain HTTP, which the policies that demand TLS refuse. It checks
 * `SendMessageBatch` as an action of its own; in AWS `sqs:SendMessage` covers it (Service Authorization Reference, "Actions defined by
 * Amazon SQS"). Everything else is deployed as it stands.
 */
export function concede(file: string): void {
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

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
