import * as v from "valibot";
import { expect } from "vitest";
import { attemptAttributes } from "../../lib/core/attempt-format.ts";
import { attemptName } from "../../lib/core/keys.ts";
import { mailAttributes, mailboxFrom } from "../../lib/core/mail-format.ts";
import { decodeRun } from "../../lib/core/row-format.ts";
import { isSettled, nodeState, type Run } from "../../lib/core/run.ts";
import { bury } from "../../lib/engine/bury.ts";
import { coordinate } from "../../lib/engine/coordinate.ts";
import { readResult } from "../../lib/engine/inspect.ts";
import { envelope, message } from "../../lib/engine/messages.ts";
import { attemptKey } from "../../lib/engine/records/attempt.ts";
import { mailKey } from "../../lib/engine/records/mail.ts";
import { stateKey } from "../../lib/engine/records/state.ts";
import { sentFrom, strikesFrom, strikesKey } from "../../lib/engine/records/strikes.ts";
import { start } from "../../lib/engine/start.ts";
import { work } from "../../lib/engine/work.ts";
import { type AnyWorkflow, createRegistry, step } from "../../lib/index.ts";
import type { HandedBack } from "../../lib/ports/received.ts";
import type { Fields, Write } from "../../lib/ports.ts";
import type { Injection } from "../../lib/testing/fault-hooks.ts";
import type { Delivery, QueueCall } from "../../lib/testing/memory-queue.ts";
import type { StoreCall } from "../../lib/testing/memory-store.ts";
import { createWorld, type WorldOptions } from "../../lib/testing/world.ts";

/** What a test does to calls: once, always, or hold one until it is released. The first rule that fits is used. */
export interface Faults<Call> {
  once(fits: (call: Call) => boolean, act: Injection | (() => Promise<unknown>)): void;
  always(fits: (call: Call) => boolean, act: Injection): { stop(): void };
  hold(fits: (call: Call) => boolean): Held;
}

/** Does something right before each of the next `times` calls that fit; what it calls itself is let through. */
export function beforeEach<Call>(
  faults: Faults<Call>,
  times: number,
  fits: (call: Call) => boolean,
  does: () => Promise<unknown>,
) {
  let isInside = false;
  for (let at = 0; at < times; at++) {
    faults.once(
      (call) => !isInside && fits(call),
      async () => {
        isInside = true;
        await does();
        isInside = false;
      },
    );
  }
}

/** A call that waits. `release` lets it through, or does something to it. */
interface Held {
  readonly isReached: boolean;
  release(injection?: Injection): void;
}

function createFaults<Call>() {
  type Rule = {
    readonly fits: (call: Call) => boolean;
    left: number;
    readonly act: () => Injection | undefined | Promise<Injection | undefined>;
  };
  const rules: Rule[] = [];
  const faults: Faults<Call> = {
    once(fits, act) {
      const does = typeof act === "function" ? async () => void (await act()) : () => act;
      rules.push({ fits, left: 1, act: does as Rule["act"] });
    },
    always(fits, act) {
      const rule: Rule = { fits, left: Number.POSITIVE_INFINITY, act: () => act };
      rules.push(rule);
      return {
        stop() {
          rule.left = 0;
        },
      };
    },
    hold(fits) {
      const { promise, resolve } = Promise.withResolvers<Injection | undefined>();
      let isReached = false;
      const act = () => {
        isReached = true;
        return promise;
      };
      rules.push({ fits, left: 1, act });
      return {
        get isReached() {
          return isReached;
        },
        release: resolve,
      };
    },
  };
  const before = (call: Call) => {
    const rule = rules.find((each) => each.left > 0 && each.fits(call));
    if (!rule) return undefined;
    rule.left -= 1;
    return rule.act();
  };
  return { faults, hooks: { before } };
}

const written = (call: StoreCall, prefix: string): Write | undefined =>
  call.op === "write" && call.write.key.sk.startsWith(prefix) ? call.write : undefined;

const setIn = (write: Write | undefined, name: string) =>
  write?.kind === "put"
    ? write.fields[name]
    : write?.kind === "edit"
      ? write.edits.flatMap((edit) => (edit.kind === "set" && edit.path[0] === name ? [edit.value] : []))[0]
      : undefined;

/** Calls by what they mean. */
export const isCommit = (call: StoreCall) =>
  call.op === "write" && call.write.key.sk === "STATE" && call.write.kind === "edit";
export const isClaim = (call: StoreCall) =>
  written(call, "ATT#")?.kind === "put" && setIn(written(call, "ATT#"), attemptAttributes.outcome) === undefined;
export const isEnd = (outcome: string) => (call: StoreCall) =>
  setIn(written(call, "ATT#"), attemptAttributes.outcome) === outcome;
export const isStrike = (call: StoreCall) => setIn(written(call, "STATE#STRIKES#"), "n") !== undefined;
export const isUnstrike = (call: StoreCall) => {
  const write = written(call, "STATE#STRIKES#");
  return write?.kind === "edit" && write.edits.some((edit) => edit.kind === "remove" && edit.path[0] === "n");
};
export const isTrim = (call: StoreCall) => {
  const write = written(call, "STATE#MAIL#");
  return write?.kind === "edit" && write.edits.some((edit) => edit.kind === "remove");
};
export const isAppend = (call: StoreCall) => {
  const write = written(call, "STATE#MAIL#");
  return write?.kind === "put" || (write?.kind === "edit" && write.edits.some((edit) => edit.kind === "append"));
};
export const isLoad = (call: StoreCall) => call.op === "list" && call.prefix === "STATE";
export const isSendTo = (queue: string) => (call: QueueCall) => call.messages.some((each) => each.queue === queue);
export const isForceFail = (call: StoreCall) => isCommit(call) && setIn(written(call, "STATE"), "s") === "failed";

export const crash: Injection = { kind: "crash-before" };
export const wakes = "wake:standard";
export const tasks = "task:default";

const number = v.object({ n: v.number() });
export const input = number;

/** A step that adds one, or does what it is told. */
export function plus(name: string, extra: object = {}, does: (n: number) => number | Promise<number> = (n) => n + 1) {
  return step(name, { input: number, output: number, ...extra }, async ({ n }) => ({ n: await does(n) }));
}

export type Stage = ReturnType<typeof createStage>;

/** The production engine on memory adapters, driven message by message. Nobody consumes a queue unless the test says so. */
export function createStage(
  workflows: readonly AnyWorkflow[],
  options: Omit<WorldOptions, "registry" | "storeHooks" | "queueHooks"> = {},
) {
  const store = createFaults<StoreCall>();
  const queue = createFaults<QueueCall>();
  const functionMs = options.functionMs ?? 120_000;
  const world = createWorld({
    registry: createRegistry([...workflows]),
    hasWatchdog: false,
    functionMs,
    visibilityMs: functionMs,
    ...options,
    storeHooks: store.hooks,
    queueHooks: queue.hooks,
  });
  const ref = { tenant: "default", runId: "r1" };

  function run(of = ref): Run {
    const row = world.store.peek(stateKey(of));
    if (!row) throw new Error(`there is no run ${of.runId}`);
    return decodeRun({ pk: stateKey(of).pk }, row);
  }

  /** Acknowledges what was not handed back, and shows the rest again at once. */
  async function finish(deliveries: readonly Delivery[], job: Promise<HandedBack>): Promise<HandedBack> {
    const back = await job;
    for (const delivery of deliveries) {
      if (back.includes(delivery.id)) world.queue.release(delivery);
      else world.queue.ack(delivery);
    }
    return back;
  }

  function remaining() {
    const endAtMs = world.clock.nowMs() + functionMs;
    return () => endAtMs - world.clock.nowMs();
  }

  return {
    world,
    ref,
    store: store.faults,
    queue: queue.faults,
    run,
    nowMs: () => world.clock.nowMs(),
    nodeOf: (position: number, of = ref) => nodeState(run(of).nodes, position),
    entryOf: (node: number) => run().active.find((entry) => entry.node === node),
    attemptOf: (node: number, attempt = 1, index = 0): Fields | undefined =>
      world.store.peek(attemptKey(run(), { node, index, attempt })),
    mailOf(of = ref) {
      const record = world.store.peek(mailKey({ ...of, runUid: run(of).runUid }));
      return record && mailboxFrom(record);
    },
    strikesOf(runUid = String(world.store.peek(stateKey(ref))?.["u"])) {
      return strikesFrom(world.store.peek(strikesKey({ ...ref, runUid })));
    },
    sentOf: () => sentFrom(world.store.peek(strikesKey({ ...ref, runUid: run().runUid }))),
    isSealed: () => world.store.peek(mailKey({ ...ref, runUid: run().runUid }))?.[mailAttributes.sealed] !== undefined,
    async begin(workflow: string, more: { readonly deadlineMs?: number } = {}) {
      await start(world.engine, { workflow, runId: ref.runId, input: { n: 1 }, ...more });
    },
    /** From now on this build throws whenever it ticks the run; another build does not. */
    poison() {
      const hash = run().definitionHash;
      const program = world.engine.programs.get(hash);
      if (!program) throw new Error("this build has not met the definition");
      const get = (target: typeof program, name: keyof typeof program) => {
        if (name === "nodes") throw new TypeError("a defect of this build");
        return target[name];
      };
      world.engine.programs.set(hash, new Proxy(program, { get: get as never }));
    },
    /** Takes every message that is visible there. */
    take: (name: string): readonly Delivery[] => world.queue.receive(name, 100),
    /** Takes the one message that is visible there. */
    only(name: string): Delivery {
      const taken = world.queue.receive(name, 100);
      expect(taken, `messages in ${name}`).toHaveLength(1);
      return taken[0] as Delivery;
    },
    /** The same message as it is received once more. */
    again(delivery: Delivery): Delivery {
      world.queue.release(delivery);
      const next = world.queue.receive(delivery.queue, 100).filter((each) => each.id === delivery.id);
      expect(next, `message ${delivery.id} once more`).toHaveLength(1);
      return next[0] as Delivery;
    },
    coordinate: (...deliveries: readonly Delivery[]) =>
      finish(deliveries, coordinate(world.engine, deliveries, remaining(), deliveries[0]?.queue)),
    work: (...deliveries: readonly Delivery[]) =>
      finish(deliveries, work(world.engine, "default", deliveries, remaining())),
    bury: (...deliveries: readonly Delivery[]) => finish(deliveries, bury(world.engine, deliveries, remaining())),
    /** Sends a wake-up with these hints (none: look at everything), and takes it. */
    async wake(fields: Parameters<typeof envelope>[1] = {}, name = wakes): Promise<Delivery> {
      const text = message(name, envelope(run(), fields), "by-hand");
      await world.queue.send([text]);
      const taken = world.queue.receive(name, 100).filter((each) => each.body === text.body);
      expect(taken.length, "the wake-up by hand").toBeGreaterThan(0);
      return taken.at(-1) as Delivery;
    },
    hint: (node: number, attempt = 1) => attemptName(node, 0, attempt),
    /** Lets everything go on that can without time passing. */
    settle: () => world.clock.settle(),
    /** Time passes, nobody consumes anything. */
    pass: (byMs: number) => world.clock.advance(byMs),
    /** Lets a job end; pauses between attempts pass as they come. */
    drive: <T>(job: Promise<T>) => world.clock.drive(job),
    /** From here on every function consumes its queue, until the run has ended and owes nothing. */
    async toEnd(maxMs = 3_600_000, of = ref) {
      const atMs = world.clock.nowMs();
      let isOver = true;
      await world
        .until(() => isSettled(run(of)), maxMs)
        .catch(() => {
          isOver = false;
        });
      expect(
        isOver,
        `run ${of.runId} reaches its end within ${maxMs} ms; it stands at ${JSON.stringify(run(of).active)}`,
      ).toBe(true);
      expect(world.thrown).toEqual([]);
      const { run: now, output } = await readResult(world.engine, of);
      return {
        phase: now.phase,
        reason: now.reason,
        output: output?.ok ? output.value : undefined,
        tookMs: world.clock.nowMs() - atMs,
      };
    },
  };
}
