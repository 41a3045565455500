import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { app, libraries, others, shopWith } from "./programs.ts";
import { compilers, createStranger, installed, settings } from "./stranger.ts";

const shops = Object.fromEntries(
  libraries.flatMap((library) =>
    Object.entries(shopWith(library)).map(([name, text]) => [`${library}/${name}`, text] as const),
  ),
);
const files = { ...shops, ...others, "app.ts": app };
const programs = Object.keys({ ...shops, ...others });
const emitted = { noEmit: false, outDir: "out", rewriteRelativeImportExtensions: true, rootDir: "." };

describe("a stranger's repository", () => {
  let stranger: ReturnType<typeof createStranger>;
  beforeAll(() => {
    stranger = createStranger("repository", files);
  });

  it.each(compilers)("compiles with TypeScript %s at its strictest, the package's declarations too", (compiler) => {
    expect(stranger.complaints(compiler, { ...settings.strictest, ...emitted }, programs)).toEqual([]);
  });

  it.each(compilers)("compiles with TypeScript %s for a bundler, the package's declarations too", (compiler) => {
    const withoutEndings = Object.entries(files).map(([path, text]) => [path, text.replaceAll('.ts";', '";')] as const);
    const bundled = createStranger("bundled", Object.fromEntries(withoutEndings));
    expect(bundled.complaints(compiler, settings.bundler, programs)).toEqual([]);
  });

  it.each(compilers)("compiles an app with the construct, with TypeScript %s", (compiler) => {
    // the declarations of the CDK do not pass every check themselves
    const options = { ...settings.strictest, exactOptionalPropertyTypes: false, skipLibCheck: true };
    expect(stranger.complaints(compiler, options, ["app.ts"])).toEqual([]);
  });

  it.each(libraries)("tests its workflow with the test runner of Node.js (%s)", (library) => {
    const told = stranger.node("--test", "--test-reporter=tap", `${library}/workflow.test.ts`);
    expect(told).toMatch(/^# pass 2$/m);
  });

  it("compares builds, connects to a stack, and guards records of its own", () => {
    expect(stranger.node("guarded.ts")).toBe("not-found\n");
    expect(stranger.node("connected.ts")).toBe("connected\n");
    expect(stranger.node("deployed.ts")).toBe("true\n");
    const written = readFileSync(join(stranger.folder, "definitions.json"), "utf8");
    expect(written).toContain('"sell"');
  });

  it("deploys its workflows: they are in the code of every function", () => {
    stranger.node("app.ts");
    const assets = readdirSync(join(stranger.folder, "cdk.out")).filter((name) => name.startsWith("asset."));
    // coordinator, worker, watchdog, api; dead tasks have the code of the watchdog
    expect(assets).toHaveLength(4);
    for (const asset of assets) {
      expect(readFileSync(join(stranger.folder, "cdk.out", asset, "index.mjs"), "utf8")).toContain('"approval"');
    }
  });

  it("runs what it compiled on the oldest Node.js that is promised, and every entry with it", () => {
    expect(stranger.oldestNode("--version")).toBe("v22.0.0\n");
    for (const library of libraries) {
      const told = stranger.oldestNode("--test", "--test-reporter=tap", `out/${library}/workflow.test.js`);
      expect(told).toMatch(/^# pass 2$/m);
    }
    const { exports, engines } = JSON.parse(readFileSync(join(installed(), "package.json"), "utf8"));
    expect(engines).toEqual({ node: ">=22" });
    const entries = Object.keys(exports).map((entry) => entry.replace(".", "tickwright"));
    expect(entries.length).toBeGreaterThan(5);
    for (const entry of entries) {
      stranger.oldestNode("--input-type=module", "--eval", `await import(${JSON.stringify(entry)})`);
    }
  });
});
