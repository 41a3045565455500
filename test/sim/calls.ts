import type { StepContext } from "../../lib/core/registry.ts";
import type { Process } from "./process.ts";

/** A call of a handler, from its beginning to its end or its process's. */
export interface Call {
  readonly process: Process;
  readonly key: string;
  readonly node: string;
  readonly index: number;
  readonly attempt: number;
  readonly beganAtMs: number;
  isOver: boolean;
}

/** Every call of a handler: the effects that nobody can take back. */
export interface Calls {
  begin(process: Process, context: StepContext): { end(): void };
  readonly all: readonly Call[];
  /** Those of one node or item, `idempotencyKey`. */
  of(key: string): readonly Call[];
}

export function createCalls(nowMs: () => number, onBegin: (call: Call, others: readonly Call[]) => void): Calls {
  const all: Call[] = [];
  const byKey = new Map<string, Call[]>();
  return {
    all,
    of: (key) => byKey.get(key) ?? [],
    begin(process, context) {
      const { idempotencyKey: key, attempt, node, index } = context;
      const call: Call = { process, key, node, index, attempt, beganAtMs: nowMs(), isOver: false };
      const others = byKey.get(key) ?? [];
      onBegin(call, others);
      byKey.set(key, [...others, call]);
      all.push(call);
      return {
        end() {
          call.isOver = true;
        },
      };
    },
  };
}
