import { defaultLimits } from "../core/limits.ts";
import type { Clock, Random } from "../ports.ts";
import { whose } from "./mine.ts";
import type { GuardedRecord, Outcome, Versioned } from "./outcome.ts";
import { pauseBefore } from "./windows.ts";

/** What a guarded update works with. */
export interface GuardedUpdateOptions<R> {
  readonly record: GuardedRecord<R>;
  /** Pure. The same reference back means that there is nothing to do. Called anew, with a fresh record, at every attempt. */
  readonly decide: (current: R, version: number) => R;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Whether a loser may decide again. What a program computed, it may compute again from a newer record; what a person decided, they
   * decided on the version that they saw, so a conflict is handed to them.
   */
  readonly policy?:
    | { readonly kind: "recompute" }
    | { readonly kind: "decided-by-a-person"; readonly expected: number };
  /** Milliseconds that may still be used. A pause that does not fit ends the attempts. No bound, unless given. */
  readonly remainingMs?: () => number;
  /** Full-jitter windows before each attempt; as many attempts as windows. */
  readonly windowsMs?: readonly number[];
  /** Told of every lost race: for metrics. A conflict is no error. */
  readonly onConflict?: (conflict: {
    readonly attempt: number;
    readonly expected: number;
    readonly actual: number;
  }) => void;
}

/** Reads that came back older than what a refused write has shown; more, and the record's `load` is not consistent. */
const staleReadsMax = 3;

/**
 * Changes a record without a lock: load, recompute, write on the condition that nobody was faster; the loser starts over, a few times,
 * after pauses that spread the losers. What the store throws (no permission, throttled for good) is thrown.
 */
export async function guardedUpdate<R>(options: GuardedUpdateOptions<R>): Promise<Outcome<R>> {
  const { clock, random, windowsMs = defaultLimits.commitWindowsMs } = options;
  let before: Step<R> | undefined;
  for (let attempt = 1; ; attempt++) {
    const pauseMs = pauseBefore(attempt, random, windowsMs);
    const isOver = pauseMs === undefined || pauseMs >= (options.remainingMs?.() ?? Number.POSITIVE_INFINITY);
    if (before && isOver) return lastLook(options, before);
    await clock.sleep(pauseMs ?? 0);
    const step = await attemptOnce(options, before, attempt);
    if (step.isFinal) return step.outcome;
    before = step;
  }
}

/** Writes that may have been applied, all guarded with one version: once that has passed, none of them can be any more. */
type Doubt = { readonly tokens: readonly string[]; readonly version: number };

/** What an attempt came to, and what the next one has to know. */
type Step<R> = {
  readonly outcome: Outcome<R>;
  readonly isFinal: boolean;
  readonly doubt?: Doubt | undefined;
  /** The newest version that was seen: an older one is a stale read. */
  readonly atLeast: number;
};

async function attemptOnce<R>(
  options: GuardedUpdateOptions<R>,
  before: Step<R> | undefined,
  attempt: number,
): Promise<Step<R>> {
  const { record, policy, random } = options;
  const current = await loadAtLeast(before?.atLeast ?? 0, options);
  if (current === undefined) return final({ kind: "not-found" });
  const { version } = current;
  if (before && version < before.atLeast) return final(before.outcome);
  const settled = before?.doubt && settle(before.doubt, current);
  if (settled) return final(settled);

  if (policy?.kind === "decided-by-a-person" && policy.expected !== version) {
    return final(conflict(options, attempt, policy.expected, current));
  }
  const next = options.decide(current.record, version);
  if (next === current.record) return final({ kind: "unchanged", record: next, version });

  const earlier = before?.doubt?.version === version ? before.doubt.tokens : [];
  const token = random.token();
  const saved = await record.save(next, current, token);
  const doubt = { tokens: [...earlier, token], version };
  switch (saved.kind) {
    case "applied":
      return final({ kind: "applied", record: next, version: version + 1, wasUnclear: !saved.isClear });
    case "absent":
      return final({ kind: "not-found" });
    case "unclear":
      return { outcome: { kind: "unclear", fault: saved.fault }, isFinal: false, doubt, atLeast: version };
    case "refused": {
      const isDoubtful = !saved.isClear || earlier.length > 0;
      const mine = isDoubtful ? settle(doubt, saved.now) : undefined;
      if (mine) return final(mine);
      const outcome = conflict(options, attempt, version, saved.now);
      const isFinal = policy?.kind === "decided-by-a-person";
      return { outcome, isFinal, doubt: isDoubtful ? doubt : undefined, atLeast: saved.now.version };
    }
  }
}

/** What a doubtful write has come to, if the record can say: applied after all, or beyond telling. `undefined`: not applied so far. */
function settle<R>(doubt: Doubt, now: Versioned<R>): Outcome<R> | undefined {
  const author = whose(doubt.tokens, now.tokens, doubt.version, now.version, false);
  if (author === "theirs") return undefined;
  if (author === "unknown") return { kind: "unclear", fault: lostTrack };
  return { kind: "applied", record: now.record, version: now.version, wasUnclear: true };
}

const lostTrack = {
  code: "unavailable",
  message: "A reply was lost, and too many have written since to tell whether the write had arrived.",
} as const;

/** No further attempt: if the last one left a doubt, the record is read once more. */
async function lastLook<R>(options: GuardedUpdateOptions<R>, { outcome, doubt }: Step<R>): Promise<Outcome<R>> {
  if (doubt === undefined) return outcome;
  const now = await options.record.load();
  return (now && settle(doubt, now)) ?? outcome;
}

function conflict<R>(
  { onConflict }: GuardedUpdateOptions<R>,
  attempt: number,
  expected: number,
  now: Versioned<R>,
): Outcome<R> {
  onConflict?.({ attempt, expected, actual: now.version });
  return { kind: "conflict", current: now.record, expected, actual: now.version };
}

function final<R>(outcome: Outcome<R>): Step<R> {
  return { outcome, isFinal: true, atLeast: 0 };
}

/** A fresh record, not older than what a refusal has shown: a stale read costs a moment, never an attempt. */
async function loadAtLeast<R>(
  version: number,
  { record, clock, random }: GuardedUpdateOptions<R>,
): Promise<Versioned<R> | undefined> {
  for (let read = 0; ; read++) {
    const current = await record.load();
    if (current === undefined || current.version >= version || read === staleReadsMax) return current;
    await clock.sleep(Math.floor(random.fraction() * 20));
  }
}
