import { describe, expect, test } from "vitest";
import type { Clock } from "../../lib/ports.ts";

export interface OpenClock {
  readonly clock: Clock;
  /** Lets the work come to its end, in whatever time there is. */
  drive<T>(work: Promise<T>): Promise<T>;
}

/** What every `Clock` does. */
export function clockContract(name: string, open: () => OpenClock): void {
  describe(`${name} as a clock`, () => {
    test("tells whole milliseconds of the epoch, and after a sleep at least as many more", async () => {
      const { clock, drive } = open();
      const beganAtMs = clock.nowMs();
      expect(Number.isInteger(beganAtMs)).toBe(true);
      expect(beganAtMs).toBeGreaterThan(1_700_000_000_000);
      await drive(clock.sleep(30));
      // the timers of Node.js round down
      expect(clock.nowMs() - beganAtMs).toBeGreaterThanOrEqual(29);
    });

    test("wakes sleepers in the order of their instants, whoever lay down first", async () => {
      const { clock, drive } = open();
      const woken: string[] = [];
      const late = clock.sleep(60).then(() => woken.push("late"));
      const early = clock.sleep(5).then(() => woken.push("early"));
      await drive(Promise.all([late, early]));
      expect(woken).toEqual(["early", "late"]);
    });

    test.each([0, -5, Number.NaN])("a sleep of %s is none", async (delayMs) => {
      const { clock } = open();
      await clock.sleep(delayMs);
    });

    test("an aborted sleep ends at once, with the reason of whoever aborted it", async () => {
      const { clock } = open();
      const reason = new Error("no time left");
      const controller = new AbortController();
      const sleeping = clock.sleep(3_600_000, controller.signal);
      controller.abort(reason);
      await expect(sleeping).rejects.toBe(reason);
      await expect(clock.sleep(3_600_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}
