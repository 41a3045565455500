import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type Breakage, breakages } from "./breaks.ts";
import { shrink } from "./shrink.ts";
import { simulate } from "./simulation.ts";

const seeds = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

describe("a simulation", () => {
  test("finds nothing wrong with the engine", async () => {
    for (const seed of seeds(1, 40)) {
      const { violations } = await simulate({ seed, profile: "mixed" });
      expect({ seed, violations }).toEqual({ seed, violations: [] });
    }
  });

  test("is the same every time, in another process too", async () => {
    const here = await simulate({ seed: 3, profile: "storm" });
    const again = await simulate({ seed: 3, profile: "storm" });
    expect(again.hash).toBe(here.hash);
    const args = ["test/sim/command.ts", "--seed", "3", "--profile", "storm", "--trace"];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 });
    expect(stdout).toContain(`trace hash ${here.hash}`);
  });

  test("replays a part of its choices exactly, and the others are not drawn anew for that", async () => {
    const whole = await simulate({ seed: 11, profile: "storm" });
    const half = new Set(whole.choices.filter((_, at) => at % 2 === 0).map((each) => each.id));
    const once = await simulate({ seed: 11, profile: "storm", keep: half });
    const twice = await simulate({ seed: 11, profile: "storm", keep: half });
    expect(twice.hash).toBe(once.hash);
    expect(once.choices.every((each) => half.has(each.id))).toBe(true);
  });

  test("prints of a failing seed the smallest part that still fails", async () => {
    const asked = { seed: 1, profile: "storm", breakage: "claim-once" } as const;
    const failing = await firstFailing(asked.breakage, asked.profile, 60);
    expect(failing).toBeDefined();
    const small = await shrink({ ...asked, seed: failing?.seed ?? 0 }, failing!);
    expect(small.violations.length).toBeGreaterThan(0);
    expect(small.choices.length).toBeLessThan(failing!.choices.length / 2);
    expect(small.lines.join("\n")).toContain("VIOLATION");
  });
});

async function firstFailing(breakage: Breakage, profile: "storm" | "mixed", max: number) {
  for (const seed of seeds(1, max)) {
    const played = await simulate({ seed, profile, breakage });
    if (played.violations.length > 0) return played;
  }
  return undefined;
}

describe("a build without one condition", () => {
  // a heartbeat between the look at a lease and its end is too rare for so few seeds: `fences` holds that one
  test.each((Object.keys(breakages) as Breakage[]).filter((name) => name !== "lease-seen"))(
    "is caught: %s (W16)",
    async (breakage) => {
      expect(await firstFailing(breakage, "mixed", 100)).toBeDefined();
    },
  );
});
