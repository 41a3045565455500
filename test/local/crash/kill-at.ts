import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { done, type Entry, expected } from "./workload.ts";

const program = join(import.meta.dirname, "process.ts");

interface Told {
  readonly killedAt?: string;
  readonly points?: readonly string[];
  readonly ends?: { readonly [runId: string]: { readonly status: string; readonly output?: unknown } | undefined };
  readonly wrong?: readonly string[];
}

/** Runs the process, to its end or to the point at which it kills itself, and gives what it said. */
async function told(folder: string, point: number): Promise<Told> {
  const run = promisify(execFile)(process.execPath, [program, folder, String(point)], { timeout: 400_000 });
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  const last = stdout.trim().split("\n").at(-1) ?? "";
  if (!last.startsWith("{")) throw new Error(`the process said nothing: ${stderr.slice(-2000)}`);
  return JSON.parse(last) as Told;
}

/** How many points an undisturbed process has, by name. */
export async function allPoints(): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "tickwright-points-"));
  try {
    const { points = [], ends, wrong = [] } = await told(folder, 0);
    const faults = [...wrong, ...faultsOf(ends)];
    if (faults.length > 0) throw new Error(`without any kill: ${faults.join("; ")}`);
    return points;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What became of one kill. `killedAt`: absent if that process had ended before it came so far. */
export interface Killed {
  readonly point: number;
  readonly killedAt: string | undefined;
  readonly faults: readonly string[];
}

/** Kills the process at a point, starts it again on what it left, and checks what the runs come to. */
async function killAt(point: number): Promise<Killed> {
  const folder = await mkdtemp(join(tmpdir(), `tickwright-kill-${point}-`));
  try {
    const first = await told(folder, point);
    const last = first.killedAt === undefined ? first : await told(folder, 0);
    const journal = (await readFile(join(folder, "journal"), "utf8")).trim().split("\n");
    const entries = journal.map((line) => JSON.parse(line) as Entry);
    const faults = [...(last.wrong ?? []), ...faultsOf(last.ends), ...undone(entries)];
    return { point, killedAt: first.killedAt, faults };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function faultsOf(ends: Told["ends"]): readonly string[] {
  return Object.entries(expected).flatMap(([runId, { status, output }]) => {
    const end = ends?.[runId];
    const isRight = end?.status === status && JSON.stringify(end.output) === JSON.stringify(output);
    return isRight ? [] : [`${runId} came to ${JSON.stringify(end)}`];
  });
}

/** Steps that never ran, and steps that ran under two keys: a kill may repeat a step, and never makes it another. */
function undone(entries: readonly Entry[]): readonly string[] {
  return Object.entries(done).flatMap(([runId, nodes]) =>
    nodes.flatMap((node) => {
      const keys = new Set(entries.flatMap((each) => (each.runId === runId && each.node === node ? [each.key] : [])));
      const wanted = node === "each" ? 3 : 1;
      return keys.size === wanted ? [] : [`${runId}: ${node} has ${keys.size} idempotency keys, not ${wanted}`];
    }),
  );
}

/** Points by turns, so many processes at once. */
export async function killAtEach(
  points: readonly number[],
  jobs: number,
  told: (killed: Killed) => void = () => undefined,
): Promise<readonly Killed[]> {
  const open = [...points];
  const all: Killed[] = [];
  const worker = async () => {
    for (let point = open.shift(); point !== undefined; point = open.shift()) {
      const killed = await killAt(point).catch(
        (error: Error): Killed => ({ point, killedAt: undefined, faults: [error.message] }),
      );
      all.push(killed);
      told(killed);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return all.toSorted((one, other) => one.point - other.point);
}
