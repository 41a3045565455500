import type { Fault } from "../../lib/core/faults.ts";
import type { Key, Message, RunStore, Write } from "../../lib/ports.ts";

/** What a process asks of the world and waits for: each is a point at which others may come between, or it may die. */
export type Call =
  | { readonly op: "write"; readonly write: Write; readonly isAll: boolean }
  | { readonly op: "read"; readonly keys: readonly Key[]; readonly isConsistent: boolean }
  | {
      readonly op: "list";
      readonly pk: string;
      readonly prefix: string;
      readonly isConsistent: boolean;
      readonly limit: number;
      readonly after: string | undefined;
    }
  | { readonly op: "find"; readonly index: "due" | "runs"; readonly query: Parameters<RunStore["find"]>[1] }
  | { readonly op: "send"; readonly messages: readonly Message[] }
  | { readonly op: "isBehind"; readonly queue: string }
  | { readonly op: "sleep"; readonly untilMs: number }
  /** The effect of a user's function on the world outside. */
  | { readonly op: "effect"; readonly effect: Effect };

export interface Effect {
  readonly runId: string;
  readonly node: string;
  readonly index: number;
  readonly attempt: number;
  /** The same for all attempts of one node and item. */
  readonly key: string;
}

/** What the world answers. Two answers with one `key` are the same: a process that got the same answers stands at the same point. */
export interface Answer {
  readonly key: string;
  readonly value?: unknown;
  readonly error?: Fault;
}
