import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What a stranger brings along: a schema library, a compiler, and the CDK with its bundler. */
const brought = [
  "valibot",
  "typescript",
  "@typescript",
  "@types/node",
  "undici-types",
  "aws-cdk-lib",
  "constructs",
  "esbuild",
];

const files = {
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      allowImportingTsExtensions: true,
      types: ["node"],
    },
    files: ["workflows.ts", "run.ts", "guarded.ts"],
  }),
  "tsconfig.cdk.json": JSON.stringify({
    extends: "./tsconfig.json",
    compilerOptions: { skipLibCheck: true },
    files: ["app.ts"],
  }),
  "workflows.ts": `
import { step, workflow } from "tickwright";
import * as v from "valibot";
const who = v.object({ name: v.string() });
const greet = step("greet", { input: who, output: v.string() }, ({ name }) => \`hello \${name}\`);
export const workflows = [workflow("greeting", { input: who }, (flow, input) => flow.run(greet, input))];
`,
  "run.ts": `
import { createRegistry } from "tickwright";
import { createWorld, findRun, isSettled, readResult, start } from "tickwright/testing";
import { workflows } from "./workflows.ts";
const world = createWorld({ registry: createRegistry(workflows) });
const ref = await start(world.engine, { workflow: "greeting", input: { name: "Ada" } });
await world.until(async () => isSettled((await findRun(world.engine, ref))!));
console.log(JSON.stringify((await readResult(world.engine, ref)).output));
`,
  "guarded.ts": `
import { formatEtag, matchEtag } from "tickwright/guard";
console.log(typeof formatEtag, typeof matchEtag);
`,
  "app.ts": `
import { App, Stack } from "aws-cdk-lib";
import { Tickwright } from "tickwright/cdk";
const app = new App({ outdir: "cdk.out" });
new Tickwright(new Stack(app, "Mine"), "Tickwright", { workflows: "workflows.ts" });
app.synth();
`,
};

describe("the package in a stranger's repository", () => {
  const folder = mkdtempSync(join(tmpdir(), "tickwright-stranger-"));
  const run = (command: string, ...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
    expect(status, `${command} ${args.join(" ")}: ${stdout}${stderr}`).toBe(0);
    return stdout;
  };

  beforeAll(() => {
    const packed = spawnSync("npm", ["pack", "--pack-destination", folder], { cwd: root, encoding: "utf8" });
    expect(packed.status, packed.stderr).toBe(0);
    const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
    writeFileSync(join(folder, "package.json"), '{ "name": "stranger", "private": true, "type": "module" }');
    run("npm", "install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", `./${tarball}`);
    for (const name of brought) {
      const link = join(folder, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, "node_modules", name), link);
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  }, 180_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("holds the functions, and neither the embedded stack nor anything that only tests need", () => {
    const installed = join(folder, "node_modules/tickwright");
    const held = readdirSync(installed, { recursive: true, encoding: "utf8" });
    expect(held).toEqual(
      expect.arrayContaining(["coordinator", "worker", "watchdog"].map((name) => `dist/functions/${name}.js`)),
    );
    expect(held.filter((name) => /^dist\/(?:examples|test|lib\/local|functions\/dev)/.test(name))).toEqual([]);
    const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    expect(Object.keys(dependencies).filter((name) => /dynalite|fauxqs|valibot|cdk/.test(name))).toEqual([]);
  });

  it("type-checks, its declarations too", () => {
    run(join(root, "node_modules/.bin/tsc"), "-p", "tsconfig.json");
    run(join(root, "node_modules/.bin/tsc"), "-p", "tsconfig.cdk.json");
  });

  it("runs a workflow of five lines", () => {
    expect(run(process.execPath, "run.ts")).toBe('{"ok":true,"value":"hello Ada"}\n');
    expect(run(process.execPath, "guarded.ts")).toBe("function function\n");
  });

  it("deploys the stranger's workflows: they are in the code of every function", () => {
    run(process.execPath, "app.ts");
    const assets = readdirSync(join(folder, "cdk.out")).filter((name) => name.startsWith("asset."));
    expect(assets).toHaveLength(3);
    for (const asset of assets) {
      expect(readFileSync(join(folder, "cdk.out", asset, "index.mjs"), "utf8")).toContain('"greeting"');
    }
  });
});
