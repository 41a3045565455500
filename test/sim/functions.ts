import type { SQSEvent, SQSRecord } from "aws-lambda";
import { runBatch } from "../../lib/aws/batch.ts";
import { bury } from "../../lib/engine/bury.ts";
import { coordinate } from "../../lib/engine/coordinate.ts";
import { queues } from "../../lib/engine/messages.ts";
import { watch } from "../../lib/engine/watch.ts";
import { work } from "../../lib/engine/work.ts";
import type { Received } from "../../lib/ports/received.ts";
import type { Delivery } from "../../lib/testing/memory-queue.ts";
import { createProcess, type Process } from "./process.ts";
import type { World } from "./world.ts";

/** How long one invocation may take. */
export const functionMs = 60_000;
const minuteMs = 60_000;
/** How often it looks while somebody is parked, whom it may wake. */
const lookMs = 10 * minuteMs;

/** A processing that began and has not ended, or never will: evidence against its run. */
export interface Unfinished {
  readonly runId: string;
  readonly process: Process;
  readonly isRedelivered: boolean;
}

/** The functions behind their queues, invoked as event source mappings do it, and the watchdog once a minute. */
export interface Functions {
  /** Nothing of this function is invoked until then. */
  stop(role: Role, untilMs: number): void;
  /** When the watchdog looks next, if it would find anything. */
  watchAtMs(): number | undefined;
  watch(): void;
  /** A deploy: the watchdog looks, whether or not something is due. */
  deployed(): void;
  /** Processings of a run that have not ended. */
  unfinished(runId: string): readonly Unfinished[];
}

export type Role = "coordinator" | "worker" | "watchdog";

const roleOf = (queue: string): Role =>
  queue === queues.deadTask ? "watchdog" : queue.startsWith("task:") ? "worker" : "coordinator";

export function createFunctions(world: World): Functions {
  const { timeline, queue, choices } = world;
  const random = choices.random("functions");
  const stoppedUntil = new Map<Role, number>();
  const planned = new Map<string, number>();
  const unfinished = new Set<Unfinished>();
  let nextWatchAtMs = timeline.nowMs() + minuteMs;
  let isNewBuild = true;

  /** Looks at a queue at an instant, once, however often that is asked for. */
  function plan(name: string, atMs: number): void {
    if (name === queues.dead) return;
    const before = planned.get(name);
    if (before !== undefined && before <= atMs && before >= timeline.nowMs()) return;
    planned.set(name, atMs);
    timeline.at(atMs, () => poll(name, atMs));
  }

  function poll(name: string, atMs: number): void {
    if (planned.get(name) === atMs) planned.delete(name);
    const stopped = stoppedUntil.get(roleOf(name)) ?? 0;
    if (stopped > timeline.nowMs()) return plan(name, stopped);
    const isAlone = name === queues.watch || name.startsWith("task:");
    const batch = queue.receive(name, isAlone ? 1 : 1 + random.integer(10));
    if (batch.length > 0) invoke(world, name, batch, unfinished);
    const again = queue.visible(name) > 0 ? timeline.nowMs() + 1 + random.integer(20) : queue.nextVisibleAtMs(name);
    if (again !== undefined) plan(name, again);
    const dead = name.startsWith("task:") ? queues.deadTask : undefined;
    if (dead && queue.visible(dead) > 0) plan(dead, timeline.nowMs() + 1);
  }

  world.onSent.push((name) => {
    const atMs = queue.visible(name) > 0 ? timeline.nowMs() + 1 + random.integer(30) : queue.nextVisibleAtMs(name);
    if (atMs !== undefined) plan(name, atMs);
  });

  /** What the watchdog would find beside what is due. */
  function isSomebodyParked(): boolean {
    for (const run of world.rows.values()) if (run.isParked) return true;
    return false;
  }

  /** No message is there, and nobody is at work. */
  const isIdle = () => world.calling === 0 && queue.names().every((name) => name === queues.dead);

  return {
    stop: (role, untilMs) => void stoppedUntil.set(role, untilMs),
    watchAtMs() {
      if (world.profile.isCarried && !isIdle()) return undefined;
      const from = Math.max(nextWatchAtMs, stoppedUntil.get("watchdog") ?? 0);
      const due = world.dueAtMs() ?? Number.POSITIVE_INFINITY;
      const lookAtMs = isSomebodyParked() ? (isNewBuild ? from : from + lookMs) : due;
      const atMs = Math.max(from, Math.ceil(Math.min(due, lookAtMs) / minuteMs) * minuteMs);
      return Number.isFinite(atMs) ? atMs : undefined;
    },
    watch() {
      nextWatchAtMs = timeline.nowMs() + minuteMs;
      isNewBuild = false;
      for (const listener of world.onWatch) listener();
      const process = createProcess(world, "watchdog", () => undefined);
      const endAtMs = timeline.nowMs() + functionMs;
      const timer = timeline.at(endAtMs, () => void process.die("it took too long"));
      watch(process.engine, () => endAtMs - timeline.nowMs())
        .finally(timer)
        .catch((error: unknown) => {
          world.trace(() => `the watchdog threw: ${String(error)}`);
        });
    },
    deployed() {
      isNewBuild = true;
    },
    unfinished: (runId) => [...unfinished].filter((each) => each.runId === runId),
  };
}

function invoke(world: World, name: string, batch: readonly Delivery[], unfinished: Set<Unfinished>): void {
  const { timeline, queue } = world;
  const place = `${roleOf(name)} ${batch.map(({ taskKey, receiveCount }) => `${taskKey}x${receiveCount}`).join(" ")}`;
  const mine: Unfinished[] = [];
  const process = createProcess(world, place, () => timer());
  if (process.suffers("throttle-invocation", "it")) return;
  if (roleOf(name) === "worker" && batch.some(world.plagues.killsTask)) return world.count("killed by tasks");
  world.trace(() => `${process.name} begins (${process.build})`);
  world.count("invocations");
  for (const { body, receiveCount } of batch) {
    const runId = /"runId":"([^"]*)"/.exec(body)?.[1];
    if (runId !== undefined) mine.push({ runId, process, isRedelivered: receiveCount > 1 });
  }
  for (const each of mine) unfinished.add(each);
  const endAtMs = timeline.nowMs() + functionMs;
  const timer = timeline.at(endAtMs, () => {
    if (process.isZombie) world.count("zombies");
    else void process.die("it took too long");
  });
  const event = eventOf(batch, (body) => world.builds.current && incoming(world, process, body));
  let handedBack: readonly string[] = [];
  const verb = async (received: readonly Received[]) => {
    handedBack = await verbOf(name)(process, received, () => endAtMs - timeline.nowMs());
    return handedBack;
  };
  runBatch(event, verb).then(
    ({ response, defects }) => {
      timer();
      if (process.isDead) return;
      for (const { what, cause } of defects) world.violate(0, `${what} in ${process.name}: ${stackOf(cause)}`);
      if (process.suffers("crash-after", "answer")) return void process.die("before its answer");
      for (const each of mine) unfinished.delete(each);
      const failed = new Set(response.batchItemFailures.map((each) => each.itemIdentifier));
      if (failed.size !== handedBack.length || !handedBack.every((id) => failed.has(id)))
        world.violate(
          4,
          `${process.name} hands back ${handedBack.join(", ")}, and its batch ${[...failed].join(", ")}`,
        );
      for (const delivery of batch) if (!failed.has(delivery.id)) queue.ack(delivery);
      world.trace(() => `${process.name} ends${failed.size > 0 ? `, ${failed.size} handed back` : ""}`);
    },
    (error: unknown) => world.violate(0, `a batch threw: ${stackOf(error)}`),
  );
}

const incoming = (world: World, process: Process, body: string) => world.builds.named(process.build).incomingBody(body);

const stackOf = (cause: unknown) => (cause instanceof Error ? (cause.stack ?? String(cause)) : String(cause));

type Verb = (process: Process, batch: readonly Received[], remaining: () => number) => Promise<readonly string[]>;

/** What each function's composition root names. */
function verbOf(name: string): Verb {
  if (name === queues.deadTask) return ({ engine }, batch, remaining) => bury(engine, batch, remaining);
  if (name.startsWith("task:"))
    return ({ engine }, batch, remaining) => work(engine, name.slice("task:".length), batch, remaining);
  return ({ engine }, batch, remaining) => coordinate(engine, batch, remaining, name);
}

function eventOf(batch: readonly Delivery[], read: (body: string) => string): SQSEvent {
  const records = batch.map(({ id, body, receiveCount, sentAtMs, taskKey }) => ({
    messageId: id,
    body: read(body),
    attributes: { ApproximateReceiveCount: String(receiveCount), SentTimestamp: String(sentAtMs) },
    messageAttributes: { taskKey: { dataType: "String", stringValue: taskKey } },
  }));
  return { Records: records as unknown as SQSRecord[] };
}
