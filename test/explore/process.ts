import { Fault } from "../../lib/core/faults.ts";
import { hashText } from "../../lib/core/hash.ts";
import type { Limits } from "../../lib/core/limits.ts";
import { type Program, programOf } from "../../lib/core/program.ts";
import type { Handler, RegisteredWorkflow, Registry } from "../../lib/core/registry.ts";
import { createEngine, type Engine } from "../../lib/engine/engine.ts";
import type { Remaining } from "../../lib/ports/received.ts";
import { assertWrite } from "../../lib/ports/storable.ts";
import type { Answer, Call } from "./call.ts";

/** One invocation of one verb: what a process is, up to the answers that it gets. */
export interface Invocation {
  /** Unique in a run of events, and made of what the process is for: its tokens are derived from it. */
  readonly name: string;
  readonly endAtMs: number;
  /** Of the build before, which lacks a handler. */
  readonly isOld?: boolean;
  readonly begin: (engine: Engine, remaining: Remaining) => Promise<unknown>;
}

export interface Waiting {
  readonly number: number;
  readonly call: Call;
}

export type Result =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown };

/**
 * Where a process stands: the answers that it has got, and what it asks now. A process is a function of its answers (and of the
 * instants at which they came), so positions form a tree, and the real code runs once for each of them, however many interleavings
 * lead there.
 */
export interface Position {
  readonly id: number;
  readonly invocation: Invocation;
  readonly waiting: readonly Waiting[];
  readonly result: Result | undefined;
  /** What was logged as an error on the way here: it never should. */
  readonly errors: readonly string[];
}

type Step = { readonly number: number; readonly answer: Answer; readonly nowMs: number };
type Node = Position & {
  readonly parent: Node | undefined;
  readonly via: Step | undefined;
  readonly bornAtMs: number;
  readonly next: Map<string, Node>;
  life: Life | undefined;
};

interface Life {
  nowMs: number;
  readonly waiting: Map<number, { readonly call: Call; readonly settle: (answer: Answer) => void }>;
  readonly errors: string[];
  result: Result | undefined;
}

export type ExploredHandler = (
  input: unknown,
  context: Parameters<Awaited<ReturnType<Handler["prepare"]>>>[0],
  effect: () => Promise<void>,
) => Promise<unknown>;

export interface ProcessOptions {
  readonly workflows: readonly RegisteredWorkflow[];
  readonly handler: ExploredHandler;
  readonly limits: Limits;
  /** The handler that the build before lacks. */
  readonly lacks?: string | undefined;
}

export interface Processes {
  begin(invocation: Invocation, nowMs: number): Promise<Position>;
  /** Gives a process an answer: where it stands then. At once if anybody has been there before. */
  step(from: Position, number: number, answer: Answer, nowMs: number): Position | Promise<Position>;
  /** Positions met so far, and how often the real code was run for one. */
  readonly positions: number;
  readonly executions: number;
}

/** Lives that wait for their next answer: beyond so many the oldest is let go, and made again by its answers if it is needed. */
const livesMax = 20_000;

export function createProcesses(options: ProcessOptions): Processes {
  const roots = new Map<string, Node>();
  const alive: Node[] = [];
  const programs = new Map<string, Program>(
    options.workflows.map(({ definition, hash }) => [hash, programOf(definition, hash)]),
  );
  let positions = 0;
  let executions = 0;

  function nodeAt(invocation: Invocation, life: Life, parent: Node | undefined, via: Step | undefined): Node {
    positions += 1;
    const node: Node = {
      id: positions,
      invocation,
      waiting: [...life.waiting].map(([number, { call }]) => ({ number, call })),
      result: life.result,
      errors: life.errors.splice(0),
      parent,
      via,
      bornAtMs: parent?.bornAtMs ?? life.nowMs,
      next: new Map(),
      life: life.result ? undefined : life,
    };
    if (node.life) alive.push(node);
    if (alive.length > livesMax) for (const old of alive.splice(0, livesMax / 2)) old.life = undefined;
    return node;
  }

  async function born(invocation: Invocation, nowMs: number): Promise<Life> {
    executions += 1;
    const life: Life = { nowMs, waiting: new Map(), errors: [], result: undefined };
    const engine = engineOf(options, programs, invocation, life);
    invocation
      .begin(engine, () => invocation.endAtMs - life.nowMs)
      .then(
        (value) => {
          life.result = { kind: "returned", value };
        },
        (error: unknown) => {
          life.result = { kind: "threw", error };
        },
      );
    await drained();
    return life;
  }

  async function answer(life: Life, step: Step): Promise<void> {
    const asked = life.waiting.get(step.number);
    if (!asked) throw new Error("a process does not ask what it asked before: it is no function of its answers");
    life.waiting.delete(step.number);
    life.nowMs = step.nowMs;
    asked.settle(step.answer);
    await drained();
  }

  /** The same process once more, up to this point. */
  async function again(node: Node): Promise<Life> {
    const steps: Step[] = [];
    for (let at: Node | undefined = node; at?.via; at = at.parent) steps.unshift(at.via);
    const life = await born(node.invocation, node.bornAtMs);
    for (const step of steps) await answer(life, step);
    life.errors.length = 0;
    return life;
  }

  async function grow(from: Node, step: Step, key: string): Promise<Node> {
    const life = from.life ?? (await again(from));
    from.life = undefined;
    await answer(life, step);
    const node = nodeAt(from.invocation, life, from, step);
    from.next.set(key, node);
    return node;
  }

  return {
    async begin(invocation, nowMs) {
      const key = `${invocation.name}@${nowMs}`;
      const known = roots.get(key);
      if (known) return known;
      const node = nodeAt(invocation, await born(invocation, nowMs), undefined, undefined);
      roots.set(key, node);
      return node;
    },
    step(from, number, given, nowMs) {
      const key = `${number}:${given.key}@${nowMs}`;
      const node = from as Node;
      return node.next.get(key) ?? grow(node, { number, answer: given, nowMs }, key);
    },
    get positions() {
      return positions;
    },
    get executions() {
      return executions;
    },
  };
}

/** All microtasks, and those that they make, run before the next turn of the event loop. */
const drained = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The production engine of one process. Chance is none: tokens are counted, and every pause is its shortest. */
function engineOf(
  options: ProcessOptions,
  programs: ReadonlyMap<string, Program>,
  invocation: Invocation,
  life: Life,
): Engine {
  let asked = 0;
  let tokens = 0;
  const prefix = tokenPrefix(invocation.name);
  const ask = <T>(call: Call, signal?: AbortSignal): Promise<T> =>
    new Promise((resolve, reject) => {
      const number = asked++;
      const settle = (given: Answer) => (given.error ? reject(given.error) : resolve(given.value as T));
      life.waiting.set(number, { call, settle });
      signal?.addEventListener("abort", () => life.waiting.delete(number) && reject(signal.reason), { once: true });
    });
  const none = () => Promise.reject(new Fault("refused", "no scope has payloads this big"));
  const engine = createEngine({
    store: {
      read: (keys, { isConsistent }) => ask({ op: "read", keys, isConsistent }),
      list: ({ pk, prefix: begin, isConsistent, limit = 1000, after }) =>
        ask({ op: "list", pk, prefix: begin, isConsistent, limit, after }),
      find: (index, query) => ask({ op: "find", index, query }),
      write: async (write, { returns } = {}) => {
        assertWrite(write);
        return await ask({ op: "write", write, isAll: returns === "all" });
      },
    },
    queue: {
      send: (messages) => ask({ op: "send", messages }),
      isBehind: (queue) => ask({ op: "isBehind", queue }),
    },
    // there are none to remove
    payloads: { put: none, get: none, remove: async () => undefined },
    clock: {
      nowMs: () => life.nowMs,
      sleep: async (delayMs, signal) => {
        if (signal?.aborted) throw signal.reason;
        if (delayMs > 0) await ask({ op: "sleep", untilMs: life.nowMs + delayMs }, signal);
      },
    },
    random: { fraction: () => 0, token: () => `${prefix}${(++tokens).toString(16).padStart(8, "0")}` },
    log: {
      write: (level, event, fields) =>
        void (level === "error" && life.errors.push(`${event} ${String(fields["reason"] ?? "")}`)),
    },
    metrics: { count: () => undefined, flush: async () => undefined },
    registry: registryOf(options, ask, invocation.isOld ? options.lacks : undefined),
    limits: options.limits,
    build: invocation.isOld ? "build-0" : "build-1",
  });
  for (const [hash, program] of programs) engine.programs.set(hash, program);
  for (const hash of programs.keys()) engine.stored.add(hash);
  return engine;
}

/** What the tokens of a process begin with. */
export function tokenPrefix(name: string): string {
  return (hashText(name) >>> 0).toString(16).padStart(8, "0");
}

function registryOf(
  options: ProcessOptions,
  ask: <T>(call: Call) => Promise<T>,
  lacking: string | undefined,
): Registry {
  const { workflows, handler } = options;
  return {
    workflow: (name) => workflows.find((each) => each.name === name),
    byHash: (hash) => workflows.find((each) => each.hash === hash),
    handler: (ref) =>
      ref === lacking
        ? undefined
        : {
            ref,
            prepare: async (input) => async (context) => {
              const { runId, node, index, attempt, idempotencyKey: key } = context;
              return (await handler(input, context, () =>
                ask({ op: "effect", effect: { runId, node, index, attempt, key } }),
              )) as never;
            },
            parseOutput: async (output) => output as never,
          },
  };
}
