/**
 * Shows what the simulator finds: takes one rule after the other out of the source, in a copy, and counts the seeds until some checker
 * sees it. `node test/sim/proof.ts --runs 200`, or with ids of `test/mutations/table.ts`: `node test/sim/proof.ts "H5" "W4"`. Prints the
 * rows of the table in docs/simulation.md. What is not found in so many seeds is said, too.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Mutation, mutations } from "../mutations/table.ts";

const root = join(import.meta.dirname, "../..");
const copied = ["lib", "test", "package.json", "tsconfig.json"];

async function copyTree(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "proof-"));
  for (const entry of copied) await cp(join(root, entry), join(folder, entry), { recursive: true });
  await mkdir(join(folder, "examples"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

function without(source: string, mutation: Pick<Mutation, "find" | "replace" | "also">): string {
  return [mutation, ...(mutation.also ?? [])].reduce(
    (text, { find, replace }) => text.replace(find, () => replace),
    source,
  );
}

/** What the command says of a copy without that rule. */
function simulated(folder: string, runs: number, profile: string): Promise<string> {
  const args = [
    "test/sim/command.ts",
    "--runs",
    String(runs),
    "--profile",
    profile,
    "--threads",
    "1",
    "--stop-after",
    "1",
    "--brief",
  ];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 1 << 26 }, (_, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
  });
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { runs: { type: "string", default: "200" }, profile: { type: "string", default: "mixed" } },
    allowPositionals: true,
  });
  const chosen = mutations.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
  const folder = await copyTree();
  try {
    for (const mutation of chosen) {
      const path = join(folder, mutation.file);
      const source = await readFile(path, "utf8");
      await writeFile(path, without(source, mutation));
      const text = await simulated(folder, Number(values.runs), values.profile);
      await writeFile(path, source);
      const [, seed] = /\nseed (\d+) /.exec(text) ?? [];
      const [, invariant, what = ""] = /\n {2}invariant (\d+): (.*)/.exec(text) ?? [];
      const found =
        seed === undefined ? `not in ${values.runs} seeds | |` : `seed ${seed} | ${invariant}: ${what.slice(0, 110)} |`;
      process.stdout.write(`| ${mutation.id} | ${found}\n`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
