import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mutations } from "../mutations/table.ts";
import { brokenBuilds } from "./broken-builds.ts";
import { type Broken, type BrokenCopy, createBrokenCopy, type Look } from "./broken-copy.ts";
import { keptSeeds } from "./kept-seeds.ts";

/** A seed means something else once the generator draws something else: then one of those that follow must see it. */
const runs = 30;

let copy: BrokenCopy;
beforeAll(async () => {
  copy = await createBrokenCopy();
});
afterAll(() => copy.remove());

async function expectSeen(broken: Broken, look: Look, invariant?: number): Promise<void> {
  const seen = await copy.seenOf(broken, look);
  expect(seen, `node test/sim/proof.ts says which seed sees it now: ${broken.file}`).toBeDefined();
  // what cannot even be played is no find
  expect(seen?.what).not.toMatch(/SyntaxError|Cannot find/);
  if (invariant !== undefined) expect(seen?.invariant).toBe(invariant);
}

describe("a build that somebody broke is caught by its seed, or soon after", () => {
  test.each(brokenBuilds.map((build) => [build.what, build] as const))(
    "%s",
    async (_, build) => await expectSeen(build, { seed: build.seed, runs, profile: "mixed" }),
    120_000,
  );
});

describe("a build without a rule of the protocol is caught by its seed, or soon after", () => {
  test.each(keptSeeds.map((kept) => [kept.rule, kept] as const))(
    "%s",
    async (_, { rule, seed, profile, invariant }) => {
      const mutation = mutations.find(({ id }) => id === rule);
      expect(mutation, `there is no rule ${rule}`).toBeDefined();
      if (mutation) await expectSeen(mutation, { seed, runs, profile }, invariant);
    },
    120_000,
  );
});
