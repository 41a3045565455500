import { expect, test } from "vitest";
import { createNoPayloads, keepDaysOf } from "../../lib/aws/s3-payloads.ts";
import { Fault } from "../../lib/core/faults.ts";
import { defaultLimits } from "../../lib/core/limits.ts";

const nowMs = 1_800_000_000_000;
const inDays = (days: number) => nowMs / 1000 + days * 86_400;

test("an object is kept by the first class that covers its expiry", () => {
  expect([1, 7, 7.5, 60, 430].map((days) => keepDaysOf(inDays(days), nowMs))).toEqual([7, 7, 31, 62, 496]);
});

test("the longest class covers the longest deadline and retention", () => {
  const longestDays = (defaultLimits.deadlineMsMax + defaultLimits.retentionMs) / 86_400_000;
  expect(keepDaysOf(inDays(longestDays), nowMs)).toBeGreaterThanOrEqual(longestDays);
});

test("without a bucket, what does not fit an item is refused by size and limit", async () => {
  const none = createNoPayloads(350_000);
  const put = none.put("t#r/OUT", new Uint8Array(400_000), { expiresAtS: 1 });
  await expect(put).rejects.toSatisfy(
    (error) => Fault.is(error, "payload-too-big") && /400000 bytes.*350000/.test(error.message),
  );
  expect(await none.get("t#r/OUT")).toBeUndefined();
  await none.remove("t#r/");
});
