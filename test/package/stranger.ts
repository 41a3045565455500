import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, inject } from "vitest";

/** The compilers that are promised to do. */
export const compilers = ["7", "5.9"] as const;
export type Compiler = (typeof compilers)[number];

/** Settings of users. Declarations of the package are checked too, under all of them. */
export const settings = {
  strictest: {
    module: "nodenext",
    allowImportingTsExtensions: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    isolatedModules: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    skipLibCheck: false,
  },
  bundler: {
    target: "es2022",
    lib: ["es2022"],
    module: "esnext",
    moduleResolution: "bundler",
    strict: true,
    exactOptionalPropertyTypes: false,
    skipLibCheck: false,
  },
} as const;

const common = { noEmit: true, types: ["node"] };

/** A folder of a stranger's repository, with these files in it. */
export function createStranger(name: string, files: Readonly<Record<string, string>>) {
  const root = inject("stranger");
  const folder = join(root, name);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const start = (command: string, ...args: readonly string[]): SpawnSyncReturns<string> =>
    // as from a shell: what this test runner says of itself to its own children is not for others
    spawnSync(command, args, { cwd: folder, encoding: "utf8", env: { PATH: process.env["PATH"], CI: "1" } });
  const run = (command: string, ...args: readonly string[]): string => {
    const { status, stdout, stderr } = start(command, ...args);
    expect(status, `${command} ${args.join(" ")}: ${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  const compile = (compiler: Compiler, options: object, paths: readonly string[]) => {
    write("tsconfig.json", JSON.stringify({ compilerOptions: { ...common, ...options }, files: paths }));
    const home = compiler === "7" ? "typescript/bin/tsc" : `typescript-${compiler}/bin/tsc`;
    return start(process.execPath, join(root, "node_modules", home), "-p", "tsconfig.json", "--pretty", "false");
  };
  return {
    folder,
    /** Fails if the command does. */
    run,
    node: (...args: readonly string[]) => run(process.execPath, ...args),
    oldestNode: (...args: readonly string[]) => run(join(root, "node_modules/oldest-node/bin/node"), ...args),
    /** What the compiler complains about, line by line. */
    complaints: (compiler: Compiler, options: object, paths: readonly string[]): readonly string[] =>
      compile(compiler, options, paths)
        .stdout.split("\n")
        .filter((line) => line.trim() !== ""),
  };
}

export const installed = (): string => join(inject("stranger"), "node_modules/tickwright");
