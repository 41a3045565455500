import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { tsc } from "./compiler.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folders: string[] = [];

/** What the compiler says of the type tests over a copy of the source in which the type of scalar references is this one. */
async function typeTestsWith(leaf: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "tickwright-leaf-"));
  folders.push(folder);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const path of ["lib", "test/authoring/types", "tsconfig.json", "package.json"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  const file = join(folder, "lib/authoring/ref.ts");
  const source = readFileSync(file, "utf8");
  const mutated = source.replace("type Leaf = symbol & ((never: never) => never);", `type Leaf = ${leaf};`);
  expect(source).toContain("type Leaf = symbol & ((never: never) => never);");
  writeFileSync(file, mutated);
  const tests = ["flows", "misuse", "shapes", "steps"].map((name) => `test/authoring/types/${name}.ts`);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), include: [], files: tests }),
  );
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { maxBuffer: 1e8 }, (_, stdout) =>
      resolve(stdout),
    );
  });
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe("the type of a reference to a scalar", () => {
  it("is held by the type tests as it is", async () => {
    expect(await typeTestsWith("symbol & ((never: never) => never)")).toBe("");
  });

  it.each(["unknown", "symbol", "((never: never) => never)"])("turns them red as %s", async (leaf) => {
    expect(await typeTestsWith(leaf)).toMatch(/TS2578: Unused '@ts-expect-error' directive/);
  });
});
