import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** A folder outside with the packed package installed in it. */
    stranger: string;
  }
}

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What a stranger brings along: schema libraries (valibot comes with the package), a compiler, a test runner, and the CDK with its bundler. */
const brought = [
  "zod",
  "arktype",
  "typescript",
  "@typescript",
  "@types/node",
  "undici-types",
  "vitest",
  "aws-cdk-lib",
  "constructs",
  "esbuild",
];

/** The oldest of what is promised: an older compiler beside ours, and the first release of the oldest Node.js. */
const oldest = [`typescript-5.9@npm:typescript@5.9.3`, `oldest-node@npm:${nodePackage()}@22.0.0`];

function nodePackage(): string {
  const { platform, arch } = process;
  return `${platform === "darwin" && arch === "arm64" ? "node-bin" : "node"}-${platform}-${arch}`;
}

/** Packs the package once and installs it in a folder of its own, for all tests of this project. */
export default function setup(project: TestProject): () => void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tickwright-stranger-")));
  const npm = (cwd: string, ...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8" });
    if (status !== 0) throw new Error(`npm ${args.join(" ")}: ${stdout}${stderr}`);
  };
  npm(root, "pack", "--pack-destination", folder);
  const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), '{ "name": "stranger", "private": true, "type": "module" }');
  const quick = ["--prefer-offline", "--ignore-scripts", "--no-bin-links", "--no-audit", "--no-fund"];
  npm(folder, "install", ...quick, `./${tarball}`, ...oldest);
  for (const name of brought) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
  project.provide("stranger", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
