import type { Definition } from "../core/definition.ts";
import { Fault } from "../core/faults.ts";
import { canonicalText } from "../core/json.ts";
import { validate } from "../core/validate.ts";
import { digest } from "../digest.ts";
import { type Build, type BuildFault, createBuild } from "./build.ts";
import type { Work } from "./callee.ts";
import { building } from "./current-build.ts";
import type { Flow } from "./flow.ts";
import { createFlow } from "./flow-builder.ts";
import { lower } from "./lower.ts";
import { referenceOf } from "./reference.ts";
import type { Signal } from "./signal.ts";
import type { Workflow } from "./workflow.ts";

type Body = (flow: Flow, input: unknown) => unknown;

/** What a workflow function came to, and what it used. */
export interface Built {
  readonly definition: Definition;
  readonly hash: string;
  readonly steps: readonly Work[];
  readonly children: readonly Workflow<never, unknown>[];
  readonly signals: readonly Signal<never, unknown>[];
}

/**
 * Calls a workflow function twice and compares what it came to, so that a clock or a random number in it is found at once and
 * not in the run. A function with faults is called once more to find out where they are written.
 */
export function buildTwice(name: string, body: Body, options: { readonly hasOutput: boolean }): Built {
  const first = buildOnce(name, body, options, false);
  if (first.faults.length > 0) {
    const { faults } = buildOnce(name, body, options, true);
    throw refused(name, faults.length > 0 ? faults : first.faults);
  }
  const second = buildOnce(name, body, options, false);
  if (second.faults.length > 0) throw refused(name, second.faults);
  const { definition, build } = first;
  const difference = differenceOf(definition, second.definition);
  if (difference) throw refused(name, [{ message: difference, place: undefined }]);
  const { steps, children, signals } = build;
  return { definition, hash: digest(definition), steps: [...steps], children: [...children], signals: [...signals] };
}

function buildOnce(name: string, body: Body, options: { readonly hasOutput: boolean }, isDiagnosing: boolean) {
  const build = createBuild(name, isDiagnosing);
  const output = building(build, () => resultOf(build, body, options));
  for (const read of build.unusedReads()) {
    build.fault(
      `${read.label} is read and ends up nowhere: \`if\`, \`?:\`, \`!\` and \`===\` see a reference, not its value. ` +
        "Use it in an input, in `when`, in an operator or in the result, or remove it",
      read.place ?? "",
    );
  }
  build.checkRivals();
  const nodes = [...build.nodes, ...build.hidden];
  const definition: Definition = { format: 1, workflow: name, nodes, ...(output !== undefined && { output }) };
  for (const { path, message } of validate(definition)) {
    const [, position, rest] = /^nodes\[(\d+)\]\.?(.*)$/.exec(path) ?? [];
    const at = position === undefined ? path : [nodes[Number(position)]?.name, rest].filter(Boolean).join(": ");
    build.fault(`${at}: ${message}`, position === undefined ? "" : (build.placeOf(Number(position)) ?? ""));
  }
  return { build, definition, faults: build.faults };
}

function resultOf(build: Build, body: Body, options: { readonly hasOutput: boolean }): Definition["output"] {
  try {
    const result = body(createFlow(build, options), build.refer({ $: ["ref", "$input"] }, "input", { isUsed: true }));
    if (!referenceOf(result) && result instanceof Promise) {
      result.catch(() => {});
      build.fault("a workflow function must not be async: nothing runs while the graph is built", "");
      return undefined;
    }
    return result === undefined ? undefined : lower(result, "result", build);
  } catch (error) {
    // a misuse has been noted when it was thrown; anything else is the author's own
    if (!Fault.is(error, "bad-definition") || build.faults.length === 0) throw error;
    return undefined;
  }
}

function differenceOf(first: Definition, second: Definition): string | undefined {
  const cause = "called twice, the function came to two graphs: take the clock, random numbers and counters out of it";
  if (canonicalText(first) === canonicalText(second)) return undefined;
  const differs = first.nodes.find((node, at) => canonicalText(node) !== canonicalText(second.nodes[at] ?? null));
  return `${differs ? `"${differs.name}"` : "the result"} differs: ${cause}`;
}

function refused(name: string, faults: readonly BuildFault[]): Fault {
  const lines = faults.map(({ message, place }) => `- ${message}${place ? `\n    at ${place}` : ""}`);
  const message = `workflow "${name}" cannot be built:\n${lines.join("\n")}`;
  return new Fault("bad-definition", message, { faults });
}
