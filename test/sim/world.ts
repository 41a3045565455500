import type { Limits } from "../../lib/core/limits.ts";
import type { Run } from "../../lib/core/run.ts";
import type { Log, Message, RunStore, Sent, Write, Written } from "../../lib/ports.ts";
import { createMemoryPayloads, type MemoryPayloads } from "../../lib/testing/memory-payloads.ts";
import { createMemoryQueue, type MemoryQueue } from "../../lib/testing/memory-queue.ts";
import { createMemoryStore, type MemoryStore } from "../../lib/testing/memory-store.ts";
import { watchDues } from "../../lib/testing/watch-dues.ts";
import { type Breakage, broken } from "./breaks.ts";
import type { Rollout } from "./builds.ts";
import { type Call, type Calls, createCalls } from "./calls.ts";
import type { Choices } from "./choices.ts";
import type { FaultKind, Profile } from "./faults.ts";
import type { Changed } from "./journal.ts";
import { fateOf } from "./messages.ts";
import { overtaking, type Plagues } from "./plagues.ts";
import type { Process } from "./process.ts";
import { createTimeline, type Timeline } from "./timeline.ts";

/** Something that must never be, as a checker found it. */
export interface Violation {
  /** Of DESIGN's list; 0 where the code threw or the simulation itself came to no end. */
  readonly invariant: number;
  readonly what: string;
  readonly atMs: number;
}

/** An installation in memory, and everything that befalls it: one timeline, one table, its queues, and processes that come and go. */
export interface World {
  readonly choices: Choices;
  readonly profile: Profile;
  readonly limits: Limits;
  readonly timeline: Timeline;
  readonly store: MemoryStore;
  readonly queue: MemoryQueue;
  readonly payloads: MemoryPayloads;
  readonly calls: Calls;
  readonly weather: { rate(kind: FaultKind): number; isOver: boolean; overAtMs: number };
  builds: Rollout;
  plagues: Plagues;
  /** Somebody else commits on this row, and that is all that is known of it. */
  overtake(pk: string, hasMoved: boolean): Promise<void>;
  /** Commits that the table refused, by partition and transition. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Records of which somebody does not know whether a write came through, by partition and sort key. */
  readonly troubles: Set<string>;
  /** When the watchdog has something to find. */
  readonly dueAtMs: () => number | undefined;
  write(by: Process, write: Write, options: Parameters<RunStore["write"]>[1]): Promise<Written>;
  send(by: Process, messages: readonly Message[]): Promise<readonly Sent[]>;
  /** Tells of every change of a record, every message taken, every call of a handler. */
  readonly onChange: ((change: Changed) => void)[];
  readonly onSent: ((queue: string, messages: readonly Message[], by: Process) => void)[];
  readonly onCall: ((call: Call, others: readonly Call[]) => void)[];
  /** The watchdog is about to look. */
  readonly onWatch: (() => void)[];
  /** Those outside who ask until they are answered, and are not yet. */
  calling: number;
  readonly onBegun: ((token: string, value: number) => void)[];
  begin(token: string, value: number): void;
  log: Log["write"];
  count(metric: string, value?: number): void;
  noteFault(kind: FaultKind, where: string): void;
  readonly counts: Map<string, number>;
  violate(invariant: number, what: string): void;
  readonly violations: readonly Violation[];
  trace(line: () => string): void;
  readonly lines: readonly string[];
  /** Of everything that happened, in its order. */
  readonly hash: () => string;
  /** The latest version of every row, read. */
  readonly rows: Map<string, Run>;
}

export interface WorldOptions {
  readonly choices: Choices;
  readonly profile: Profile;
  readonly limits: Limits;
  readonly isTraced: boolean;
  readonly breakage?: Breakage | undefined;
}

const expectedErrors = new Set(["run.force-failed", "force-fail.held", "row.too-big"]);

export function createWorld({ choices, profile, limits, isTraced, breakage }: WorldOptions): World {
  const timeline = createTimeline();
  const { nowMs } = timeline;
  const counts = new Map<string, number>();
  const refusals = new Map<string, number>();
  const strangers = choices.random("strangers");
  const violations: Violation[] = [];
  const lines: string[] = [];
  let hash = 0x811c9dc5;
  let writer: Process | undefined;
  let sender: Process | undefined;
  const weather = { isOver: false, overAtMs: 0, rate: (kind: FaultKind) => (weather.isOver ? 0 : profile.rates[kind]) };
  const reads = choices.random("reads");
  const count = (metric: string, value = 1) => void counts.set(metric, (counts.get(metric) ?? 0) + value);

  function mix(text: string): void {
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  const stamp = () => `${((nowMs() - 1_800_000_000_000) / 1000).toFixed(3).padStart(11)}s`;

  const memory = createMemoryStore({
    nowMs,
    isStale: () => {
      const isStale = reads.chance(weather.rate("stale-read"));
      if (isStale) count("fault:stale-read");
      return isStale;
    },
    indexLagMs: () => {
      const [isDrawn, magnitude] = [reads.fraction() < weather.rate("index-lag"), reads.fraction()];
      if (isDrawn) count("fault:index-lag");
      return isDrawn ? Math.round(10 ** (1 + 4 * magnitude)) : 0;
    },
    onApplied: (write, before, now) => {
      const change: Changed = { atMs: nowMs(), write, before, now, by: writer };
      mix(`${nowMs()} ${write.kind} ${write.key.pk} ${write.key.sk}`);
      // the watchdog's own record is no run's; what is written once, for a run that somebody else has created meanwhile, is garbage
      if (!write.key.pk.startsWith("#") && !/^(?:IN|OUT|ITEM)#/.test(write.key.sk)) count("changes");
      for (const listener of world.onChange) listener(change);
    },
  });
  const queue = createMemoryQueue({
    clock: { nowMs },
    visibilityMs: 6 * 60_000,
    maxReceiveCount: profile.isCarried ? 1000 : 4,
    random: choices.random("queue"),
    fateOf: (message) => (sender ? fateOf(sender, message) : { copies: 1, lateMs: 0 }),
  });
  const world: World = {
    choices,
    profile,
    limits,
    timeline,
    store: memory,
    queue,
    payloads: createMemoryPayloads(),
    weather,
    builds: undefined as never,
    plagues: undefined as never,
    refusals,
    troubles: new Set(),
    dueAtMs: watchDues(memory),
    calls: createCalls(nowMs, (call, others) => {
      mix(`${nowMs()} ${call.key} ${call.attempt}`);
      count("handler calls");
      for (const listener of world.onCall) listener(call, others);
    }),
    onChange: [],
    onSent: [],
    onCall: [],
    onWatch: [],
    calling: 0,
    onBegun: [],
    begin(token, value) {
      for (const listener of world.onBegun) listener(token, value);
    },
    async write(by, write, options) {
      writer = by;
      const written = await memory.write(write, options);
      writer = undefined;
      if (write.key.sk === "STATE" && written.kind === "refused") {
        count("conflicts at the table");
        const place = `${write.key.pk} ${world.rows.get(write.key.pk)?.transitionSeq}`;
        refusals.set(place, (refusals.get(place) ?? 0) + 1);
      }
      return written;
    },
    async overtake(pk, hasMoved) {
      const write = overtaking(world, pk, hasMoved, strangers.token());
      if (write) await memory.write(write);
    },
    async send(by, messages) {
      sender = by;
      const sent = await queue.send(messages);
      sender = undefined;
      for (const message of messages) mix(`${nowMs()} ${message.queue} ${message.body}`);
      for (const name of new Set(messages.map((each) => each.queue)))
        for (const listener of world.onSent)
          listener(
            name,
            messages.filter(({ queue }) => queue === name),
            by,
          );
      return sent;
    },
    log(level, event, fields) {
      world.trace(() => `  ${level} ${event} ${JSON.stringify(fields)}`);
      count(`log:${event}`);
      if (level === "error" && !expectedErrors.has(event)) world.violate(0, `${event} ${JSON.stringify(fields)}`);
    },
    count,
    noteFault(kind, where) {
      count(`fault:${kind}`);
      world.trace(() => `  fault ${kind}: ${where}`);
    },
    counts,
    violate(invariant, what) {
      if (violations.length >= 20) return;
      violations.push({ invariant, what, atMs: nowMs() });
      world.trace(() => `  VIOLATION of invariant ${invariant}: ${what}`);
    },
    violations,
    trace(line) {
      if (isTraced) lines.push(`${stamp()}  ${line()}`);
    },
    lines,
    hash: () => (hash >>> 0).toString(16).padStart(8, "0"),
    rows: new Map(),
  };
  return breakage ? { ...world, write: broken(breakage, world.write) } : world;
}
