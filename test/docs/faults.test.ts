import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { faults } from "../../lib/core/faults.ts";

test("the page of faults has every fault, with its status and its next step", () => {
  const page = readFileSync(new URL("../../docs/faults.md", import.meta.url), "utf8");
  const sections = Object.entries(faults).map(
    ([code, { status, isRetried, next }]) =>
      `### ${code}\n\nHTTP ${status}${isRetried ? ", tried again by itself" : ""}. ${next}\n`,
  );
  expect(page.slice(page.indexOf("### "))).toBe(sections.join("\n"));
});
