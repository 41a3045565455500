import middy, { type MiddlewareObj } from "@middy/core";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { HttpRequest, HttpResponse } from "../ports/exchange.ts";
import type { HandedBack, Received, Remaining } from "../ports/received.ts";
import type { Log, Metrics } from "../ports.ts";
import { runBatch } from "./batch.ts";
import { namingInvocations } from "./current-invocation.ts";
import { answerFrom, type HttpAnswer, type HttpEvent, requestFrom } from "./http-events.ts";
import { warningOfTime } from "./time-short.ts";

/** What every function's dependencies hold, whatever else the verb wants. */
export interface Instruments {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What a layer is shown of an invocation. It cannot reach the response: see `Layer`. */
export interface Invocation {
  readonly event: unknown;
  readonly context: Context;
}

/**
 * Something around every invocation. A layer has no say in the answer: in middy a `before` or `onError` that returns anything, or
 * touches `request.response`, turns a failed SQS batch into a success and its messages are deleted. So a layer returns nothing (also
 * at run time: what it returns is dropped), sees no request object, and what it throws after the verb is only logged.
 */
export interface Layer {
  readonly before?: (invocation: Invocation) => undefined | Promise<undefined>;
  /** After the verb returned or threw, outermost layer last. */
  readonly after?: (invocation: Invocation) => undefined | Promise<undefined>;
}

/** How a function is put together. */
export interface Onion<Deps extends Instruments> {
  /**
   * Builds the dependencies, once per execution environment. It starts when the module is loaded, which Lambda does before it hands
   * over an event, so a cold start costs no retry budget. If it fails, the next invocation tries again.
   */
  readonly init: () => Deps | Promise<Deps>;
  /** Kept back of the function's time to flush and answer; 500 ms unless given. The engine keeps back its own for the last commit. */
  readonly reserveMs?: number;
  /** Innermost last. */
  readonly layers?: readonly Layer[];
}

export type BatchVerb<Deps> = (deps: Deps, batch: readonly Received[], remaining: Remaining) => Promise<HandedBack>;
export type ScheduledVerb<Deps> = (deps: Deps, remaining: Remaining) => Promise<unknown>;
export type HttpVerb<Deps> = (deps: Deps, request: HttpRequest) => Promise<HttpResponse>;
export type HttpHandler = (event: HttpEvent, context: Context) => Promise<HttpAnswer>;
export type BatchHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
export type ScheduledHandler = (event: unknown, context: Context) => Promise<void>;

/** A Lambda function behind an SQS event source with `ReportBatchItemFailures`. */
export function onBatch<Deps extends Instruments>(onion: Onion<Deps>, verb: BatchVerb<Deps>): BatchHandler {
  return wrapped(onion, async (deps, event: SQSEvent, remaining) => {
    const outcome = await runBatch(event, (batch) => verb(deps, batch, remaining));
    for (const { what, cause } of outcome.defects) deps.log.write("error", "batch-defect", { what, cause });
    if (outcome.handedBack > 0) deps.metrics.count("messages-handed-back", outcome.handedBack);
    return outcome.response;
  });
}

/** A Lambda function on a schedule. What the verb throws is thrown: the scheduler tries again, and the error is counted. */
export function onSchedule<Deps extends Instruments>(onion: Onion<Deps>, verb: ScheduledVerb<Deps>): ScheduledHandler {
  return wrapped(onion, async (deps, _event: unknown, remaining) => {
    await verb(deps, remaining);
  });
}

/** A Lambda function behind an HTTP API, a function URL or a REST API. The verb answers; what it throws is the gateway's 500. */
export function onHttp<Deps extends Instruments>(onion: Onion<Deps>, verb: HttpVerb<Deps>): HttpHandler {
  return wrapped(onion, async (deps, event: HttpEvent) => answerFrom(await verb(deps, requestFrom(event))));
}

/** One function with two sources: a schedule, and the queue whose batches it takes too. */
export function bySource(
  onBatches: BatchHandler,
  onTimes: ScheduledHandler,
): (
  event: SQSEvent | { readonly Records?: never; readonly [name: string]: unknown },
  context: Context,
) => Promise<SQSBatchResponse | undefined> {
  return async (event, context) => {
    if (event.Records !== undefined) return onBatches(event, context);
    await onTimes(event, context);
    return undefined;
  };
}

/** Milliseconds until Lambda ends the invocation, less what is kept back; never negative. */
function remainingOf(context: Context, reserveMs: number): Remaining {
  return () => Math.max(0, context.getRemainingTimeInMillis() - reserveMs);
}

function wrapped<Deps extends Instruments, Event, Answer>(
  onion: Onion<Deps>,
  run: (deps: Deps, event: Event, remaining: Remaining) => Promise<Answer>,
): (event: Event, context: Context) => Promise<Answer> {
  const deps = onceOrAgain(onion.init);
  const reserveMs = onion.reserveMs ?? 500;
  const handler = middy(async (event: Event, context: Context) =>
    run(await deps.ready(), event, remainingOf(context, reserveMs)),
  );
  for (const layer of [namingInvocations, flushing(deps), warningOfTime(deps.standing), ...(onion.layers ?? [])])
    handler.use(muted(layer, deps));
  return handler;
}

/** Dependencies that are being built or stand: begun at once, begun anew by the next `ready` when that failed. */
interface Built<Deps> {
  ready(): Promise<Deps>;
  /** What stands; never begins anything, never throws. */
  standing(): Promise<Deps | undefined>;
}

function onceOrAgain<Deps>(init: () => Deps | Promise<Deps>): Built<Deps> {
  let kept: Promise<Deps> | undefined;
  const begin = (): Promise<Deps> => {
    const begun = (async () => init())();
    begun.catch(() => {
      if (kept === begun) kept = undefined;
    });
    return begun;
  };
  kept = begin();
  return {
    ready: () => {
      kept ??= begin();
      return kept;
    },
    standing: async () => kept?.catch(() => undefined),
  };
}

/** Metrics leave with each invocation: between two, Lambda freezes the process. */
function flushing(deps: Built<Instruments>): Layer {
  return {
    after: async () => {
      await (await deps.standing())?.metrics.flush();
      return undefined;
    },
  };
}

/** A layer as middy takes it, without a way to answer. */
function muted<Event>(layer: Layer, deps: Built<Instruments>): MiddlewareObj<Event> {
  const after = async ({ event, context }: Invocation): Promise<void> => {
    try {
      await layer.after?.({ event, context });
    } catch (cause) {
      (await deps.standing())?.log.write("error", "layer-defect", { cause });
    }
  };
  return {
    before: async ({ event, context }): Promise<void> => {
      await layer.before?.({ event, context });
    },
    after,
    onError: after,
  };
}
