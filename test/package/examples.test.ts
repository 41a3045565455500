import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { compilers, createStranger, settings } from "./stranger.ts";

const examples = fileURLToPath(new URL("../../examples", import.meta.url));

/** Where a stranger finds what stands in a file of ours; what is not here is not public. */
const entries: readonly (readonly [RegExp, string])[] = [
  [/^index$/, "tickwright"],
  [/^ports$|^guard\//, "tickwright/guard"],
  [/^testing\//, "tickwright/testing"],
  [/^tools\/connect$/, "tickwright/connect"],
];
const published = (text: string) =>
  text.replace(/"(?:\.\.\/)+lib\/([a-z-/]+)\.ts"/g, (whole, file: string) => {
    const [, entry] = entries.find(([files]) => files.test(file)) ?? [];
    return entry === undefined ? whole : `"${entry}"`;
  });

/** The examples, but for the demo, which draws what the embedded stack does, and is no workflow of a user's. */
const copied = Object.fromEntries(
  readdirSync(examples, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("demo/"))
    .map((file) => [file, published(readFileSync(join(examples, file), "utf8"))]),
);

describe("the examples, in a stranger's repository", () => {
  let stranger: ReturnType<typeof createStranger>;
  beforeAll(() => {
    stranger = createStranger("examples", copied);
  });

  it("are all there, and use nothing that is not public", () => {
    const folders = new Set(Object.keys(copied).map((file) => dirname(file)));
    expect([...folders].sort()).toEqual([".", "documents", "film", "guard", "onboarding", "order"]);
    expect(Object.values(copied).filter((text) => text.includes("/lib/"))).toEqual([]);
  });

  it.each(compilers)("compile with TypeScript %s", (compiler) => {
    const options = { ...settings.strictest, skipLibCheck: true };
    expect(stranger.complaints(compiler, options, Object.keys(copied))).toEqual([]);
  });

  it("pass their tests", () => {
    stranger.node("../node_modules/vitest/vitest.mjs", "run", "--reporter=json", "--outputFile=report.json");
    const report = JSON.parse(readFileSync(join(stranger.folder, "report.json"), "utf8"));
    expect(report.numFailedTests).toBe(0);
    expect(report.numPassedTests).toBeGreaterThanOrEqual(30);
  });
});
