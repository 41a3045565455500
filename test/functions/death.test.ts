import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { statusOf } from "../../lib/core/run.ts";
import { decide } from "../../lib/engine/decide.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { findRun } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import { type Handler, type Installation, prepare, recorded, refOf } from "./installation.ts";

const program = fileURLToPath(new URL("./invocation.ts", import.meta.url));

let here: Installation;
let engine: Engine;
let worker: Handler;
beforeEach(async () => {
  ({ here, engine, worker } = await prepare({ strikesMax: 3, strikeSpacingMs: 1, stuckAfterMs: 0 }));
});
afterEach(() => here.close());

test("a run that kills its process is ended after its strikes, and its batch mates go on, with no strike of its deaths", async () => {
  const runIds = ["mate-1", "poison", "mate-2", "mate-3"];
  for (const runId of runIds) {
    await start(engine, { workflow: "parcels", runId, input: { id: runId, stops: [] } });
    await here.invoke(worker, "task:default", { most: 1 });
    await decide(engine, refOf(runId), { gate: "checked", approved: true, by: "kim" });
  }
  const bundle = await here.bundled("coordinator", "workflows.ts", "build-1");
  let victim: ChildProcess | undefined;
  here.front.around = async ({ operation, body }) => {
    if (operation !== "UpdateItem" || !body.includes("default#poison") || !body.includes('"STATE"')) return undefined;
    // the statement that ends it names no node state to keep: it goes through when nobody is killed any more
    if (!isDeadly) return undefined;
    victim?.kill("SIGKILL");
    return "hang-up";
  };
  let isDeadly = true;
  let deaths = 0;
  /** One invocation in a process of its own; nothing if it died. */
  async function call(bodies: readonly string[], receiveCount: number): Promise<readonly string[] | undefined> {
    const event = JSON.stringify(recorded(bodies, receiveCount));
    victim = spawn(process.execPath, [program, bundle, event], { env: { ...process.env, ...here.env } });
    const [said] = await Promise.all([text(victim.stdout!), once(victim, "exit")]);
    const answer = said.trim().split("\n").at(-1) ?? "";
    if (!answer.startsWith('{"batchItemFailures"')) return undefined;
    const { batchItemFailures } = JSON.parse(answer) as { batchItemFailures: { itemIdentifier: string }[] };
    return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  }

  // whoever dies hands everything back; SQS gives up after eight receives
  const bodies = runIds.map((runId) => JSON.stringify({ runId }));
  let answer: readonly string[] | undefined;
  for (let receiveCount = 1; receiveCount <= 8 && answer === undefined; receiveCount++) {
    // after as many strikes as it takes, the next receipt ends the run before it processes it
    isDeadly = deaths < 4;
    answer = await call(bodies, receiveCount);
    if (answer === undefined) deaths += 1;
  }
  expect(answer).toEqual([]);
  // the first receipt counts no strike
  expect(deaths).toBe(4);
  const poison = await findRun(engine, refOf("poison"));
  expect(poison && statusOf(poison)).toBe("failed");
  expect(poison?.reason?.code).toBe("stuck");
  for (const runId of ["mate-1", "mate-2", "mate-3"])
    expect((await findRun(engine, refOf(runId)))?.active.map(({ state }) => state)).toEqual(["task"]);
}, 120_000);
