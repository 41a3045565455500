/**
 * `npm run mutate`: is there a test for each rule? A test that passes without its rule guards nothing; a text that is found no more, or
 * twice, fails the run, so that the table cannot rot.
 */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../command-line.ts";
import { mutated } from "./mutated.ts";
import { withNamed } from "./page.ts";
import { type Mutation, mutations } from "./table.ts";

const help = `npm run mutate -- [IDS] [options]

Takes one rule of the protocol after the other out of the production source, in a copy, and demands that the test which stands for it
fails by assertion. Then Stryker, which takes out everything that can be taken out of lib/core and lib/engine, a piece at a time: hours
for all of it, so name files; what is measured already is not measured again. Ends with 1 if a rule has no test that fails.

  IDS             only these rules, by their beginnings: H1 W4
  --named         only the rules, without Stryker
  --write         keeps which test caught which in docs/mutations.md
  --stryker       only Stryker
  --files FILES   only these files for Stryker, with commas: lib/core/due.ts,lib/core/owed.ts
  --help          this text
`;

const root = join(import.meta.dirname, "../..");
const parallel = 2;
const copied = ["lib", "test", "examples", "package.json", "tsconfig.json", "vitest.config.ts"];

interface Case {
  readonly title: string;
  readonly isPassed: boolean;
  readonly failures: readonly string[];
}

/** What became of a mutation; `by`: the tests that caught it. */
type Verdict = {
  readonly kind: "killed" | "survived" | "broken";
  readonly why: string;
  readonly by: readonly string[];
};

async function copyTree(name: string, at: string): Promise<string> {
  const folder = join(at, name);
  await mkdir(folder, { recursive: true });
  for (const entry of copied) await cp(join(root, entry), join(folder, entry), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Runs tests of the copy and gives every case that ran; throws with the output if there is no report. */
async function runTests(folder: string, files: readonly string[], title?: string): Promise<readonly Case[]> {
  const report = join(folder, "report.json");
  await rm(report, { force: true });
  const pattern = title === undefined ? [] : ["-t", title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")];
  const output = await outputOf(
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      ...files,
      ...pattern,
      "--reporter=json",
      `--outputFile=${report}`,
      "--testTimeout=120000",
    ],
    folder,
  );
  let json: { testResults: { message: string; assertionResults: ReportedCase[] }[] };
  try {
    json = JSON.parse(await readFile(report, "utf8"));
  } catch {
    throw new Error(`no report: ${output.slice(-2000)}`);
  }
  return json.testResults.flatMap(({ message, assertionResults }) =>
    assertionResults.length === 0
      ? [{ title: "(the file itself)", isPassed: false, failures: [message] }]
      : assertionResults
          .filter(({ status }) => status === "passed" || status === "failed")
          .map((one) => ({ title: one.title, isPassed: one.status === "passed", failures: one.failureMessages })),
  );
}

interface ReportedCase {
  readonly title: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

function outputOf(args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, NO_COLOR: "1" } });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += String(chunk)));
    child.on("error", reject);
    child.on("close", () => resolve(text));
  });
}

/** Errors of `expect`: the last two are what it says of a promise. */
const isAssertion = (text: string) => /^(AssertionError|Error: promise (resolved|rejected) )/.test(text);

async function judge(folder: string, mutation: Mutation): Promise<Verdict> {
  const path = join(folder, mutation.file);
  const source = await readFile(path, "utf8");
  try {
    await writeFile(path, mutated(source, mutation));
    const cases = await runTests(folder, [mutation.test.file], mutation.test.title);
    const failed = cases.filter(({ isPassed }) => !isPassed);
    if (cases.length === 0) return { kind: "broken", why: "no test of this title", by: [] };
    if (failed.length === 0) return { kind: "survived", why: "the test passes without the rule", by: [] };
    const other = failed.flatMap(({ failures }) => failures).find((text) => !isAssertion(text));
    if (other !== undefined)
      return { kind: "broken", why: `failed, but not by assertion: ${other.slice(0, 300)}`, by: [] };
    return { kind: "killed", why: "", by: failed.map(({ title }) => title) };
  } catch (error) {
    return { kind: "broken", why: error instanceof Error ? error.message : String(error), by: [] };
  } finally {
    await writeFile(path, source);
  }
}

/** The named list, or those of it that are wanted. Gives whether every one was caught. */
async function runNamed(wanted: readonly string[], isWritten: boolean): Promise<boolean> {
  const chosen = mutations.filter(
    ({ id }) => wanted.length === 0 || wanted.some((one) => id === one || id.startsWith(`${one} `)),
  );
  if (chosen.length === 0) throw new RangeError(`no mutation is called ${wanted.join(", ")}`);
  for (const mutation of chosen) mutated(await readFile(join(root, mutation.file), "utf8"), mutation);
  const at = await mkdtemp(join(tmpdir(), "mutations-"));
  try {
    const folders = await Promise.all(Array.from({ length: parallel }, (_, number) => copyTree(`copy-${number}`, at)));
    const files = [...new Set(chosen.map(({ test }) => test.file))];
    const failing = (await runTests(folders[0] as string, files)).filter(({ isPassed }) => !isPassed);
    for (const { title, failures } of failing)
      console.log(`fails without any mutation: ${title}\n${failures.join("\n").slice(0, 500)}`);
    if (failing.length > 0) return false;
    const verdicts = await judgeAll(folders, chosen);
    const count = (kind: Verdict["kind"]) => [...verdicts.values()].filter((verdict) => verdict.kind === kind).length;
    console.log("\nWhich test caught which:\n");
    for (const { id, test } of chosen) {
      const verdict = verdicts.get(id);
      const [by = verdict?.kind ?? "", ...more] = verdict?.by ?? [];
      console.log(`${id.padEnd(24)} ${test.file}: ${by}${more.length > 0 ? ` (and ${more.length} more)` : ""}`);
    }
    console.log(
      `\n${verdicts.size} mutations: ${count("killed")} killed, ${count("survived")} survived, ${count("broken")} broken`,
    );
    const isClean = count("killed") === verdicts.size;
    if (isWritten) {
      const page = join(root, "docs/mutations.md");
      await writeFile(
        page,
        withNamed(
          await readFile(page, "utf8"),
          new Map([...verdicts].flatMap(([id, { kind, by }]) => (kind === "killed" ? [[id, by] as const] : []))),
        ),
      );
    }
    return isClean;
  } finally {
    await rm(at, { recursive: true, force: true });
  }
}

async function judgeAll(
  folders: readonly string[],
  chosen: readonly Mutation[],
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  const open = [...chosen];
  await Promise.all(
    folders.map(async (folder) => {
      for (let mutation = open.shift(); mutation; mutation = open.shift()) {
        const verdict = await judge(folder, mutation);
        if (verdicts.has(mutation.id)) throw new Error(`two mutations are called ${mutation.id}`);
        verdicts.set(mutation.id, verdict);
        console.log(
          `${verdict.kind.padEnd(9)} ${mutation.id.padEnd(24)} ${mutation.rule}${verdict.why && `\n          ${verdict.why}`}`,
        );
      }
    }),
  );
  return verdicts;
}

/** Stryker's mutants, on the files named or on all. Its figures go to the terminal and to `.stryker/report.json`. */
async function runStryker(files: string | undefined): Promise<boolean> {
  const scope = files === undefined ? [] : ["--mutate", files];
  if (files === undefined) console.log("All of lib/core and lib/engine takes hours: --files names less.");
  const child = spawn(
    process.execPath,
    [
      join(root, "node_modules/@stryker-mutator/core/bin/stryker.js"),
      "run",
      "test/mutations/stryker.config.json",
      ...scope,
    ],
    { cwd: root, stdio: "inherit" },
  );
  return await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code === 0));
  });
}

await runCommand(
  help,
  {
    allowPositionals: true,
    options: {
      named: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      stryker: { type: "boolean", default: false },
      files: { type: "string" },
    },
  },
  async ({ values, positionals }) => {
    const isNamed = values.named || !values.stryker;
    const isStryker = values.stryker || (!values.named && positionals.length === 0);
    const isCaught = !isNamed || (await runNamed(positionals, values.write));
    const isDone = !isStryker || (await runStryker(values.files));
    return isCaught && isDone ? 0 : 1;
  },
);
