import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mutation } from "../mutations/table.ts";

/** One place of the source, or several of one file, and what stands there instead. */
export type Broken = Pick<Mutation, "file" | "find" | "replace" | "also">;

/** Where to look for what is broken: from which seed, how many, under which profile. */
export interface Look {
  readonly seed: number;
  readonly runs: number;
  readonly profile: string;
}

/** The first seed that sees it, and what was violated. */
export interface Seen {
  readonly seed: number;
  readonly invariant: number;
  readonly what: string;
}

const root = join(import.meta.dirname, "../..");
const copied = ["lib", "test", "package.json", "tsconfig.json"];

/** A copy of the source in which one thing after the other is broken, and the simulation is played until some checker sees it. */
export interface BrokenCopy {
  seenOf(broken: Broken, look: Look): Promise<Seen | undefined>;
  remove(): Promise<void>;
}

export async function createBrokenCopy(): Promise<BrokenCopy> {
  const folder = await mkdtemp(join(tmpdir(), "proof-"));
  for (const entry of copied) await cp(join(root, entry), join(folder, entry), { recursive: true });
  await mkdir(join(folder, "examples"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return {
    async seenOf(broken, look) {
      const path = join(folder, broken.file);
      const source = await readFile(path, "utf8");
      await writeFile(path, without(source, broken));
      const text = await simulated(folder, look);
      await writeFile(path, source);
      const [, seed] = /\nseed (\d+) /.exec(text) ?? [];
      const [, invariant, what = ""] = /\n {2}invariant (\d+): (.*)/.exec(text) ?? [];
      return seed === undefined ? undefined : { seed: Number(seed), invariant: Number(invariant), what };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The source without it. Throws if the text is not there exactly once: what does not change is not broken. */
function without(source: string, broken: Broken): string {
  return [broken, ...(broken.also ?? [])].reduce((text, { find, replace }) => {
    if (text.split(find).length !== 2) throw new Error(`${broken.file} has not exactly once: ${find}`);
    return text.replace(find, () => replace);
  }, source);
}

/** What the command says of the copy as it stands. */
function simulated(folder: string, { seed, runs, profile }: Look): Promise<string> {
  const args = ["test/sim/command.ts", "--seed", String(seed), "--runs", String(runs), "--profile", profile];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...args, "--threads", "1", "--stop-after", "1", "--brief"],
      { cwd: folder, maxBuffer: 1 << 26 },
      (_, stdout, stderr) => resolve(`${stdout}${stderr}`),
    );
  });
}
