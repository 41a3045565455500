import { Fault, type FaultData } from "../core/faults.ts";
import type { Engine } from "./engine.ts";
import type { Snapshot } from "./load.ts";
import { clearStrikes, putStrikes, type Strikes, strikeMessageMax, strikesFrom } from "./records/strikes.ts";

/**
 * Evidence that a processing of a run began and did not end. Counted in the catch of a permanent fault, and when a message that
 * names one run is received again; by transition and build, so that progress and a mended deploy begin anew; at most one per
 * spacing, which is longer than the function's time-out, so that duplicates count once. What comes within it is only noted, as the
 * last fault, for the reason.
 */
export async function strike(engine: Engine, seen: Snapshot, fault: FaultData): Promise<Strikes | undefined> {
  const { owner, strikes } = seen;
  if (!owner.isLive) return undefined;
  const nowMs = engine.clock.nowMs();
  const standing = standingOf(engine, seen);
  const isTooSoon = standing !== undefined && nowMs - standing.lastAtMs < engine.limits.strikeSpacingMs;
  const message = fault.message.slice(0, strikeMessageMax);
  // a receipt knows nothing that a fault before it did not say better
  if (isTooSoon && (fault.code === "stuck" || standing.message === message)) return standing;
  const next: Strikes = {
    seq: owner.seq,
    build: engine.build,
    count: (standing?.count ?? 0) + (isTooSoon ? 0 : 1),
    firstAtMs: standing?.firstAtMs ?? nowMs,
    lastAtMs: isTooSoon ? standing.lastAtMs : nowMs,
    fault: fault.code,
    message,
  };
  const expiresAtS = Math.ceil((nowMs + engine.limits.deadlineMsMax) / 1000);
  const written = await engine.store.write(putStrikes(owner, next, strikes, seen.hasStrikesRecord, expiresAtS));
  const stored = written.kind === "refused" ? strikesFrom(written.now) : undefined;
  // no answer: it may be there, and then it must be removed like one that is
  const isMine = written.kind === "unclear" || (stored?.count === next.count && stored.lastAtMs === next.lastAtMs);
  if (written.kind !== "applied" && !isMine) return standing;
  if (!isTooSoon) engine.metrics.count("strikes");
  return next;
}

/** The strikes that count now: of this transition and this build. */
export function standingOf(engine: Engine, seen: Snapshot): Strikes | undefined {
  const { strikes, owner } = seen;
  return strikes && strikes.seq === owner.seq && strikes.build === engine.build ? strikes : undefined;
}

/** Whether the strikes that stand are enough to end the run: enough of them, spaced, over a long enough time. */
export function isEnough(
  engine: Engine,
  strikes: Strikes | undefined,
  options: { readonly isSpacingOver: boolean },
): boolean {
  if (!strikes || strikes.count < engine.limits.strikesMax) return false;
  const nowMs = engine.clock.nowMs();
  if (options.isSpacingOver && nowMs - strikes.lastAtMs < engine.limits.strikeSpacingMs) return false;
  return nowMs - strikes.firstAtMs >= engine.limits.stuckAfterMs;
}

/** Times that the removal of strikes is asked for while there is no answer. */
const removalsMax = 3;

/**
 * Removes strikes, leaving the watchdog's memory beside them: after a processing that had loaded everything and ended normally,
 * and before a message is handed back for a transient fault. False if the table did not say so.
 */
export async function removeStrikes(engine: Engine, seen: Snapshot, strikes: Strikes | undefined): Promise<boolean> {
  if (!strikes) return true;
  try {
    // what stays would be evidence against a processing that ended, so a lost request is asked again
    for (let again = 0; again < removalsMax; again++)
      if ((await engine.store.write(clearStrikes(seen.owner, strikes))).kind !== "unclear") return true;
    return false;
  } catch (error) {
    if (Fault.is(error)) return false;
    throw error;
  }
}

/**
 * Takes one's own strike back, after a processing that ended normally without having looked at everything: it is no evidence, but
 * what stood before it may be. Nothing to take back if it fell within the spacing and was not counted.
 */
export async function takeBack(engine: Engine, seen: Snapshot, own: Strikes | undefined): Promise<void> {
  const before = standingOf(engine, seen);
  if (!own || own.count === (before?.count ?? 0)) return;
  if (!before) return void (await removeStrikes(engine, seen, own));
  const expiresAtS = Math.ceil((engine.clock.nowMs() + engine.limits.deadlineMsMax) / 1000);
  await engine.store.write(putStrikes(seen.owner, before, own, true, expiresAtS));
}

/** Faults of the platform: they say nothing about the run. */
export function isTransient(error: unknown): boolean {
  return (
    Fault.is(error) && ["throttled", "unavailable", "denied", "newer-format", "unknown-definition"].includes(error.code)
  );
}
