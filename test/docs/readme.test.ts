import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { pages, read, root } from "./pages.ts";

test("the README's first workflow is examples/first.ts, which compiles, in at most 20 lines", () => {
  const [, code = ""] = /```ts\n(import \* as v[\s\S]*?)```/.exec(read("README.md")) ?? [];
  expect(code).toBe(read("examples/first.ts").replace("../lib/index.ts", "tickwright"));
  expect(code.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
});

test("everything that the pages link to is there: files, and headings in them", () => {
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(((?!https?:)[^)]+)\)/g)].map(([, target = ""]) => ({ page, target })),
  );
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .trim()
      .replaceAll(" ", "-");
  const isThere = ({ page, target }: (typeof links)[number]) => {
    const [file = "", anchor] = target.split("#");
    const path = file === "" ? page : join(dirname(page), file);
    if (!existsSync(join(root, path))) return false;
    if (anchor === undefined) return true;
    return [...read(path).matchAll(/^#+ (.*)$/gm)].some(([, heading = ""]) => anchorOf(heading) === anchor);
  };
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter((link) => !isThere(link))).toEqual([]);
});

test("every command that the pages name is a script of package.json", () => {
  const { scripts } = JSON.parse(read("package.json"));
  const named = pages.flatMap((page) => [...read(page).matchAll(/npm run ([a-z:-]+)/g)].map(([, name = ""]) => name));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
