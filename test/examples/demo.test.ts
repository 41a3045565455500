import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const demo = join(import.meta.dirname, "..", "..", "examples", "demo", "demo.ts");

/** The demo as a child process. A workflow's name stands at the start of its lines. */
function run(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [demo, ...args], (error, out, err) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, out, err });
    });
  });
}

test("the demo runs every input file to the end that it names, draws one run of each workflow, and says what it cost", async () => {
  const { code, out, err } = await run();
  expect(err).toBe("");
  expect(out).toContain("60 of 60 runs have ended");
  expect(out).toContain("order  26 runs, all as expected");
  expect(out).toContain("document  10 runs, all as expected");
  expect(out).toContain("documents  5 runs, all as expected");
  expect(out).toContain("onboarding  19 runs, all as expected");
  expect(out).toMatch(/order order-\d+ {2}\w+ in /);
  expect(out).toMatch(/† .*\battempt 2|worker lost/);
  for (const meter of [
    "commits",
    "conflicts",
    "requeues",
    "no-op ticks",
    "write units",
    "read units",
    "sends",
    "receives",
    "deletes",
    "coordinator",
  ])
    expect(out).toMatch(new RegExp(`^ {2}${meter} +[\\d,.]+`, "m"));
  expect(out.trimEnd()).toMatch(/All 60 runs ended as their input files say\.$/);
  expect(code).toBe(0);
}, 120_000);

test("the demo names what ended otherwise than its input file says, and exits with 1", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tickwright-demo-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "runs.json");
  const line = { sku: "lamp-oak-40", quantity: 1, unitCents: 8900 };
  const input = {
    orderId: "o-1",
    email: "ada@lovelace.example",
    address: "Rua Augusta 24",
    card: "visa-1",
    lines: [line],
  };
  const expected = { status: "failed", reason: "rejected" };
  await writeFile(
    file,
    JSON.stringify([{ runId: "o-1", workflow: "order", about: "a lamp", input, expect: expected }]),
  );
  const { code, out } = await run("--runs", file);
  expect(out).toContain('o-1: status: "failed" expected, "succeeded" found');
  expect(out).toContain('o-1: reason: "rejected" expected, nothing found');
  expect(out).toContain("1 of 1 runs did not end as their input files say.");
  expect(code).toBe(1);
}, 60_000);

test.each([
  [["--only", "orders"], 'There is no example "orders". There are order, documents, onboarding.'],
  [["--runs", "nowhere.json"], "nowhere.json: there is no such file"],
  [["--loud"], "Unknown option '--loud'"],
])("the demo refuses %j, and says why", async (args, message) => {
  const { code, out, err } = await run(...args);
  expect(err).toContain(message);
  expect(out).toBe("");
  expect(code).toBe(1);
});

test("the demo explains itself", async () => {
  const { code, out } = await run("--help");
  expect(out).toContain("npm run demo -- [options]");
  expect(code).toBe(0);
});
