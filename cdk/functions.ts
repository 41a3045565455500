import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import type { ISecurityGroup, IVpc, SubnetSelection, Vpc } from "aws-cdk-lib/aws-ec2";
import type { IRole } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Architecture, RecursiveLoop, Runtime, Tracing } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { bundlingOf, type FunctionBundling } from "./bundling.ts";
import { roleFor } from "./roles.ts";

/** What may be chosen of a function. */
export interface FunctionOptions {
  /** File that exports `handler`. */
  readonly entry?: string;
  /** 1024 MB unless given: CPU comes with memory. */
  readonly memoryMb?: number;
  readonly timeoutS?: number;
  /** Beside our own variables, which are refused here. `NODE_OPTIONS` is added to ours. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * A role of your own; one of the function's alone unless given. What the function needs is added to it, unless it was imported as
   * not mutable: then it has to hold what docs/security.md lists.
   */
  readonly role?: IRole;
  readonly vpc?: IVpc | Vpc;
  readonly vpcSubnets?: SubnetSelection;
  readonly securityGroups?: readonly ISecurityGroup[];
  /** How esbuild makes the code. */
  readonly bundling?: FunctionBundling;
}

/** What may be chosen of a function that takes from queues. */
export interface MappedOptions extends FunctionOptions {
  /**
   * Invocations at once per queue, 2 to 1000; 50 unless given (2 of dead tasks). The limit belongs to the mapping: a reserved concurrency below it
   * would push messages into the dead-letter queue (L6).
   */
  readonly maxConcurrency?: number;
  /** For how long a received message is hidden: six time-outs and the batch's window unless given. Less is refused (L5). */
  readonly visibilityS?: number;
}

/** A function as it is to be made; its choices, complete. */
export interface FunctionSpec extends FunctionOptions {
  readonly entry: string;
  /** Absolute path of what `#workflows` stands for in the entry. */
  readonly workflowsFile: string;
  readonly timeoutS: number;
  readonly description: string;
  /** The variables that the code reads: names of `lib/aws/names.ts`. */
  readonly variables: Readonly<Record<string, string>>;
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  readonly kmsKey?: IKey | undefined;
  /** For a function that no queue feeds. */
  readonly reservedConcurrency?: number;
}

/** A file of `functions/`, beside this one: TypeScript in the repository, JavaScript in the package. */
export function entryOf(name: string): string {
  const here = fileURLToPath(import.meta.url);
  return fileURLToPath(new URL(`../functions/${name}${extname(here)}`, import.meta.url));
}

/**
 * A function of the cycle. Lambda cuts a chain of about 16 hops between SQS and functions, a healthy run included, unless the function
 * allows the loop (L1); budgets of the engine replace that net. Traced by X-Ray; an asynchronous call that failed is not repeated, as
 * whoever called comes again by itself.
 */
export function createFunction(scope: Construct, id: string, spec: FunctionSpec): NodejsFunction {
  const { vpc, vpcSubnets, securityGroups, kmsKey, reservedConcurrency } = spec;
  const logGroup = new LogGroup(scope, `${id}Logs`, {
    retention: spec.logRetention,
    removalPolicy: spec.removalPolicy,
    ...(kmsKey && { encryptionKey: kmsKey }),
  });
  return new NodejsFunction(scope, id, {
    entry: spec.entry,
    handler: "handler",
    description: spec.description,
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: spec.memoryMb ?? 1024,
    timeout: Duration.seconds(spec.timeoutS),
    recursiveLoop: RecursiveLoop.ALLOW,
    tracing: Tracing.ACTIVE,
    role: roleFor(scope, id, { ...spec, logGroup }),
    environment: variablesOf(id, spec),
    logGroup,
    retryAttempts: 0,
    maxEventAge: Duration.minutes(1),
    ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
    ...(vpc && { vpc: vpc as IVpc }),
    ...(vpcSubnets && { vpcSubnets }),
    ...(securityGroups && { securityGroups: [...securityGroups] }),
    bundling: bundlingOf(id, spec.workflowsFile, spec.bundling),
  });
}

function variablesOf(id: string, { variables, environment = {} }: FunctionSpec): Record<string, string> {
  const { NODE_OPTIONS: nodeOptions, ...others } = environment;
  for (const name of Object.keys(others)) {
    if (!name.startsWith("TICKWRIGHT_")) continue;
    throw new Error(
      `The environment of ${id} sets ${name}, which is the construct's: remove it, and set what it stands for in the props.`,
    );
  }
  return {
    NODE_OPTIONS: ["--enable-source-maps", nodeOptions].filter(Boolean).join(" "),
    ...others,
    ...variables,
  };
}
