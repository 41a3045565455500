import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mutations } from "./table.ts";

const root = join(import.meta.dirname, "../..");

it("every text that a mutation takes out stands in the source, once", () => {
  expect(mutations.length).toBeGreaterThan(50);
  const drifted = mutations.flatMap((mutation) => {
    const source = readFileSync(join(root, mutation.file), "utf8");
    return [mutation, ...(mutation.also ?? [])]
      .filter(({ find }) => source.split(find).length !== 2)
      .map(({ find }) => `${mutation.id}: ${mutation.file}: ${find}`);
  });
  expect(drifted).toEqual([]);
});
