import type { FaultData } from "../core/faults.ts";

/** A record with what guards it. */
export interface Versioned<R> {
  readonly record: R;
  /** Rises by one with every write. */
  readonly version: number;
  /** Of the last writers, newest first. */
  readonly tokens: readonly string[];
}

/**
 * How to reach one record. Whoever implements it promises three things: `load` is strongly consistent; `save` writes `version + 1` and
 * the token, on the condition that the stored version is `expected`, and creates nothing; nothing else writes the record.
 */
export interface GuardedRecord<R> {
  load(): Promise<Versioned<R> | undefined>;
  save(next: R, current: Versioned<R>, token: string): Promise<Saved<R>>;
}

/** What became of one write. `isClear` is false if the store may have been asked more than once. */
export type Saved<R> =
  | { readonly kind: "applied"; readonly isClear: boolean }
  | { readonly kind: "refused"; readonly now: Versioned<R>; readonly isClear: boolean }
  | { readonly kind: "absent" }
  | { readonly kind: "unclear"; readonly fault: FaultData };

/**
 * What became of an update.
 * - `applied`: exactly once. `wasUnclear`: a reply was lost on the way, and the record shows that the write had arrived.
 * - `unchanged`: there was nothing to do, so nothing was written.
 * - `conflict`: somebody else was first, every time; nothing was applied.
 * - `not-found`: there is no such record.
 * - `unclear`: it may have been applied and nobody can tell.
 */
export type Outcome<R> =
  | { readonly kind: "applied"; readonly record: R; readonly version: number; readonly wasUnclear: boolean }
  | { readonly kind: "unchanged"; readonly record: R; readonly version: number }
  | { readonly kind: "conflict"; readonly current: R; readonly expected: number; readonly actual: number }
  | { readonly kind: "not-found" }
  | { readonly kind: "unclear"; readonly fault: FaultData };
