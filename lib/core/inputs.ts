import type { FaultData } from "./faults.ts";
import type { Json } from "./json.ts";
import type { FactValue } from "./run.ts";

/** Values of facts by their number in the program. */
export type Facts = ReadonlyMap<number, FactValue>;

/** How an attempt ended. First write wins; the tick only ever reads it. */
export type Outcome =
  | { readonly kind: "ok"; readonly facts: Facts }
  /** `afterMs`: the handler asked for this pause. */
  | { readonly kind: "failed"; readonly fault: FaultData; readonly afterMs?: number }
  /** A lease ran out, or a task ended in the dead-letter queue (`isUnclaimed`). */
  | { readonly kind: "lost"; readonly isUnclaimed: boolean }
  | { readonly kind: "timed-out" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "never-claimed" }
  | { readonly kind: "decided"; readonly decision: Decision };

/** What a person decided at a gate. */
export interface Decision {
  readonly approved: boolean;
  readonly by?: string;
  readonly comment?: string;
  readonly data?: Json;
}

/** An attempt's record, as far as a tick reads it. */
export interface Attempt {
  readonly node: number;
  readonly index: number;
  readonly attempt: number;
  /** The claim; absent if it was closed without one. */
  readonly token?: string;
  readonly leaseUntilMs?: number;
  readonly outcome?: Outcome;
}

/** A signal that waits in the mailbox. */
export interface Signal {
  readonly seq: number;
  readonly name: string;
  /** The payload, or the token that names it beside the mailbox. */
  readonly payload:
    | { readonly kind: "value"; readonly value: Json }
    | { readonly kind: "payload"; readonly token: string; readonly facts: Facts };
  readonly atMs: number;
}

export const commandKinds = ["cancel", "terminate", "pause", "resume"] as const;
export type CommandKind = (typeof commandKinds)[number];

export interface Command {
  readonly seq: number;
  readonly kind: CommandKind;
  readonly by: string;
  readonly reason: string;
}

export interface Mail {
  readonly signals: readonly Signal[];
  readonly commands: readonly Command[];
  /** Bytes of pending signals: at the limit a head that nobody waits for is given up. */
  readonly isFull: boolean;
}

/** What an inline holder brings to its own tick. */
export interface Held {
  readonly token: string;
  readonly group: string;
  /** When its function ends: it takes only inline steps that may use their whole time-out until then. */
  readonly untilMs: number;
  /** Take the dispatched inline attempt that a task names. */
  readonly claim?: { readonly node: number; readonly index: number; readonly attempt: number };
  /** Results of the attempts that this holder's token stands for. */
  readonly results: readonly HeldResult[];
}

export interface HeldResult {
  readonly node: number;
  readonly index: number;
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome:
    | {
        readonly kind: "ok";
        readonly facts: Facts;
        readonly output: { readonly kind: "value" | "payload"; readonly text: string };
      }
    | { readonly kind: "failed"; readonly fault: FaultData; readonly afterMs?: number }
    | { readonly kind: "timed-out" };
}

/** Everything that a tick may know beside the row. */
export interface Inputs {
  /** Attempts that were looked at, by `attemptName`; `undefined` as a value: looked for, and not there. */
  readonly attempts: ReadonlyMap<string, Attempt | undefined>;
  readonly mail: Mail;
  readonly held?: Held;
  /** Attempts whose handler is gone or refuses the input. */
  readonly parks: readonly {
    readonly node: number;
    readonly index: number;
    readonly attempt: number;
    readonly fault: FaultData;
  }[];
  /** A deploy, or an operator: try what is parked again. */
  readonly isUnpark: boolean;
  /** Groups whose task queue is behind: nothing is sent again there. */
  readonly behind: ReadonlySet<string>;
}

export const noInputs: Inputs = {
  attempts: new Map(),
  mail: { signals: [], commands: [], isFull: false },
  parks: [],
  isUnpark: false,
  behind: new Set(),
};

/** An attempt that must be ended, write-once, before the tick can say what comes next; somebody else may win. */
export type Ending =
  /** A dead lease: `WHERE token = :seen AND lease = :seen AND no outcome`. */
  | {
      readonly kind: "lost";
      readonly node: number;
      readonly index: number;
      readonly attempt: number;
      readonly token: string;
      readonly leaseUntilMs: number;
    }
  /** No record may exist yet: an inline holder that vanished, an unclaimed attempt, a gate. */
  | {
      readonly kind: "inline-lost" | "cancelled" | "timed-out" | "never-claimed";
      readonly node: number;
      readonly index: number;
      readonly attempt: number;
    };
