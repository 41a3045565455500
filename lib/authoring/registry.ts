import type { Definitions } from "../core/contract.ts";
import { Fault } from "../core/faults.ts";
import type { Handler, RegisteredWorkflow, Registry } from "../core/registry.ts";
import type { Work } from "./callee.ts";
import { assertDefinitions } from "./definitions.ts";
import { createHandler } from "./handler.ts";
import { inside } from "./inside.ts";
import { type Kept, signalsOf, worksOf } from "./keep.ts";
import { parseJson } from "./parse.ts";
import type { Schema } from "./schema.ts";
import type { Signal } from "./signal.ts";
import type { Workflow } from "./workflow.ts";

/** A workflow of any types. */
export type AnyWorkflow = Workflow<never, unknown>;

/** What a registry has beside its workflows. */
export interface RegistryOptions {
  /**
   * Steps that no workflow calls any more and signals that none waits for, for runs in flight that still do: old versions, and what
   * was renamed.
   */
  readonly keep?: readonly Kept[] | undefined;
  /** What was written when this code was built. */
  readonly definitions?: Definitions | undefined;
}

/**
 * Everything that a process can run: these workflows, their children, and the steps of all of them. Throws a `Fault`
 * `bad-definition` that lists every name that stands for two different things. With the `definitions` that were written when this
 * code was built, runs start by those graphs, whatever a process comes to by itself (say, by another environment).
 */
export function createRegistry(workflows: readonly AnyWorkflow[], options: RegistryOptions = {}): Registry {
  const clashes = new Set<string>();
  const byName = new Map<string, AnyWorkflow>();
  const steps = new Map<string, Work>();
  const addStep = (step: Work) => {
    const { handler } = step[inside].body;
    const other = steps.get(handler) ?? step;
    if (other !== step) clashes.add(`two steps are "${handler}": rename one, or raise its version`);
    steps.set(handler, step);
  };
  const add = (workflow: AnyWorkflow) => {
    const known = byName.get(workflow.name);
    if (known === workflow) return;
    if (known && known.hash !== workflow.hash) clashes.add(`two workflows are called "${workflow.name}": rename one`);
    byName.set(workflow.name, workflow);
    for (const step of workflow[inside].steps) addStep(step);
    for (const child of workflow[inside].children) add(child);
  };
  for (const workflow of workflows) add(workflow);
  for (const step of worksOf(options.keep)) addStep(step);
  const keptSignals = new Map<string, Signal<never, unknown>>();
  for (const signal of signalsOf(options.keep)) {
    const other = keptSignals.get(signal.name) ?? signal;
    if (other !== signal) clashes.add(`two signals that are kept are "${signal.name}": keep one`);
    keptSignals.set(signal.name, signal);
  }
  if (clashes.size > 0) throw new Fault("bad-definition", [...clashes].join("; "));

  const { definitions } = options;
  if (definitions) assertDefinitions(definitions);
  const built = [...byName.values()].map(register);
  const started = built.map((workflow) => pinned(workflow, definitions));
  const byHash = new Map([...built, ...started].map((workflow) => [workflow.hash, workflow]));
  const names = new Map(started.map((workflow) => [workflow.name, workflow]));
  const handlers = new Map<string, Handler>([...steps].map(([ref, step]) => [ref, createHandler(step)]));
  return {
    workflow: (name) => names.get(name),
    byHash: (hash) => byHash.get(hash),
    handler: (ref) => handlers.get(ref),
    keptSignals: new Map(
      [...keptSignals.values()].map((signal) => [signal.name, payloadParser(signal[inside].schema)]),
    ),
    groups: new Set([...steps.values()].map((step) => step[inside].body.group)),
  };
}

/**
 * The registry of a file that exports `workflows`; also `keep`, if there are runs in flight that need steps or signals which no
 * workflow has any more, and `definitions`, what `definitions.json` holds, if every process shall start by the same graphs.
 */
export function registryOf(app: App): Registry {
  return createRegistry(app.workflows, { keep: app.keep, definitions: app.definitions as Definitions | undefined });
}

/** What a file of workflows may export. */
export interface App {
  readonly workflows: readonly AnyWorkflow[];
  readonly keep?: readonly Kept[];
  readonly definitions?: unknown;
}

/** The workflow as it was built, instead of as this process built it. */
function pinned(workflow: RegisteredWorkflow, definitions: Definitions | undefined): RegisteredWorkflow {
  const wanted = definitions?.workflows[workflow.name];
  if (!wanted || wanted.hash === workflow.hash) return workflow;
  return { ...workflow, ...wanted, builtHash: workflow.hash };
}

function register({ name, definition, hash, [inside]: { input, signals } }: AnyWorkflow): RegisteredWorkflow {
  const known = new Map(signals.map((signal) => [signal.name, signal[inside].schema]));
  return {
    name,
    definition,
    hash,
    parseInput: (raw) => parseJson(input, raw, "input", "bad-input"),
    async parseSignal(signal, raw) {
      const schema = known.get(signal);
      if (schema) return await payloadParser(schema)(raw);
      const names = known.size > 0 ? `it waits for ${[...known.keys()].join(", ")}` : "it waits for none";
      throw new Fault("bad-input", `workflow "${name}" has no signal "${signal}": ${names}`);
    },
  };
}

const payloadParser = (schema: Schema) => (raw: unknown) => parseJson(schema, raw, "payload", "bad-input");
