import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { faultKinds } from "../sim/faults.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const page = read("docs/failure-matrix.md");

/** The cases that the page has to have, whatever else is on it: letters and numbers of the list it is made from. */
const cases = [
  ..."1 2 3 4 5 7 8 9 10 11 13 15 16 17 18".split(" ").map((number) => `D${number}`),
  ..."1 2 3 4 5 7 9 10 11".split(" ").map((number) => `Q${number}`),
  ..."1 2 3 4 5 6 7 8 9 10 11 12".split(" ").map((number) => `L${number}`),
  ..."1 2 4".split(" ").map((number) => `S${number}`),
  ..."1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 19 20".split(" ").map((number) => `W${number}`),
  ..."1 3 4 5 6 8 9".split(" ").map((number) => `H${number}`),
  ..."1 3 5 6 7".split(" ").map((number) => `M${number}`),
  ..."1 2 3 4 5".split(" ").map((number) => `E${number}`),
];

const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| id "))
  .map((line) => line.split(" | "))
  .map(([id = "", , does = "", shownBy = ""]) => ({ id: id.slice(2), does, shownBy }));

/** `aws/batch` is test/aws/batch.test.ts; a port's suite is a contract, run by each adapter. */
function textOf(file: string): string {
  const path = [`test/${file}.test.ts`, `test/${file}.contract.ts`, `test/${file}.ts`].find((candidate) =>
    existsSync(new URL(`../../${candidate}`, import.meta.url)),
  );
  expect(path, `there is no test ${file}`).toBeDefined();
  return path === undefined ? "" : read(path);
}

/** What is written as the first argument of a test: `test(...)`, `test.each(...)(...)`, `testOf(...)(...)`. */
const titlesOf = (file: string): readonly string[] =>
  [...textOf(file).matchAll(/(?:\b(?:test|it|testOf)\b[^\n]*?|\)|^\s+)\(?\s*(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1,/gm)].map(
    ([, , title = ""]) => title,
  );

describe("the failure matrix", () => {
  test("has every case, once", () => {
    const ids = rows.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
    expect(cases.filter((id) => !ids.includes(id))).toEqual([]);
    // every kind of fault that the simulation has
    expect(Object.keys(faultKinds).filter((kind) => !ids.includes(kind))).toEqual([]);
  });

  test.each(rows.map((row) => [row.id, row] as const))("names tests that exist: %s", (_, { does, shownBy }) => {
    const named = [...shownBy.matchAll(/`([a-z0-9/.-]+)` \*([^*]+)\*/g)];
    expect(does.length).toBeGreaterThan(20);
    expect(named.length).toBeGreaterThan(0);
    // nothing in the cell that the pattern does not see
    expect(shownBy.replaceAll(/`[a-z0-9/.-]+` \*[^*]+\*|[,| ]/g, "")).toBe("");
    for (const [, file = "", title = ""] of named) {
      expect(title.length, title).toBeGreaterThanOrEqual(8);
      expect(titlesOf(file), `${file} has no test that is called "${title}..."`).toSatisfy(
        (titles: readonly string[]) => titles.some((each) => each.includes(title)),
      );
    }
  });
});
