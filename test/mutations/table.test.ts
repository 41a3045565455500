import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { namedOn } from "./page.ts";
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

it("what the page of mutations says of a rule is what the table says, and the test that caught it is the one that stands for it", () => {
  const page = readFileSync(join(root, "docs/mutations.md"), "utf8");
  const onPage = namedOn(page);
  expect(onPage.length).toBeGreaterThan(100);
  const wrong = onPage.flatMap(([id, rule, file = "", by = ""]) => {
    const mutation = mutations.find((each) => each.id === id);
    const [, of = "", title = ""] = /^`([^`]+)` \*(.+)\*/.exec(by) ?? [];
    const isRight =
      mutation?.rule === rule &&
      `\`${mutation?.file}\`` === file &&
      mutation?.test.file === `test/${of}.test.ts` &&
      title.includes(mutation.test.title);
    return isRight ? [] : [id];
  });
  expect(wrong, `measure again: npm run mutate -- ${wrong.join(" ")} --write`).toEqual([]);
});
