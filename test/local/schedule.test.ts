import { afterEach, expect, it, vi } from "vitest";
import { startSchedule } from "../../lib/local/schedule.ts";

afterEach(() => vi.useRealTimers());

it("calls at its interval, never twice at once, and not after its stop", async () => {
  vi.useFakeTimers();
  let under = 0;
  let most = 0;
  let calls = 0;
  const run = async () => {
    calls++;
    most = Math.max(most, ++under);
    await new Promise((resolve) => setTimeout(resolve, 250));
    under--;
  };
  const schedule = startSchedule({
    functionName: "watchdog",
    run,
    timeoutMs: 10_000,
    intervalMs: 100,
    onFailure: () => undefined,
  });
  await vi.advanceTimersByTimeAsync(1050);
  expect([calls, most]).toEqual([3, 1]);
  void schedule.callNow();
  void schedule.callNow();
  await vi.advanceTimersByTimeAsync(250);
  expect(calls).toBe(4);
  await schedule.stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect(calls).toBe(4);
});

it("reports a call that threw or ran too long, and goes on", async () => {
  vi.useFakeTimers();
  const failures: unknown[] = [];
  let calls = 0;
  const run = () => (++calls % 2 ? Promise.reject(new Error("denied")) : new Promise(() => undefined));
  const onFailure = ({ error }: { error: unknown }) => failures.push((error as Error).message);
  startSchedule({ functionName: "watchdog", run, timeoutMs: 50, intervalMs: 100, onFailure });
  await vi.advanceTimersByTimeAsync(360);
  expect(failures).toEqual(["denied", "timed out after 50 ms", "denied"]);
});
