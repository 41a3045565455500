import { expect, test } from "vitest";
import { read } from "./pages.ts";

test("every example of docs/testing.md is in a test that compiles and runs", () => {
  const blocks = [...read("docs/testing.md").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code.trim());
  const source = read("examples/order/order.test.ts")
    .replaceAll("../../lib/index.ts", "tickwright")
    .replaceAll("../../lib/testing/index.ts", "tickwright/testing")
    .replaceAll("../../lib/tools/connect.ts", "tickwright/connect");
  expect(blocks.length).toBeGreaterThan(8);
  expect(blocks.filter((block) => !source.includes(block))).toEqual([]);
});
