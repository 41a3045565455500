import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { envNames } from "../lib/aws/names.ts";
import { bundle } from "../test/functions/bundle.ts";

/**
 * What a function's code costs before its first answer: from `import` to the end of the first call, in a process of its own, as a ratio to
 * a handler that does nothing. Node's own start is not in it. All are measured in turn, round after round of one run, so a busy machine is busy for all of
 * them. `node benchmarks/cold-start.ts [rounds]`
 */
const rounds = Number(process.argv[2] ?? 15);
const folder = mkdtempSync(join(tmpdir(), "tickwright-cold-"));

const request = {
  version: "2.0",
  rawPath: "/nothing",
  rawQueryString: "",
  headers: {},
  requestContext: { http: { method: "GET", path: "/nothing" } },
  isBase64Encoded: false,
};
const batch = { Records: [] };
/** The first event of each: one that asks no service for anything. */
const functions = { coordinator: batch, worker: batch, watchdog: batch, api: request } as const;

const probe = `
const [, , file, event] = process.argv;
const beganAtMs = performance.now();
const { handler } = await import(file);
await handler(JSON.parse(event), { awsRequestId: "r", getRemainingTimeInMillis: () => 30_000 });
process.stdout.write("\\n" + (performance.now() - beganAtMs));
process.exit(0);
`;

function measure(file: string, event: object): number {
  const env = {
    ...process.env,
    [envNames.table]: "t",
    [envNames.queueBase]: "http://127.0.0.1:1/q-",
    [envNames.group]: "default",
    [envNames.metrics]: "cold",
    [envNames.build]: "cold",
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "none",
    AWS_SECRET_ACCESS_KEY: "none",
  };
  const said = execFileSync(process.execPath, [join(folder, "probe.mjs"), file, JSON.stringify(event)], {
    env,
    encoding: "utf8",
  });
  return Number(said.split("\n").at(-1));
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

try {
  writeFileSync(join(folder, "probe.mjs"), probe);
  const empty = join(folder, "empty.mjs");
  writeFileSync(empty, "export const handler = async () => ({ batchItemFailures: [] });\n");
  const all = [{ name: "empty", file: empty, event: batch as object, took: [] as number[] }];
  for (const [name, event] of Object.entries(functions)) {
    console.log(`bundling ${name}`);
    const file = join(folder, `${name}.mjs`);
    await bundle(name, "examples/registry.ts", file);
    all.push({ name, file, event, took: [] });
  }
  for (let round = 0; round < rounds; round++) {
    for (const each of all) each.took.push(measure(each.file, each.event));
    if (round % 5 === 4) console.log(`${round + 1} of ${rounds} rounds`);
  }
  const base = median(all[0]?.took ?? []);
  for (const { name, file, took } of all) {
    const kB = (statSync(file).size / 1000).toFixed(0);
    const ms = median(took);
    console.log(
      `${name.padEnd(12)} ${kB.padStart(5)} kB  ${ms.toFixed(1).padStart(7)} ms  ${(ms / base).toFixed(1).padStart(6)} x`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
