import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { differences } from "../../examples/demo/expectation.ts";
import { isSettled, type Run } from "../../lib/core/run.ts";
import { decide } from "../../lib/engine/decide.ts";
import { findRun, readResult, timeline } from "../../lib/engine/inspect.ts";
import { overlapsOf } from "./crash/claims.ts";
import { approvedByHand, plannedRuns } from "./crash-runs.ts";
import { type DevProcess, engineAt, spawnDev } from "./dev-process.ts";

/** Kills the process this often while everything is under way. */
const kills = 3;

let folder: string;
let dev: DevProcess | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tickwright-crash-"));
});
afterAll(async () => {
  await dev?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("fifty runs end as they should although the process is killed again and again, and no step has two valid claims", async () => {
  const runs = await plannedRuns();
  expect(runs.length).toBeGreaterThanOrEqual(50);
  const file = join(folder, "runs.json");
  await writeFile(file, JSON.stringify(runs));
  const refOf = ({ runId }: { readonly runId: string }) => ({ tenant: "default", runId });

  dev = await spawnDev(["--data", join(folder, "data"), "--quiet", "--start", file]);
  for (let kill = 0; kill < kills; kill++) {
    await wait(700);
    const { engine, close } = engineAt(dev);
    const seen = await Promise.all(runs.map((run) => findRun(engine, refOf(run))));
    close();
    expect(seen).not.toContain(undefined);
    expect(seen.every(isEnded)).toBe(false);
    await dev.kill();
    dev = await spawnDev(["--data", join(folder, "data"), "--quiet"]);
  }

  const { engine, close } = engineAt(dev);
  const waiting = new Set(runs.map(({ runId }) => runId).filter((runId) => runId !== approvedByHand));
  await until(async () => {
    for (const runId of [...waiting]) if (isEnded(await findRun(engine, refOf({ runId })))) waiting.delete(runId);
    return waiting.size === 0;
  }, 120_000);
  expect([...waiting]).toEqual([]);

  // A decision whose wake-up was lost; then anybody with an SQS client: the command that was printed, as it stands.
  const byHand = refOf({ runId: approvedByHand });
  await decide(engine, byHand, { gate: "approval", approved: true, by: "mei" });
  await wait(1_000);
  expect((await findRun(engine, byHand))?.active.map(({ state }) => state)).toEqual(["gate"]);
  expect(await dev.wake(approvedByHand)).toMatch(/^sent /);
  await until(async () => isEnded(await findRun(engine, byHand)), 30_000);

  const wrong: string[] = [];
  let lost = 0;
  for (const planned of runs) {
    const told = await timeline(engine, refOf(planned));
    const { output } = await readResult(engine, refOf(planned));
    const found = differences(planned.expect, told, output?.ok ? output.value : undefined);
    wrong.push(...found.map((each) => `${planned.runId}: ${each}`), ...(await overlapsOf(engine, refOf(planned))));
    const attempts = told.nodes.flatMap((node) => node.attempts);
    lost += attempts.filter(({ state }) => state === "lost").length;
    for (const { childRunId: runId } of attempts) {
      if (runId !== undefined) wrong.push(...(await overlapsOf(engine, refOf({ runId }))));
    }
  }
  close();
  expect(wrong).toEqual([]);
  // otherwise nothing was killed in the middle of anything
  expect(lost).toBeGreaterThan(0);
}, 240_000);

const isEnded = (run: Run | undefined) => run !== undefined && isSettled(run);

/** Asks again and again; gives up silently: what is asserted afterwards says more. */
async function until(condition: () => Promise<boolean>, limitMs: number): Promise<void> {
  const endsAtMs = performance.now() + limitMs;
  while (!(await condition()) && performance.now() < endsAtMs) await wait(200);
}
