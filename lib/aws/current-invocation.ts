import type { Context } from "aws-lambda";
import type { Layer } from "./handler.ts";

/** Lambda gives a process one invocation at a time, so what runs now is one for all of it. */
let requestId: string | undefined;

/** Fields of every log line of the invocation that runs: its request id, and the trace that X-Ray put into the environment. */
export function invocationFields(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const trace = /Root=([^;]+)/.exec(env["_X_AMZN_TRACE_ID"] ?? "")?.[1];
  return { ...(requestId !== undefined && { requestId }), ...(trace !== undefined && { trace }) };
}

/** Says which invocation it is, from its beginning to its end. */
export const namingInvocations: Layer = {
  before: ({ context }: { readonly context: Context }) => {
    requestId = context.awsRequestId;
    return undefined;
  },
  after: () => {
    requestId = undefined;
    return undefined;
  },
};
