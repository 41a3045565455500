import type { Contract } from "../core/contract.ts";
import { Fault } from "../core/faults.ts";
import type { Json } from "../core/json.ts";
import type { Handler, StepContext } from "../core/registry.ts";
import { contractOf } from "./contract.ts";
import { durationMs } from "./duration.ts";
import { FatalError, RetryableError } from "./errors.ts";
import type { External } from "./external.ts";
import { inside } from "./inside.ts";
import { parse, parseJson } from "./parse.ts";
import type { Step } from "./step.ts";

/**
 * A step's (or an external's) function with its checks around it: the input before anything is claimed, so that input which no longer fits burns no
 * attempt, and the output before it is stored. Errors of the function become faults: `fatal` and `handler-failed`, with the
 * function's own message.
 */
export function createHandler(work: Step<never, unknown> | External<never, unknown>): Handler {
  const { body, input, output, handler } = work[inside];
  const parseOutput = async (raw: unknown) =>
    output === undefined ? null : parseJson(output, raw, "output", "bad-output");
  let contract: Contract | undefined;
  return {
    ref: body.handler,
    get contract() {
      contract ??= contractOf(work);
      return contract;
    },
    async prepare(raw: Json) {
      const kept = await parse(input, raw, "input", "bad-input");
      return async (context) => {
        const result = await called(handler, kept, context);
        // what begins something returns nothing of interest: the output comes from whoever completes it
        return work.kind === "external" ? null : parseOutput(result);
      };
    },
    parseOutput,
  };
}

async function called(
  handler: (input: unknown, context: StepContext) => unknown,
  input: unknown,
  context: StepContext,
): Promise<unknown> {
  try {
    return await handler(input, context);
  } catch (error) {
    throw faultOf(error);
  }
}

function faultOf(error: unknown): Fault {
  const message = error instanceof Error ? error.message || error.name : String(error);
  if (FatalError.is(error)) return new Fault("fatal", message, {}, { cause: error });
  const afterMs = RetryableError.is(error) ? durationMs(error.after) : undefined;
  return new Fault("handler-failed", message, afterMs === undefined ? {} : { afterMs }, { cause: error });
}
