/**
 * Takes one rule after the other out of the production source, in a copy, and demands that the test which stands for it fails by
 * assertion. A test that passes without its rule guards nothing; a text that is found no more, or twice, fails the run, so that the
 * table cannot rot. `npm run test:mutations`, or with ids to run only those: `npm run test:mutations -- H1 W4`.
 */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mutated } from "./mutated.ts";
import { type Mutation, mutations } from "./table.ts";

const root = join(import.meta.dirname, "../..");
const parallel = 2;
const copied = ["lib", "test", "examples", "package.json", "tsconfig.json", "vitest.config.ts"];

interface Case {
  readonly title: string;
  readonly isPassed: boolean;
  readonly failures: readonly string[];
}

type Verdict = { readonly kind: "killed" | "survived" | "broken"; readonly why: string };

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
      "--testTimeout=20000",
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
    if (cases.length === 0) return { kind: "broken", why: "no test of this title" };
    if (failed.length === 0) return { kind: "survived", why: "the test passes without the rule" };
    const other = failed.flatMap(({ failures }) => failures).find((text) => !isAssertion(text));
    if (other !== undefined) return { kind: "broken", why: `failed, but not by assertion: ${other.slice(0, 300)}` };
    return { kind: "killed", why: "" };
  } catch (error) {
    return { kind: "broken", why: error instanceof Error ? error.message : String(error) };
  } finally {
    await writeFile(path, source);
  }
}

async function main(wanted: readonly string[]): Promise<boolean> {
  const chosen = mutations.filter(
    ({ id }) => wanted.length === 0 || wanted.some((one) => id === one || id.startsWith(`${one} `)),
  );
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
    console.log(
      `\n${verdicts.size} mutations: ${count("killed")} killed, ${count("survived")} survived, ${count("broken")} broken`,
    );
    return count("killed") === verdicts.size;
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

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
