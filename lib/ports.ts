import type { FaultData } from "./core/faults.ts";
import type { Dimensions, MetricName } from "./core/metrics.ts";
import type { RunEvent } from "./core/run-events.ts";

/** A stored value. Bytes stay bytes. */
export type Value = string | number | boolean | Uint8Array | readonly Value[] | { readonly [name: string]: Value };
/** What a record holds: its attributes by name. */
export type Fields = { readonly [name: string]: Value };
/** Where a record is in its table. */
export type Key = { readonly pk: string; readonly sk: string };
/** Into a record: `["e", 0]` or `["i", "sig-1"]`. */
export type Path = readonly [name: string, ...rest: readonly (string | number)[]];

/** A condition, as data. All of a list must hold. On an absent record every check but `absent` is false. */
export type Check =
  | { readonly kind: "absent" | "exists"; readonly path: Path }
  | { readonly kind: "equals" | "atMost" | "under"; readonly path: Path; readonly value: Value }
  | { readonly kind: "sized"; readonly path: Path; readonly is: "equals" | "under"; readonly count: number }
  | { readonly kind: "any"; readonly of: readonly (readonly Check[])[] };

/** A change, as data. Paths of one write never overlap; right sides read the record as it was. */
export type Edit =
  | { readonly kind: "set" | "setIfAbsent"; readonly path: Path; readonly value: Value }
  | { readonly kind: "add"; readonly path: Path; readonly by: number }
  | { readonly kind: "copy"; readonly path: Path; readonly from: Path }
  | { readonly kind: "append"; readonly path: Path; readonly values: readonly Value[] }
  | { readonly kind: "remove"; readonly path: Path };

/** One conditional statement on one record. `edit` never creates a record: its checks must name an attribute that exists. */
export type Write =
  | { readonly kind: "put"; readonly key: Key; readonly fields: Fields; readonly when: readonly Check[] }
  | { readonly kind: "edit"; readonly key: Key; readonly edits: readonly Edit[]; readonly when: readonly Check[] }
  | { readonly kind: "delete"; readonly key: Key; readonly when: readonly Check[] };

/**
 * What became of a write. `refused` carries the stored record, read consistently if the store gave none; `absent` says that
 * there is none. `unclear`: a transient fault, it may or may not have been applied. `isClear` is false if the store was asked
 * more than once. A permanent refusal (invalid, too large) is thrown as a `Fault` with code `refused` or `row-too-big`;
 * throttles, outages and denied access are thrown as `throttled`, `unavailable`, `denied` when nothing can have been applied.
 */
export type Written =
  | { readonly kind: "applied"; readonly now: Fields | undefined; readonly isClear: boolean }
  | { readonly kind: "refused"; readonly now: Fields; readonly isClear: boolean }
  | { readonly kind: "absent"; readonly isClear: boolean }
  | { readonly kind: "unclear"; readonly fault: FaultData };

export type Page<T> = { readonly items: readonly T[]; readonly next: string | undefined };

/** Records and two sparse, keys-only indexes: `due` (attributes `q`, `d`) and `runs` (`p`, `o`), a string and a number each. */
export interface RunStore {
  read(keys: readonly Key[], options: { readonly isConsistent: boolean }): Promise<readonly (Fields | undefined)[]>;
  list(from: {
    readonly pk: string;
    readonly prefix: string;
    readonly isConsistent: boolean;
    readonly limit?: number;
    readonly after?: string;
  }): Promise<Page<Fields & Key>>;
  write(
    write: Write,
    options?: { readonly returns?: "nothing" | "all"; readonly signal?: AbortSignal | undefined },
  ): Promise<Written>;
  find(
    index: "due" | "runs",
    query: {
      readonly partition: string;
      readonly upTo?: number;
      readonly isNewestFirst?: boolean;
      readonly limit: number;
      readonly after?: string;
    },
  ): Promise<Page<Key & { readonly at: number }>>;
}

/** `taskKey` is deterministic per attempt: an attribute and a log field. `group` makes SQS fair between tenants. */
export type Message = {
  readonly queue: string;
  readonly body: string;
  readonly delaySeconds?: number;
  readonly group: string;
  readonly taskKey: string;
  readonly reason?: string;
  /** Of the message that this one follows from. */
  readonly trace?: string;
};
export type Sent = { readonly kind: "sent" } | { readonly kind: "failed"; readonly fault: FaultData };
export interface Queue {
  /** Same order, same length; never throws for what the service refused or lost. */
  send(messages: readonly Message[]): Promise<readonly Sent[]>;
  /** Whether messages wait there that nobody has received: the watchdog asks before it sends. */
  isBehind(queue: string): Promise<boolean>;
}

/** Where others hear of runs: at least once, in no order. */
export interface Events {
  /** Same order, same length; never throws for what the service refused or lost. A fault `refused` is for good. */
  send(events: readonly RunEvent[]): Promise<readonly Sent[]>;
}

/** Payloads too big for an item. Write-once by name: a repeat is the same bytes. */
export interface PayloadStore {
  put(name: string, bytes: Uint8Array, options: { readonly expiresAtS: number }): Promise<void>;
  get(name: string): Promise<Uint8Array | undefined>;
  remove(prefix: string): Promise<void>;
}

/** The time, and a way to let it pass. */
export interface Clock {
  nowMs(): number;
  /** Rejects with the signal's reason when aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}
/** `fraction` is in [0, 1); `token` is 16 hexadecimal characters, never the same twice. */
export interface Random {
  fraction(): number;
  token(): string;
}
export interface Log {
  write(level: "debug" | "info" | "warn" | "error", event: string, fields: Readonly<Record<string, unknown>>): void;
}
export interface Metrics {
  count(name: MetricName, value?: number, dimensions?: Dimensions): void;
  flush(): Promise<void>;
}
