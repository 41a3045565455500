import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sell } from "../../examples/first.ts";
import { fixed } from "../../lib/core/limits.ts";
import { testWorkflow } from "../../lib/testing/index.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const page = read("docs/coming-from.md");

test("the order on the page is the README's first workflow", () => {
  const [, code = ""] = /```ts\n(import \* as v[\s\S]*?)```/.exec(page) ?? [];
  expect(code).toBe(read("examples/first.ts").replace("../lib/index.ts", "tickwright"));
});

/** `| label | units | $price | ...` */
function rowOf(label: string): { readonly units: number; readonly dollars: number } {
  const [, units, dollars] = page.split(`| ${label} |`)[1]?.split(/[|$ ]+/) ?? [];
  return { units: Number(units), dollars: Number(dollars) };
}

test.each([
  ["the order above, cheap", 5, 7],
  ["the order above, approved", 200_000, 9],
])("%s costs the units that the page says", async (label, cents, reads) => {
  const run = await testWorkflow(sell, { input: { orderId: "o", cents } });
  await run.end();
  if (run.status === "running") await run.decide("approval", { approved: true, by: "kim" });
  expect(await run.end()).toBe("succeeded");
  const { write, read } = run.world.units.units();
  expect([write, read]).toEqual([rowOf(label).units, reads]);
});

test("write units are priced at $0.625 a million", () => {
  const labels = [...page.matchAll(/^\| ((?:inline|queued|items|the order)[^|]*) \|/gm)].map(([, label]) => label!);
  expect(labels).toHaveLength(6);
  for (const label of labels) {
    const { units, dollars } = rowOf(label);
    expect(Math.abs(dollars - units * 0.625), label).toBeLessThan(0.0051);
  }
});

test("the units of steps are those that the tests of units hold", () => {
  const held = read("test/engine/units.test.ts");
  for (const label of [
    "inline steps in a chain of 100",
    "inline steps in a chain of 10",
    "queued steps in a chain of 10",
    "items of a wide map",
  ])
    expect(held).toContain(`toBeLessThanOrEqual(${rowOf(label).units})`);
});

test("the limits on the page are those of the engine", () => {
  expect(page).toContain(`${fixed.nodesMax.toLocaleString("en")} nodes in a graph, ${fixed.activeMax} in flight`);
  expect(page).toContain(`${fixed.mapItemsMax.toLocaleString("en")} items of a map`);
  expect(page).toContain(`up to ${fixed.payloadBytesMax / 1e6} MB: above ${fixed.itemPayloadBytesMax / 1000} KB`);
  expect(page).toContain(`wait up to ${fixed.mailboxSignalsMax} at a time`);
});
