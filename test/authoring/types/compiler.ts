import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
export const tsc = join(root, "node_modules/typescript/bin/tsc");

/** A user's project with one file, beside this package, checked by the compiler that a user has. */
export function createProject(source: string, types: readonly string[] = ["node"]) {
  const folder = mkdtempSync(join(tmpdir(), "tickwright-types-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const file = join(folder, "user.ts");
  writeFileSync(file, source);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      types,
      rootDir: "/",
      declaration: true,
      paths: { tickwright: [join(root, "lib/index.ts")] },
    },
    include: [],
    files: ["user.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const run = (...options: readonly string[]) =>
    new Promise<string>((resolve) => {
      execFile(process.execPath, [tsc, "-p", folder, ...options], { cwd: folder, maxBuffer: 1e8 }, (_, stdout) =>
        resolve(stdout.replaceAll(folder, "")),
      );
    });
  return {
    folder,
    file,
    /** What the compiler complains about. */
    complaints: () => run("--pretty", "false"),
    /** How many types it made: the same on every machine. */
    async instantiations() {
      const told = await run("--extendedDiagnostics");
      return Number(/Instantiations:\s+(\d+)/.exec(told)?.[1]);
    },
    async declarations() {
      await run("--noEmit", "false", "--emitDeclarationOnly", "--outDir", join(folder, "out"));
      return readFileSync(join(folder, "out", folder, "user.d.ts"), "utf8");
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

export async function inProject<R>(
  source: string,
  ask: (project: ReturnType<typeof createProject>) => Promise<R>,
  types?: readonly string[],
): Promise<R> {
  const project = createProject(source, types);
  try {
    return await ask(project);
  } finally {
    project.remove();
  }
}
