import type { Expr, ExternalNode, RepeatNode, StepBody } from "../core/definition.ts";
import { isFunction, misfit, outputOf, sync } from "./added.ts";
import type { Build } from "./build.ts";
import { bodyOf, callIn, isCallee, partOf } from "./callee.ts";
import { type Duration, durationMs } from "./duration.ts";
import type { External } from "./external.ts";
import { inside } from "./inside.ts";
import { lower } from "./lower.ts";
import { commonFields, type Given, nameOf, spanField } from "./node-options.ts";
import type { Ref } from "./ref.ts";
import { referenceOf } from "./reference.ts";

const hourMs = 3_600_000;

export function addWork(
  build: Build,
  kind: "step" | "workflow",
  callee: unknown,
  input: unknown,
  options: Given,
): Ref<unknown> {
  if (!isCallee(callee) || callee.kind !== kind)
    return misfit(build, kind === "step" ? "flow.run" : "flow.child", `a ${kind}`);
  const name = nameOf(build, options, callee.name);
  const common = commonFields(build, name, options, ["compensate"]);
  build.add({ ...common, ...bodyOf(build, callee, input, `${name}: input`) });
  addCompensation(build, name, options);
  return outputOf(build, name);
}

/** The workflow that is being built, as its own child: its hash is not known yet, and need not be. */
export function addSelf(build: Build, hasOutput: boolean, input: unknown, options: Given): Ref<unknown> {
  if (!hasOutput) return misfit(build, "flow.self", "the output's type from the workflow: declare its `output` schema");
  const name = nameOf(build, options, "self");
  build.add({
    kind: "child",
    ...commonFields(build, name, options, ["compensate"]),
    workflow: build.workflow,
    definition: "self",
    input: lower(input, `${name}: input`, build),
  });
  addCompensation(build, name, options);
  return outputOf(build, name);
}

export function addExternal(build: Build, external: unknown, input: unknown, options: Given): Ref<unknown> {
  const known = external as External<never, unknown> | undefined;
  if (referenceOf(external) || known?.kind !== "external")
    return misfit(build, "flow.external", "what external(...) made");
  build.use(known);
  const name = nameOf(build, options, known.name);
  const common = commonFields(build, name, options, ["compensate"]);
  const node: ExternalNode = {
    ...common,
    ...(known[inside].body as Omit<ExternalNode, "input" | "name">),
    input: lower(input, `${name}: input`, build),
  };
  build.add(node);
  addCompensation(build, name, options);
  return outputOf(build, name);
}

export function addRepeat(build: Build, step: unknown, input: unknown, options: Given): Ref<unknown> {
  if (!isCallee(step) || step.kind !== "step") return misfit(build, "flow.repeat", "a step");
  const name = nameOf(build, options, step.name);
  if (options["compensate"] !== undefined)
    build.fault(`${name}: a repeat is not undone: put the effect into a step before it, and compensate that`);
  const { isInline: _, isRepeatable: __, kind: ___, ...part } = partOf(build, step) as Omit<StepBody, "input">;
  const { every, longest, factor = 1, limit } = options;
  const { everyMs = 1 } = spanField(build, `${name}: every`, "everyMs", every ?? "none");
  const longestMs = Math.max(everyMs, hourMs);
  const node: RepeatNode = {
    kind: "repeat",
    ...commonFields(build, name, options, ["compensate", "until", "every", "factor", "longest", "limit"]),
    ...part,
    input: repeatedInput(build, name, input),
    until: conditionOf(build, name, options["until"]),
    limit: limit as number,
    everyMs,
    factor: factor as number,
    longestMs: durationMs(longest as Duration) ?? longestMs,
    ...spanField(build, `${name}: longest`, "longestMs", longest),
  };
  build.add(node);
  return outputOf(build, name);
}

function repeatedInput(build: Build, name: string, input: unknown): Expr {
  if (!isFunction(input)) return lower(input, `${name}: input`, build);
  return build.inScope("the input of a repeat", () => {
    const last = build.refer({ $: ["ref", "$last"] }, "last", { isUsed: true });
    return lower(sync(build, "the input of a repeat", input(last)), `${name}: input`, build);
  });
}

function conditionOf(build: Build, name: string, until: unknown): Expr {
  if (!isFunction(until)) {
    build.fault(`${name}: until is a function of the output: (output) => eq(output.state, "done")`);
    return { $: ["exists", { $: ["ref", name] }] };
  }
  return build.inScope("the condition of a repeat", () => {
    const output = build.refer({ $: ["ref", name] }, name, { isUsed: true, mayReadRival: true });
    return lower(sync(build, "the condition of a repeat", until(output)), `${name}: until`, build);
  });
}

/** A compensation is a hidden node, named after the one it undoes. */
export function addCompensation(build: Build, name: string, { compensate }: Given): void {
  if (compensate === undefined) return;
  const label = `the compensation of "${name}"`;
  if (!isFunction(compensate)) {
    build.fault(`${label} is a function of the output: (output) => call(step, input)`);
    return;
  }
  build.inScope(label, () => {
    const output = build.refer({ $: ["ref", name] }, name, { isUsed: true, mayReadRival: true });
    const made = callIn(sync(build, label, compensate(output)));
    if (made?.callee.kind !== "step") build.fault(`${label} must return call(step, input)`);
    else {
      const body = bodyOf(build, made.callee, made.input, `${label}: input`) as StepBody;
      build.addHidden({ ...body, name: `${name}.undo`, compensates: name });
    }
  });
}
