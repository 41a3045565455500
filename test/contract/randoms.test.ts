import { describe, expect, test } from "vitest";
import { processRandom } from "../../lib/aws/process.ts";
import type { Random } from "../../lib/ports.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";

/** What every `Random` does: jitter needs the whole range, and no two writers may ever have one token. */
describe.each<readonly [string, () => Random]>([
  ["the machine's", () => processRandom],
  ["seeded", () => createSeededRandom(7)],
])("%s randomness", (_, open) => {
  test("gives fractions from 0 up to, and never, 1, spread over all of it", () => {
    const random = open();
    const tenths = new Set<number>();
    for (let draw = 0; draw < 2000; draw++) {
      const fraction = random.fraction();
      expect(fraction >= 0 && fraction < 1).toBe(true);
      tenths.add(Math.floor(fraction * 10));
    }
    expect(tenths.size).toBe(10);
  });

  test("gives tokens of sixteen hexadecimal characters, none of them twice", () => {
    const random = open();
    const tokens = Array.from({ length: 5000 }, () => random.token());
    expect(tokens.filter((token) => !/^[0-9a-f]{16}$/.test(token))).toEqual([]);
    expect(new Set(tokens).size).toBe(tokens.length);
  });
});

test("one seed is one story, another seed another", () => {
  const story = (seed: number) => {
    const random = createSeededRandom(seed);
    return [random.token(), random.fraction(), random.token()];
  };
  expect(story(1)).toEqual(story(1));
  expect(story(1)).not.toEqual(story(2));
});
