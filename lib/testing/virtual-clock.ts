import type { Clock } from "../ports.ts";

/** A clock that stands still until a test moves it. */
export interface VirtualClock extends Clock {
  /** Moves on, waking sleepers at their own instants in order, and lets everything that can run do so in between. */
  advance(byMs: number): Promise<void>;
  /** Lets everything that can run without time passing do so. */
  settle(): Promise<void>;
  /** When the next sleeper wakes; `undefined` if nobody sleeps. */
  nextWakeAtMs(): number | undefined;
  /** Moves on from sleeper to sleeper until the work is done. Throws if it waits for something that time does not bring. */
  drive<T>(work: Promise<T>): Promise<T>;
}

type Sleeper = { readonly atMs: number; readonly wake: () => void };

/** Starts in 2027 unless told otherwise, so that seconds, milliseconds and small numbers cannot be taken for one another. */
export function createVirtualClock(startMs = 1_800_000_000_000): VirtualClock {
  let nowMs = startMs;
  const sleepers: Sleeper[] = [];

  function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (!(delayMs > 0)) return resolve();
      const onAbort = (): void => {
        sleepers.splice(sleepers.indexOf(sleeper), 1);
        reject(signal?.reason);
      };
      const wake = (): void => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const sleeper: Sleeper = { atMs: nowMs + delayMs, wake };
      const later = sleepers.findIndex((other) => other.atMs > sleeper.atMs);
      sleepers.splice(later === -1 ? sleepers.length : later, 0, sleeper);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  async function advance(byMs: number): Promise<void> {
    const untilMs = nowMs + byMs;
    await settle();
    while (sleepers[0] !== undefined && sleepers[0].atMs <= untilMs) {
      const sleeper = sleepers.shift() as Sleeper;
      nowMs = Math.max(nowMs, sleeper.atMs);
      sleeper.wake();
      await settle();
    }
    nowMs = Math.max(nowMs, untilMs);
  }

  async function drive<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    work.then(done, done);
    for (;;) {
      await settle();
      if (isDone) return work;
      const next = sleepers[0];
      if (next === undefined)
        throw new Error("The work waits, and nobody sleeps: time does not bring what it waits for.");
      await advance(next.atMs - nowMs);
    }
  }

  return { nowMs: () => nowMs, sleep, advance, settle, nextWakeAtMs: () => sleepers[0]?.atMs, drive };
}

/** All microtasks, and those that they make, run before the next turn of the event loop. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
