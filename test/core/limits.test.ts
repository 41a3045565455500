import { describe, expect, test } from "vitest";
import { defaultLimits, fixed } from "../../lib/core/limits.ts";
import { leaseMs } from "../../lib/core/nodes/lease.ts";
import { stepBody } from "./fixture.ts";

const limits = defaultLimits;

describe("the limits, held against each other", () => {
  test("a lost delivery's count fits the two bits that the row has for it", () => {
    expect(limits.lostDeliveriesMax - 1).toBeLessThanOrEqual(3);
  });

  test("an attempt's number fits its three digits, lost deliveries included", () => {
    expect(fixed.attemptsMax + limits.lostDeliveriesMax).toBeLessThanOrEqual(999);
  });

  test("positions and items fit the digits of their keys", () => {
    expect(fixed.nodesMax).toBeLessThanOrEqual(9999);
    expect(fixed.mapItemsMax - 1).toBeLessThanOrEqual(9_999_999);
  });

  test("the mailbox holds no more signals than the mask has bits", () => {
    expect(fixed.mailboxSignalsMax).toBeLessThanOrEqual(32);
    expect(fixed.mailboxSignalsMax * fixed.mailEntryBytesMax).toBeLessThanOrEqual(fixed.mailboxBytesMax);
  });

  test("one map may fill a row with slices that fill theirs, and no more", () => {
    expect(fixed.mapConcurrencyMax).toBe(fixed.activeMax * fixed.activeMax);
    expect(fixed.activeInOneUnit).toBeLessThan(fixed.activeMax);
  });

  test("strikes are spaced by more than what one processing of the cycle takes, and stuck is more than one spacing", () => {
    expect(limits.strikeSpacingMs).toBeGreaterThan(60_000);
    expect(limits.stuckAfterMs).toBeGreaterThan(limits.strikeSpacingMs);
    expect(limits.stuckAfterMs).toBeGreaterThanOrEqual((limits.strikesMax - 1) * limits.strikeSpacingMs);
    expect(limits.watchIntervalMs).toBeGreaterThanOrEqual(limits.strikeSpacingMs);
  });

  test("in-process attempts of a commit are over long before what a function keeps back", () => {
    const [first = 0, ...windows] = limits.commitWindowsMs;
    expect(first).toBe(0);
    expect(windows.reduce((sum, each) => sum + each, 0)).toBeLessThan(limits.reserveMs);
  });

  test("what doubles ends at its longest, which is no shorter than its first", () => {
    expect(limits.dispatchGraceMsMax).toBeGreaterThanOrEqual(limits.dispatchGraceMs);
    expect(limits.childPollMsMax).toBeGreaterThanOrEqual(limits.childPollMs);
    expect(limits.owedGraceMsMax).toBeGreaterThanOrEqual(limits.owedGraceMs);
    expect(limits.watchIntervalMsMax).toBeGreaterThanOrEqual(limits.watchIntervalMs);
  });

  test("a lease outlives the step's own bound by the slack for two clocks, and a heartbeat shortens it", () => {
    expect(leaseMs(stepBody({ timeoutMs: 30_000 }), limits)).toBe(35_000);
    expect(leaseMs(stepBody({ timeoutMs: 30_000, heartbeatMs: 3000 }), limits)).toBe(8000);
  });

  test("the longest attempt, with the engine's own reserve, fits a function", () => {
    expect(fixed.functionMsMax).toBeLessThanOrEqual(15 * 60_000);
    expect(limits.reserveMs).toBeLessThan(fixed.functionMsMax);
  });

  test("the longest wait is the longest deadline, and its retention expires after it", () => {
    expect(limits.deadlineMsMax).toBe(fixed.waitMsMax);
    expect(limits.deadlineMs).toBeLessThanOrEqual(limits.deadlineMsMax);
    expect(limits.retentionMs).toBeGreaterThan(0);
  });

  test("an opened gate is told of again for less long than a waiting run is left alone", () => {
    expect(fixed.gateEventMs).toBeLessThan(limits.heartbeatMs);
  });

  test("what waits on the row, in a record and beside it grows in this order, below the service's limits", () => {
    expect(fixed.tinyOutputBytesMax).toBeLessThan(fixed.rowBytesOneUnit);
    expect(fixed.tinyOutputBytesMax).toBeLessThanOrEqual(fixed.recordOutputBytesMax);
    expect(fixed.recordOutputBytesMax).toBeLessThan(fixed.itemPayloadBytesMax);
    expect(fixed.itemPayloadBytesMax).toBeLessThan(400 * 1024 - 4096);
    expect(fixed.itemPayloadBytesMax).toBeLessThan(fixed.payloadBytesMax);
    expect(fixed.rowBytesOneUnit).toBeLessThan(1024);
    expect(fixed.rowBytesMax).toBeLessThan(2048);
    expect(fixed.rowBytesRefused).toBeGreaterThan(fixed.rowBytesMax);
  });

  test("a message waits no longer than the queue lets it", () => {
    expect(fixed.delayMsMax).toBe(900_000);
  });
});
