import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import type { IVpc, SubnetSelection } from "aws-cdk-lib/aws-ec2";
import { Architecture, RecursiveLoop, Runtime } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { Source } from "../lib/aws/wiring.ts";

/** What may be chosen of a function. */
export interface FunctionOptions {
  /** File that exports `handler`. */
  readonly entry?: string;
  /** 1024 MB unless given: CPU comes with memory. */
  readonly memoryMb?: number;
  readonly timeoutS?: number;
  /** Invocations at once per queue, 2 to 1000: the limit belongs here, not into reserved concurrency (L6). */
  readonly maxConcurrency?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly vpc?: IVpc;
  readonly vpcSubnets?: SubnetSelection;
}

interface FunctionSpec extends FunctionOptions {
  readonly entry: string;
  /** Absolute path of what `#workflows` stands for in the entry. */
  readonly workflowsFile: string;
  readonly timeoutS: number;
  readonly description: string;
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
}

/** A file of `functions/`, beside this one: TypeScript in the repository, JavaScript in the package. */
export function entryOf(name: string): string {
  const here = fileURLToPath(import.meta.url);
  return fileURLToPath(new URL(`../functions/${name}${extname(here)}`, import.meta.url));
}

/**
 * A function of the cycle. Lambda cuts a chain of about 16 hops between SQS and functions, a healthy run included, unless the function
 * allows the loop (L1); budgets of the engine replace that net. Its code is one ES module with the AWS SDK in it, at the version that
 * was tested.
 */
export function createFunction(scope: Construct, id: string, spec: FunctionSpec): NodejsFunction {
  const { vpc, vpcSubnets } = spec;
  return new NodejsFunction(scope, id, {
    entry: spec.entry,
    handler: "handler",
    description: spec.description,
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: spec.memoryMb ?? 1024,
    timeout: Duration.seconds(spec.timeoutS),
    recursiveLoop: RecursiveLoop.ALLOW,
    environment: { NODE_OPTIONS: "--enable-source-maps", ...spec.environment },
    logGroup: new LogGroup(scope, `${id}Logs`, { retention: spec.logRetention, removalPolicy: spec.removalPolicy }),
    ...(vpc && { vpc }),
    ...(vpcSubnets && { vpcSubnets }),
    bundling: {
      format: OutputFormat.ESM,
      target: "node24",
      mainFields: ["module", "main"],
      minify: true,
      sourceMap: true,
      sourcesContent: false,
      externalModules: [],
      esbuildArgs: { "--alias": `#workflows=${spec.workflowsFile}` },
      banner: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
}

/** Lambda ignores what a function hands back unless the mapping reports failures (L2), so nobody can switch that off here. */
export function attach(to: NodejsFunction, queue: Queue, { batchSize }: Source, maxConcurrency: number): void {
  to.addEventSource(new SqsEventSource(queue, { batchSize, maxConcurrency, reportBatchItemFailures: true }));
}
