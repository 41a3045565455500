import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envNames } from "../../lib/aws/names.ts";

const app = fileURLToPath(new URL("./bundled-app.ts", import.meta.url));
const folders: string[] = [];

/** Synthesizes in a process of its own, as the CDK does, and gives every file by its path. */
function synthesize(workflows: string): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "tickwright-bundled-"));
  folders.push(folder);
  execFileSync(process.execPath, [app, folder, workflows], { stdio: "pipe" });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, "utf8").replaceAll(folder, "FOLDER")];
    }),
  );
}

const codeOf = (files: Readonly<Record<string, string>>) =>
  Object.entries(files)
    .filter(([path]) => path.endsWith("index.mjs"))
    .map(([, text]) => text);
const buildOf = (files: Readonly<Record<string, string>>) =>
  new RegExp(`"${envNames.build}": "([0-9a-f]{12})"`).exec(files["Test.template.json"] ?? "")?.[1];

describe("what is deployed", () => {
  let first: Readonly<Record<string, string>>;
  let second: Readonly<Record<string, string>>;
  let other: Readonly<Record<string, string>>;
  beforeAll(() => {
    [first, second, other] = [
      synthesize("long-workflows.ts"),
      synthesize("long-workflows.ts"),
      synthesize("workflows.ts"),
    ];
  }, 180_000);
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it("is the same, byte for byte, when it is synthesized again", () => {
    expect(Object.keys(second).sort()).toEqual(Object.keys(first).sort());
    for (const [path, text] of Object.entries(first)) expect(second[path] === text, path).toBe(true);
  });

  it("is under 1.5 MB of code a function", () => {
    // one bundle for both workers, and one for both functions of the watchdog: they differ by their environment alone
    expect(codeOf(first)).toHaveLength(4);
    for (const text of codeOf(first)) expect(Buffer.byteLength(text)).toBeLessThan(1_500_000);
  });

  it("is one ES module each, with a source map, and with the AWS SDK in it", () => {
    for (const text of codeOf(first)) {
      expect(text).not.toMatch(/(?:from|require\()\s*"@aws-sdk\/(?:client|lib)-/);
      expect(text).toContain("UpdateItem");
      expect(text.trimEnd()).toMatch(/\/\/# sourceMappingURL=index\.mjs\.map$/);
    }
    const maps = Object.keys(first).filter((path) => path.endsWith("index.mjs.map"));
    expect(maps).toHaveLength(4);
  });

  it("has the user's workflows where the functions import #workflows", () => {
    for (const text of codeOf(first)) {
      expect(text).toContain('"films"');
      expect(text).not.toContain('"onboarding"');
    }
  });

  it("has another build's name when the workflows have changed, so that the watchdog wakes what is parked", () => {
    expect(buildOf(first)).toMatch(/^[0-9a-f]{12}$/);
    expect(buildOf(second)).toBe(buildOf(first));
    expect(buildOf(other)).toMatch(/^[0-9a-f]{12}$/);
    expect(buildOf(other)).not.toBe(buildOf(first));
  });
});
