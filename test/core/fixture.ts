import type { Definition, Expr, NodeDef, StepNode } from "../../lib/core/definition.ts";
import { factsOf, outputOf } from "../../lib/core/facts.ts";
import { Fault } from "../../lib/core/faults.ts";
import { type Attempt, type Command, type Inputs, noInputs, type Outcome, type Signal } from "../../lib/core/inputs.ts";
import type { Json } from "../../lib/core/json.ts";
import { attemptName } from "../../lib/core/keys.ts";
import { defaultLimits, type Limits } from "../../lib/core/limits.ts";
import { newRun } from "../../lib/core/new-run.ts";
import { owed } from "../../lib/core/owed.ts";
import { type Program, programOf } from "../../lib/core/program.ts";
import { type Active, inputPosition, nodeState, type Run } from "../../lib/core/run.ts";
import { type Ticked, tick } from "../../lib/core/tick.ts";
import { validate } from "../../lib/core/validate.ts";
import { digest } from "../../lib/digest.ts";

export const t0 = 1_800_000_000_000;

const retry = { attempts: 3, firstDelayMs: 1000, longestDelayMs: 60_000, factor: 2, jitter: 0 };

export const ref = (source: string, ...path: string[]): Expr => ({ $: ["ref", source, ...path] });

/** A step that reads the nodes named in `reads`. */
export function stepNode(name: string, reads: readonly string[] = [], more: Partial<StepNode> = {}): StepNode {
  const input = Object.fromEntries(reads.map((source) => [source.replace("$", ""), ref(source)]));
  return { kind: "step", name, handler: "work@1", group: "default", input, retry, timeoutMs: 30_000, ...more };
}

export const undo = (target: string, more: Partial<StepNode> = {}): StepNode =>
  stepNode(`${target}.undo`, [target], { compensates: target, ...more });

export const stepBody = (more: Partial<StepNode> = {}) => {
  const { name: _, ...body } = stepNode("x", [], { input: { item: ref("$item") }, ...more });
  return body;
};

/** A program of raw nodes; what `validate` refuses is no test. */
export function programWith(nodes: readonly NodeDef[], output?: Expr): Program {
  const definition: Definition = { format: 1, workflow: "flow", nodes, ...(output !== undefined && { output }) };
  const faults = validate(definition);
  if (faults.length > 0) throw new Fault("bad-definition", JSON.stringify(faults));
  return programOf(definition, digest(definition as unknown as Json));
}

export function freshRun(program: Program, more: Partial<Run> = {}): Run {
  const given = {
    tenant: "default",
    runId: "r1",
    runUid: "0123456789abcdef",
    inputHash: digest(null),
    tier: "standard",
    createdAtMs: t0,
    deadlineAtMs: t0 + defaultLimits.deadlineMs,
    depth: 0,
    hasParent: false,
  } as const;
  return { ...newRun(program, given), ...more };
}

/** A run driven tick by tick without any store: what ends are asked for is answered by `records`, as the store would. */
export interface Drive {
  readonly program: Program;
  readonly run: Run;
  nowMs: number;
  /** The store's attempt records. */
  readonly records: Map<string, Attempt>;
  /** All ends that ticks asked for. */
  readonly closed: string[];
  readonly ticks: number;
  readonly notes: { undelivered: number; uncompensated: number };
  tick(more?: Partial<Inputs>): Run;
  /** Claims an attempt and ends it well; its facts are computed as a worker would. */
  ok(name: string, output?: Json, index?: number): Run;
  fail(
    name: string,
    more?: { message?: string; code?: "handler-failed" | "fatal"; afterMs?: number },
    index?: number,
  ): Run;
  end(name: string, outcome: Outcome, index?: number): Run;
  claim(name: string, leaseMs?: number, index?: number): void;
  signal(name: string, payload?: Json): Run;
  command(kind: Command["kind"]): Run;
  decide(name: string, approved: boolean): Run;
  at(ms: number): Drive;
  /** Everything that is in flight is looked at, as after a watchdog's wake-up. */
  look(): Run;
  entry(name: string, index?: number): Active;
  has(name: string): boolean;
  stateOf(name: string): string;
  names(): readonly string[];
  owed(): readonly string[];
}

export function drive(
  program: Program,
  options: { input?: Json; limits?: Partial<Limits>; run?: Partial<Run>; isFrozen?: boolean } = {},
): Drive {
  const limits = { ...defaultLimits, ...options.limits };
  const input = options.input ?? null;
  let run = freshRun(program, { facts: factsOf(program, inputPosition, input) as Run["facts"], ...options.run });
  const records = new Map<string, Attempt>();
  const signals: Signal[] = [];
  const commands: Command[] = [];
  const closed: string[] = [];
  const notes = { undelivered: 0, uncompensated: 0 };
  let ticks = 0;
  const position = (name: string) => {
    const found = program.positions.get(name);
    if (found === undefined) throw new RangeError(`no node ${name}`);
    return found;
  };
  const find = (name: string, index = 0) =>
    run.active.find((each) => each.node === position(name) && each.index === index);
  const self: Drive = {
    program,
    get run() {
      return run;
    },
    get ticks() {
      return ticks;
    },
    nowMs: t0,
    records,
    closed,
    notes,
    tick(more = {}) {
      const attempts = new Map<string, Attempt | undefined>(more.attempts ?? []);
      for (let round = 0; round < 100; round++) {
        const mail = {
          signals: signals.filter((s) => s.seq >= run.mail.signals),
          commands: [...commands],
          isFull: false,
        };
        const inputs: Inputs = deepFreeze({ ...noInputs, mail, ...more, attempts: new Map(attempts) });
        const ticked = twice(deepFreeze(run), program, inputs, self.nowMs, limits);
        if (ticked.kind === "next") {
          for (const key of Object.keys(notes) as (keyof typeof notes)[]) notes[key] += ticked.notes[key];
          if (ticked.run !== run) {
            ticks += 1;
            run = { ...ticked.run, recordVersion: run.recordVersion + 1 };
          }
          return run;
        }
        for (const ending of ticked.endings) {
          const name = attemptName(ending.node, ending.index, ending.attempt);
          closed.push(`${ending.kind} ${program.nodes[ending.node]?.def.name}/${ending.index}/${ending.attempt}`);
          const there = records.get(name);
          const isMet =
            ending.kind === "lost"
              ? there?.token === ending.token && there.leaseUntilMs === ending.leaseUntilMs && !there.outcome
              : !there;
          const outcome: Outcome =
            ending.kind === "lost" || ending.kind === "inline-lost"
              ? { kind: "lost", isUnclaimed: false }
              : { kind: ending.kind };
          if (isMet) records.set(name, { ...there, ...ending, outcome } as Attempt);
          attempts.set(name, records.get(name));
        }
      }
      throw new Error("the tick asks for ends for ever");
    },
    end(name, outcome, index = 0) {
      const entry = self.entry(name, index);
      const id = attemptName(entry.node, entry.index, entry.attempt);
      records.set(id, { ...entry, token: "t", leaseUntilMs: self.nowMs + 1, ...records.get(id), outcome } as Attempt);
      return self.tick({ attempts: new Map([[id, records.get(id)]]) });
    },
    ok(name, output = null, index = 0) {
      const node = program.nodes[position(name)]!;
      const facts = node.def.kind === "map" ? new Map() : factsOf(program, node.position, outputOf(node.def, output));
      return self.end(name, { kind: "ok", facts }, index);
    },
    fail(name, { message = "boom", code = "handler-failed", afterMs } = {}, index = 0) {
      const fault = { code, message } as const;
      return self.end(name, { kind: "failed", fault, ...(afterMs !== undefined && { afterMs }) }, index);
    },
    claim(name, leaseMs = 35_000, index = 0) {
      const { node, attempt } = self.entry(name, index);
      const id = attemptName(node, index, attempt);
      records.set(id, { node, index, attempt, token: `claim-${id}`, leaseUntilMs: self.nowMs + leaseMs });
    },
    signal(name, payload = null) {
      signals.push({ seq: signals.length, name, payload: { kind: "value", value: payload }, atMs: self.nowMs });
      return self.tick();
    },
    command(kind) {
      commands.push({ seq: commands.length, kind, by: "ann", reason: "" });
      return self.look();
    },
    decide(name, approved) {
      return self.end(name, { kind: "decided", decision: { approved, by: "ann" } });
    },
    at(ms) {
      self.nowMs = t0 + ms;
      return self;
    },
    look() {
      const ids = run.active.map((each) => attemptName(each.node, each.index, each.attempt));
      return self.tick({ attempts: new Map(ids.map((id) => [id, records.get(id)])) });
    },
    entry(name, index = 0) {
      const found = find(name, index);
      if (!found) throw new RangeError(`${name}/${index} is not in flight`);
      return found;
    },
    has: (name) => run.active.some((each) => each.node === position(name)),
    stateOf: (name) => nodeState(run.nodes, position(name)),
    names: () => run.active.map((each) => program.nodes[each.node]!.def.name),
    owed: () => owed(run, program, self.nowMs).map((each) => each.key),
  };
  self.tick();
  return self;
}

/** Pure means: the same answer twice, and nothing that it was given has changed (it is frozen). */
function twice(run: Run, program: Program, inputs: Inputs, nowMs: number, limits: Limits): Ticked {
  const bytes = run.nodes.slice();
  const first = tick(run, program, inputs, nowMs, limits);
  const second = tick(run, program, inputs, nowMs, limits);
  if (!isSame(first, second)) throw new Error("two ticks of one row differ");
  if (!isSame(bytes, run.nodes)) throw new Error("the tick wrote on the row that it was given");
  return first;
}

function isSame(a: unknown, b: unknown): boolean {
  return text(a) === text(b);
}

const text = (value: unknown) =>
  JSON.stringify(value, (_, field) => {
    if (field instanceof Map) return [...field];
    if (field instanceof Set) return [...field];
    return field instanceof Uint8Array ? [...field] : field;
  });

/** Freezes plain objects and arrays all the way down; maps and sets lose their writing methods. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array || Object.isFrozen(value))
    return value;
  if (value instanceof Map || value instanceof Set) {
    if (Object.hasOwn(value, "clear")) return value;
    for (const each of value.values()) deepFreeze(each);
    for (const name of ["set", "add", "delete", "clear"]) {
      if (!(name in value)) continue;
      Object.defineProperty(value, name, {
        value: () => {
          throw new Error("a frozen map was written on");
        },
      });
    }
    return value;
  }
  for (const field of Object.values(value)) deepFreeze(field);
  return Object.freeze(value);
}
