import { randomUUID } from "node:crypto";
import type { Context } from "aws-lambda";
import { account, region } from "./endpoint.ts";

/** A function as Lambda calls it. */
export type LambdaFunction<Event, Answer> = (event: Event, context: Context) => Promise<Answer>;

/** How an invocation ended. A timed-out one goes on, as a zombie: what it still writes must be harmless (L9). */
export type Invoked<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timed-out" };

/** Calls a function with a context of its own, and abandons it at its time-out. Never throws. */
export async function invoke<Event, Answer>(
  functionName: string,
  run: LambdaFunction<Event, Answer>,
  event: Event,
  timeoutMs: number,
): Promise<Invoked<Answer>> {
  const { promise: timedOut, resolve } = Promise.withResolvers<{ readonly kind: "timed-out" }>();
  const timer = setTimeout(resolve, timeoutMs, { kind: "timed-out" });
  const context = contextOf(functionName, performance.now() + timeoutMs);
  const answered = (async (): Promise<Invoked<Answer>> => {
    try {
      return { kind: "answered", answer: await run(event, context) };
    } catch (error) {
      return { kind: "threw", error };
    }
  })();
  const ended = await Promise.race([answered, timedOut]);
  clearTimeout(timer);
  return ended;
}

function contextOf(functionName: string, endsAtMs: number): Context {
  const ignored = () => undefined;
  return {
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: `arn:aws:lambda:${region}:${account}:function:${functionName}`,
    memoryLimitInMB: "1024",
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: "local",
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => Math.max(0, Math.round(endsAtMs - performance.now())),
    done: ignored,
    fail: ignored,
    succeed: ignored,
  };
}
