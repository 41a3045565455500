import type { Clock } from "../ports.ts";
import { forever } from "./fault-hooks.ts";

/** How long a function may take in real time before virtual time goes on without it. */
const patienceMs = 5_000;

/** A function that is being called. */
export interface Job {
  /** It waits for something that virtual time brings. */
  pause<T>(other: Promise<T>): Promise<T>;
  /** It will never end. */
  abandon(): Promise<never>;
}

/**
 * The functions of users that are being called. They may do real work, which takes real time: virtual time stands still meanwhile, or
 * a file that is read would run into the time-out of its step.
 */
export interface Jobs {
  run<T>(does: (job: Job) => Promise<T>): Promise<T>;
  /** Waits until none is left that real time would bring to its end, or patience is. False: there was none. */
  idle(): Promise<boolean>;
  /** Whether one of them sleeps in virtual time. */
  readonly isSleeping: boolean;
}

export function createJobs(clock: () => Clock): Jobs {
  const pending = new Set<Promise<void>>();
  let sleeping = 0;

  async function run<T>(does: (job: Job) => Promise<T>): Promise<T> {
    let turn = Promise.withResolvers<void>();
    const begin = () => {
      turn = Promise.withResolvers<void>();
      pending.add(turn.promise);
    };
    const end = () => {
      pending.delete(turn.promise);
      turn.resolve();
    };
    begin();
    try {
      return await does({
        async pause(other) {
          end();
          sleeping += 1;
          try {
            return await other;
          } finally {
            sleeping -= 1;
            begin();
          }
        },
        abandon() {
          end();
          return forever();
        },
      });
    } finally {
      end();
    }
  }

  async function idle(): Promise<boolean> {
    if (pending.size === 0) return false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<"over">((resolve) => {
      timer = setTimeout(() => resolve("over"), patienceMs);
    });
    const first = await Promise.race([...pending, patience]);
    clearTimeout(timer);
    if (first === "over") pending.clear();
    await clock().sleep(0);
    return true;
  }

  return {
    run,
    idle,
    get isSleeping() {
      return sleeping > 0;
    },
  };
}
