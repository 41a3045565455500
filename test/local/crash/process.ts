/**
 * The embedded stack as a process that kills itself at a numbered point: `node test/local/crash/process.ts FOLDER POINT`. Every call of
 * a port, over the wire, is two points: before it is sent, and after its answer came. It starts the runs, does what they wait for
 * somebody to do, and says what they came to. Point 0 is none.
 */
import { join } from "node:path";
import { devLimits } from "../../../functions/dev.ts";
import { groupsOf } from "../../../lib/authoring/groups.ts";
import { createDynamodbStore } from "../../../lib/aws/dynamodb-store.ts";
import { onBatch, onSchedule } from "../../../lib/aws/handler.ts";
import { processClock as clock, processRandom as random } from "../../../lib/aws/process.ts";
import { createS3Payloads } from "../../../lib/aws/s3-payloads.ts";
import { createSqsQueue } from "../../../lib/aws/sqs-queue.ts";
import { Fault } from "../../../lib/core/faults.ts";
import { isSettled, statusOf } from "../../../lib/core/run.ts";
import { bury } from "../../../lib/engine/bury.ts";
import { signal } from "../../../lib/engine/commands.ts";
import { coordinate } from "../../../lib/engine/coordinate.ts";
import { decide } from "../../../lib/engine/decide.ts";
import { createEngine, type Engine } from "../../../lib/engine/engine.ts";
import { complete } from "../../../lib/engine/external.ts";
import { findRun, readResult } from "../../../lib/engine/inspect.ts";
import { start } from "../../../lib/engine/start.ts";
import { watch } from "../../../lib/engine/watch.ts";
import { work } from "../../../lib/engine/work.ts";
import { createRegistry } from "../../../lib/index.ts";
import { startStack } from "../../../lib/local/stack.ts";
import { overlapsOf } from "./claims.ts";
import { crashWorkflows, expected } from "./workload.ts";

const [folder = "", point = "0"] = process.argv.slice(2);
const points: string[] = [];
const pass = (name: string) => {
  points.push(name);
  if (points.length === Number(point)) {
    process.stdout.write(`${JSON.stringify({ killedAt: name })}\n`, () => process.kill(process.pid, "SIGKILL"));
    // nothing more leaves this process, as the kernel would have it
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
};

/** A port of which each call is two points. Looks that nothing follows from are none. */
function counted<Port extends object>(
  port: Port,
  nameOf: (member: string, args: readonly unknown[]) => string | undefined,
): Port {
  return new Proxy(port, {
    get(target, member, receiver) {
      const value: unknown = Reflect.get(target, member, receiver);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        const name = nameOf(String(member), args);
        if (name !== undefined) pass(`before ${name}`);
        const answer: unknown = await Reflect.apply(value, target, args);
        if (name !== undefined) pass(`after ${name}`);
        return answer;
      };
    },
  });
}

const recordOf = (sk: string) =>
  sk
    .split("#")
    .slice(0, sk.startsWith("STATE") ? 2 : 1)
    .join("#");
const storeCall = (member: string, [first]: readonly unknown[]) => {
  const { key, kind, prefix } = (first ?? {}) as { key?: { sk: string }; kind?: string; prefix?: string };
  if (member === "write") return `${kind} ${recordOf(key?.sk ?? "")}`;
  return member === "list" ? `load ${recordOf(prefix ?? "")}` : member === "read" ? "read" : undefined;
};
const queueCall = (member: string, [messages]: readonly unknown[]) => {
  const queues = [...new Set((messages as readonly { queue: string }[]).map(({ queue }) => queue))];
  return member === "send" && queues.length > 0 ? `send to ${queues.join(" and ")}` : undefined;
};

const tokens: string[] = [];
const workflows = crashWorkflows(join(folder, "journal"), (token) => void tokens.push(token));
let engine: Engine | undefined;
/** The same, but what it asks is no point: to see how far the runs are. */
let looking: Engine | undefined;
const stack = await startStack({
  groups: groupsOf(workflows),
  dataFolder: join(folder, "data"),
  scale: { timeoutMs: 4_000, visibilityS: 4, watchIntervalMs: 500 },
  functions: (wired) => {
    const store = createDynamodbStore({ client: wired.clients.dynamodb, tableName: wired.tableName, clock, random });
    const queue = createSqsQueue({ client: wired.clients.sqs, queueBase: wired.queueBase, clock, random });
    const payloads = createS3Payloads({ client: wired.clients.s3, bucket: wired.bucket, clock });
    const built = createEngine({
      store: counted(store, storeCall),
      queue: counted({ ...queue, isBehind: queue.isBehind }, (member, args) =>
        member === "send" ? queueCall(member, args) : undefined,
      ),
      payloads: counted(payloads, (member) => member),
      clock,
      random,
      log: { write: () => undefined },
      metrics: { count: () => undefined, flush: async () => undefined },
      registry: createRegistry([...workflows]),
      limits: { ...devLimits, dispatchGraceMs: 1500, owedGraceMs: 1000, childPollMs: 1500, watchIntervalMs: 1000 },
      build: `crash-${clock.nowMs()}`,
    });
    engine = built;
    looking = { ...built, store };
    const onion = { init: () => built };
    return {
      coordinator: onBatch(onion, coordinate),
      workers: Object.fromEntries(
        groupsOf(workflows).map((group) => [
          group,
          onBatch<Engine>(onion, (deps, batch, remaining) => work(deps, group, batch, remaining)),
        ]),
      ),
      watchdog: onSchedule(onion, watch),
      deadTasks: onBatch(onion, bury),
    };
  },
});
if (!engine || !looking) throw new Error("the stack did not build its functions");
const [built, looker]: readonly [Engine, Engine] = [engine, looking];
const refOf = (runId: string) => ({ tenant: "default", runId });

const passing: readonly string[] = ["unavailable", "throttled"];

/** What somebody outside does: again and again, until it is done. Being late or early is no fault. */
async function trying(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (!Fault.is(error)) throw error;
    return !["run-not-found", ...passing].includes(error.code);
  }
}

/** Looks until the table answers: on a busy machine it may take its time. */
async function seen<T>(look: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await look();
    } catch (error) {
      if (!Fault.is(error) || !passing.includes(error.code) || tries >= 20) throw error;
      await clock.sleep(500);
    }
  }
}

const outstanding = new Map<string, () => Promise<unknown>>([
  ["start all", () => start(built, { workflow: "all", runId: "all-1", input: { n: 1 } })],
  ["start saga", () => start(built, { workflow: "saga", runId: "saga-1", input: { n: 1 } })],
  ["signal", () => signal(built, refOf("all-1"), { signal: "go", payload: { n: 2 }, id: "go-1" })],
  ["decide", () => decide(built, refOf("all-1"), { gate: "approval", approved: true, by: "mei", id: "d-1" })],
]);
const runIds = Object.keys(expected);
// more than ten times what it takes: a machine may be busy
const endsAtMs = performance.now() + 300_000;
for (let isOver = false; !isOver && performance.now() < endsAtMs; await clock.sleep(100)) {
  const isOpen =
    (await seen(() => findRun(looker, refOf("all-1"))))?.active.some(({ state }) => state === "gate") ?? false;
  for (const [name, act] of outstanding)
    if ((name !== "decide" || isOpen) && (await trying(act))) outstanding.delete(name);
  for (const token of tokens.splice(0)) if (!(await trying(() => complete(built, token, { n: 3 })))) tokens.push(token);
  const runs = await Promise.all(runIds.map((runId) => seen(() => findRun(looker, refOf(runId)))));
  isOver = outstanding.size === 0 && runs.every((run) => run !== undefined && isSettled(run));
}

const ends: Record<string, unknown> = {};
const wrong: string[] = [];
for (const runId of runIds) {
  const result = await seen(() => readResult(looker, refOf(runId))).catch(() => undefined);
  const { run, output } = result ?? {};
  ends[runId] = run && {
    status: isSettled(run) ? statusOf(run) : `${statusOf(run)}, not settled`,
    ...(output?.ok && { output: output.value }),
  };
  wrong.push(...(await seen(() => overlapsOf(looker, refOf(runId)))));
}
process.stdout.write(`${JSON.stringify({ ends, wrong, points })}\n`);
await stack.stop();
process.exit(0);
