import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mutated } from "../mutations/mutated.ts";
import { type Mutation, mutations } from "../mutations/table.ts";
import { found, type Reach } from "./reach.ts";
import type { Explored } from "./search.ts";

const root = join(import.meta.dirname, "../..");

type Verdict = {
  readonly fault?: string;
  readonly rule: string;
  readonly by: Explored | undefined;
  readonly states: number;
  readonly seconds: number;
};

/**
 * Takes rules out of the source, in copies, and demands that exploring finds out by itself: nothing in a scope knows what is missing.
 * Gives whether every rule that is in reach was found.
 */
export async function breakAll(wanted: string, threads: number): Promise<boolean> {
  const names = wanted === "all" ? undefined : wanted.split(",");
  const chosen = mutations.filter(
    ({ id }) => found[id] && (!names || names.some((name) => id === name || id.startsWith(`${name} `))),
  );
  if (chosen.length === 0) throw new Error(`no rule that is in reach is called ${wanted}`);
  const at = await mkdtemp(join(tmpdir(), "broken-"));
  const verdicts: Verdict[] = [];
  console.log(
    `${"rule".padEnd(26)}${"found by".padEnd(30)}${"moves".padStart(6)}${"states".padStart(9)}${"seconds".padStart(9)}  what`,
  );
  try {
    const open = [...chosen];
    await Promise.all(
      Array.from({ length: threads }, async (_, number) => {
        const folder = await copyTree(join(at, String(number)));
        for (let mutation = open.shift(); mutation; mutation = open.shift()) {
          const verdict = await judge(folder, mutation, found[mutation.id]);
          verdicts.push(verdict);
          console.log(verdictRow(verdict));
        }
      }),
    );
  } finally {
    await rm(at, { recursive: true, force: true });
  }
  const missed = verdicts.filter(({ by }) => !by);
  console.log(`\n${verdicts.length} rules taken out: ${verdicts.length - missed.length} found, ${missed.length} not`);
  return missed.length === 0;
}

function verdictRow({ rule, by, states, seconds, fault }: Verdict): string {
  const [what = fault ?? ""] = by?.violation?.what ?? [];
  const moves = by?.violation ? String(by.violation.trace.length) : "-";
  return `${rule.padEnd(26)}${(by?.scope ?? "NOT FOUND").padEnd(30)}${moves.padStart(6)}${String(states).padStart(9)}${seconds.toFixed(1).padStart(9)}  ${what.slice(0, 110)}`;
}

async function copyTree(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const entry of ["lib", "test", "package.json"])
    await cp(join(root, entry), join(folder, entry), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

async function judge(folder: string, mutation: Mutation, reach: Reach | undefined): Promise<Verdict> {
  const path = join(folder, mutation.file);
  const source = await readFile(path, "utf8");
  const began = performance.now();
  let states = 0;
  try {
    await writeFile(path, mutated(source, mutation));
    for (const scope of reach?.scopes ?? []) {
      const explored = await exploreCopy(folder, scope);
      states += explored.states;
      if (explored.violation) return { rule: mutation.id, by: explored, states, seconds: secondsSince(began) };
    }
    return { rule: mutation.id, by: undefined, states, seconds: secondsSince(began) };
  } catch (error) {
    return { rule: mutation.id, by: undefined, states, seconds: secondsSince(began), fault: String(error) };
  } finally {
    await writeFile(path, source);
  }
}

const secondsSince = (began: number) => (performance.now() - began) / 1000;

function exploreCopy(folder: string, scope: string): Promise<Explored> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ["test/explore/run.ts", "--scope", scope, "--json", "--breadth", "--seconds", "60"],
      {
        cwd: folder,
        env: { ...process.env, NO_COLOR: "1" },
      },
    );
    let text = "";
    let errors = "";
    child.stdout.on("data", (chunk) => (text += String(chunk)));
    child.stderr.on("data", (chunk) => (errors += String(chunk)));
    child.on("error", reject);
    child.on("close", () => {
      try {
        resolve(JSON.parse(text.trim().split("\n").at(-1) ?? "") as Explored);
      } catch {
        reject(new Error(`no report of ${scope}: ${(text + errors).slice(-2000)}`));
      }
    });
  });
}
