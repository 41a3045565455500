import type { Json } from "../core/json.ts";

/** One call of a step's function or of its fake. */
export interface StepCall<In = Json> {
  readonly step: string;
  readonly node: string;
  /** Item of a map, iteration of a repeat; 0 elsewhere. */
  readonly index: number;
  /** From 1. */
  readonly attempt: number;
  /** What the workflow sent. */
  readonly input: In;
  /** The same for all attempts of this node and item. */
  readonly idempotencyKey: string;
  /** Of an external: what completes it. Empty elsewhere. */
  readonly token: string;
  /** Virtual milliseconds since the run was started. */
  readonly atMs: number;
  /** `begun`: it has not returned; `died`: its worker is gone. What it returned may still not have counted. */
  readonly result: "begun" | "returned" | "threw" | "died";
}

/** An effect that may have happened more than once: the function returned so often under one idempotency key. */
export interface Repeated {
  readonly step: string;
  readonly node: string;
  readonly index: number;
  readonly idempotencyKey: string;
  readonly times: number;
}

/** The calls that returned more than once under one key. A handler that hands the key on is not troubled by them. */
export function repeatedOf(calls: readonly StepCall[]): readonly Repeated[] {
  const byKey = new Map<string, Repeated>();
  for (const { step, node, index, idempotencyKey, result } of calls) {
    // a worker that died may have had its effect before
    if (result !== "returned" && result !== "died") continue;
    const times = (byKey.get(idempotencyKey)?.times ?? 0) + 1;
    byKey.set(idempotencyKey, { step, node, index, idempotencyKey, times });
  }
  return [...byKey.values()].filter(({ times }) => times > 1);
}
