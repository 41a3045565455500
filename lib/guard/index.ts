/** Optimistic concurrency without a lock, for users' own records: the mechanism that the engine commits with. */
export type { Clock, Fields, Key, Random, RunStore } from "../ports.ts";
export {
  type EntityTag,
  formatEtag,
  isFresh,
  type MatchResult,
  matchEtag,
  type Precondition,
  parsePrecondition,
} from "./etag.ts";
export { type GuardedUpdateOptions, guardedUpdate } from "./guarded-update.ts";
export { type Authorship, tokensKept, whose, withToken } from "./mine.ts";
export type { GuardedRecord, Outcome, Saved, Versioned } from "./outcome.ts";
export { type Created, createStoredRecord, type GuardAttributes, storedRecord } from "./stored-record.ts";
export { pauseBefore } from "./windows.ts";
