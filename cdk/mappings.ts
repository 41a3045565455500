import { Duration } from "aws-cdk-lib";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { type Source, wiring } from "../lib/aws/wiring.ts";
import { watchQueue } from "../lib/core/queue-names.ts";
import type { MappedOptions } from "./functions.ts";
import type { CoordinatorOptions } from "./props.ts";

/** A queue and the function that takes from it, complete and checked. */
export interface Mapping extends Source {
  readonly windowS: number;
  readonly maxConcurrency: number;
  readonly visibilityS: number;
}

/** AWS hides a message for at most twelve hours. */
const visibilityMaxS = 43_200;

/** Throws at synthesis what AWS would refuse, and what it would take and regret. */
export function mappingOf(source: Source, options: MappedOptions & CoordinatorOptions, timeoutS: number): Mapping {
  const { queue, consumer } = source;
  const isBatched = consumer === "coordinator" && queue !== watchQueue;
  const batchSize = isBatched ? (options.batchSize ?? source.batchSize) : source.batchSize;
  const windowS = isBatched ? (options.batchWindowS ?? 0) : 0;
  const maxConcurrency = options.maxConcurrency ?? wiring.maxConcurrency[concurrencyOf(consumer)];
  const leastS = wiring.visibilityTimeouts * timeoutS + windowS;
  const visibilityS = options.visibilityS ?? leastS;
  within(`The batchSize of ${consumer}`, batchSize, 1, 10);
  within(`The batchWindowS of ${consumer}`, windowS, 0, 300);
  within(`The maxConcurrency of ${consumer}`, maxConcurrency, 2, 1000);
  if (visibilityS < leastS) {
    throw new Error(
      `The visibilityS of ${consumer}, ${visibilityS}, is less than ${wiring.visibilityTimeouts} time-outs of ${timeoutS} s and the batch's window of ${windowS} s: a message would be worked on twice. Set at least ${leastS}, or leave it out.`,
    );
  }
  within(`The visibilityS of ${consumer}`, visibilityS, 0, visibilityMaxS);
  return { ...source, batchSize, windowS, maxConcurrency, visibilityS };
}

function concurrencyOf(consumer: Source["consumer"]): keyof typeof wiring.maxConcurrency {
  if (consumer === "dead-tasks") return "deadTasks";
  return consumer === "coordinator" ? "coordinator" : "worker";
}

function within(what: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new Error(`${what} is ${value}: it must be a whole number from ${least} to ${most}.`);
}

/**
 * Lambda ignores what a function hands back unless the mapping reports failures (L2), so nobody can switch that off here. The right to
 * take from the queue is granted beside this, and without the use of its key for anything else.
 */
export function attach(to: NodejsFunction, queue: Queue, mapping: Mapping, isHalted: boolean): void {
  to.addEventSourceMapping(queue.node.id, {
    eventSourceArn: queue.queueArn,
    batchSize: mapping.batchSize,
    maxConcurrency: mapping.maxConcurrency,
    reportBatchItemFailures: true,
    enabled: !isHalted,
    ...(mapping.windowS > 0 && { maxBatchingWindow: Duration.seconds(mapping.windowS) }),
  });
}
