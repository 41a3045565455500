import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("the README's first workflow is examples/first.ts, which compiles, in at most 20 lines", () => {
  const [, code = ""] = /```ts\n(import \* as v[\s\S]*?)```/.exec(read("README.md")) ?? [];
  expect(code).toBe(read("examples/first.ts").replace("../lib/index.ts", "tickwright"));
  expect(code.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
});

test("every file that the pages link to is there", () => {
  const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(((?!https?:)[^)#]+)\)/g)].map(([, target]) => target),
  );
  const missing = links.filter((target) => !existsSync(new URL(`../../${target}`, import.meta.url)));
  expect(links.length).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});
