import { expect, test } from "vitest";
import { Fault, type FaultCode, faults } from "../../lib/core/faults.ts";
import type { Strikes } from "../../lib/engine/records/strikes.ts";
import { isEnough, isTransient } from "../../lib/engine/strike.ts";
import { createWorld } from "../../lib/testing/world.ts";
import { rawRegistry } from "./raw.ts";

const { engine } = createWorld({ registry: rawRegistry([]) });
const { strikesMax, strikeSpacingMs, stuckAfterMs } = engine.limits;

test("faults of the platform, and a build that is behind, are no evidence against a run; everything else is", () => {
  const codes = (Object.keys(faults) as FaultCode[]).filter((code) => isTransient(new Fault(code, "")));
  expect(codes.toSorted()).toEqual(["denied", "newer-format", "throttled", "unavailable", "unknown-definition"]);
  expect(isTransient(new TypeError("a defect"))).toBe(false);
});

test("strikes are enough when there are as many as it takes, over long enough, and the last one's spacing is over", () => {
  const nowMs = engine.clock.nowMs();
  const enough: Strikes = {
    ...{ seq: 1, build: "b", fault: "stuck", message: "" },
    ...{ count: strikesMax, firstAtMs: nowMs - stuckAfterMs, lastAtMs: nowMs - strikeSpacingMs },
  };
  const over = (more: Partial<Strikes>, isSpacingOver = true) =>
    isEnough(engine, { ...enough, ...more }, { isSpacingOver });
  expect(over({})).toBe(true);
  expect(over({ count: strikesMax - 1 })).toBe(false);
  expect(over({ firstAtMs: enough.firstAtMs + 1 })).toBe(false);
  expect(over({ lastAtMs: enough.lastAtMs + 1 })).toBe(false);
  // whoever has just counted the last one need not wait for its spacing
  expect(over({ lastAtMs: nowMs }, false)).toBe(true);
  expect(isEnough(engine, undefined, { isSpacingOver: false })).toBe(false);
});
