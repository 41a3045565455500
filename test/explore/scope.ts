import type { Definition } from "../../lib/core/definition.ts";
import type { Json } from "../../lib/core/json.ts";
import type { Limits } from "../../lib/core/limits.ts";
import type { RunStatus } from "../../lib/core/run.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import type { Message } from "../../lib/ports.ts";
import type { Call } from "./call.ts";
import type { ExploredHandler } from "./process.ts";
import type { Faults, StoredText } from "./state.ts";

/** Somebody outside, who calls once, at any time. */
export interface Outside {
  readonly name: string;
  /** Calls only after this one was answered. */
  readonly after?: string;
  /** Time does not go on beyond so long after the start before it has called. */
  readonly byMs?: number;
  /** Calls only while it sees this in the table. */
  readonly isReady?: (records: readonly StoredText[]) => boolean;
  readonly call: (engine: Engine) => Promise<unknown>;
}

/** A small part of the world, explored to its end. */
export interface Scope {
  readonly name: string;
  /** What is explored, in a sentence. */
  readonly about: string;
  /** What is not, in a sentence. */
  readonly not: string;
  /** The first one is started as run `r`, before anything else happens. */
  readonly definitions: readonly Definition[];
  readonly input?: Json;
  readonly handler?: ExploredHandler;
  readonly outside?: readonly Outside[];
  /**
   * A handler that the build before lacks. Both builds consume until somebody outside, called `deploy`, is done.
   */
  readonly lacks?: string;
  /** Somebody outside starts run `r`, or several do. */
  readonly isStartedLater?: boolean;
  /** Other runs of the same workflow and input that are started beside it, by their ids, and how they may end. */
  readonly others?: { readonly [runId: string]: RunStatus };
  /** More that is in the queues at the start. `runUid` is that of run `r`, then those of the others. */
  readonly messages?: (runUid: string, ...others: readonly string[]) => readonly Message[];
  readonly faults?: Partial<Faults>;
  readonly limits?: Partial<Limits>;
  /** Functions that consume messages at one time, calls from outside not counted. */
  readonly slots?: number;
  /** Wake-ups that one function may receive at once; 1 unless said. */
  readonly batch?: 1 | 2;
  /** The watchdog looks once a minute. Without it everything must come right by messages alone. */
  readonly hasWatchdog?: boolean;
  /** The watchdog may look in the middle of everything; otherwise only when nothing else can happen. */
  readonly isWatchdogAnytime?: boolean;
  /** When the message of a dead process comes back: at once, or after everything else that has an instant. */
  readonly comesBack?: readonly ("at once" | "late")[];
  readonly visibilityMs?: number;
  /** A call that nobody who makes it survives. */
  readonly kills?: (call: Call) => boolean;
  /** Receipts of a message before it goes to its dead-letter queue. */
  readonly maxReceives?: number;
  /** How run `r` may end. */
  readonly ends: readonly RunStatus[];
  /** Wrong if it says why. Asked at the end of every way, with the output of run `r` if it succeeded. */
  readonly isWrong?: (end: End) => string | undefined;
  /** Takes longer than a few seconds: left out by `--quick`. */
  readonly isLong?: boolean;
  /** Runs may end by force-fail, messages in the dead-letter queue, attempts as lost. */
  readonly isRough?: boolean;
}

/** What a way through a scope came to. */
export interface End {
  readonly status: RunStatus;
  readonly output: Json | undefined;
  /** What each call from outside was answered, by its name; nothing if its caller died. */
  readonly answers: { readonly [name: string]: string | undefined };
  /** How often each effect happened, by its key's node and index. */
  readonly effects: ReadonlyMap<string, number>;
  /** Attempts that were opened. */
  readonly attempts: number;
  /** No fault of any kind happened on this way. */
  readonly isCalm: boolean;
}
