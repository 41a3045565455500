import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("every example of docs/testing.md is in a test that compiles and runs", () => {
  const blocks = [...read("docs/testing.md").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code.trim());
  const source = read("examples/order/order.test.ts")
    .replaceAll("../../lib/index.ts", "tickwright")
    .replaceAll("../../lib/testing/index.ts", "tickwright/testing")
    .replaceAll("../../lib/tools/connect.ts", "tickwright/connect");
  expect(blocks.length).toBeGreaterThan(8);
  expect(blocks.filter((block) => !source.includes(block))).toEqual([]);
});

test.each(["docs/testing.md", "docs/versions.md"])("every file that %s links to is there", (page) => {
  const links = [...read(page).matchAll(/\]\(((?!https?:)[^)#]+)\)/g)].map(([, target]) => target);
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((target) => !existsSync(new URL(`../../docs/${target}`, import.meta.url)))).toEqual([]);
});
