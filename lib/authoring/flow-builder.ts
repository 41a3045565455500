import type { ChildBody, MapNode, NodeDef, StepBody } from "../core/definition.ts";
import { fixed } from "../core/limits.ts";
import type { Build, Scope } from "./build.ts";
import { bodyOf, callIn, isCallee, partOf } from "./callee.ts";
import type { Flow } from "./flow.ts";
import { lower } from "./lower.ts";
import { commonFields, type Given, nameOf, spanField } from "./node-options.ts";
import type { Ref } from "./ref.ts";
import { referenceOf } from "./reference.ts";
import type { Signal } from "./signal.ts";

const concurrencyDefault = 8;

/** The `flow` of a workflow function: checks what it is given, and adds nodes to the build. */
export function createFlow(build: Build): Flow {
  const flow = {
    run: (step: unknown, input: unknown, options: Given = {}) => addWork(build, "step", step, input, options),
    child: (workflow: unknown, input: unknown, options: Given = {}) =>
      addWork(build, "workflow", workflow, input, options),
    map: (items: unknown, body: unknown, options: Given = {}) => addMap(build, items, body, options),
    signal: (signal: unknown, options: Given = {}) => addSignal(build, signal, options),
    gate: (name: unknown, options: Given = {}) => addGate(build, name, options),
    sleep: (name: unknown, duration: unknown, options: Given = {}) => addSleep(build, name, duration, options),
    series: (body: (flow: Flow) => unknown) => build.inSeries(() => sync(build, "a series", body(flow as never))),
  };
  return flow as unknown as Flow;
}

function addWork(
  build: Build,
  kind: "step" | "workflow",
  callee: unknown,
  input: unknown,
  options: Given,
): Ref<unknown> {
  if (!isCallee(callee) || callee.kind !== kind)
    return misfit(build, kind === "step" ? "flow.run" : "flow.child", kind);
  const name = nameOf(build, options, callee.name);
  const common = commonFields(build, name, options, ["compensate"]);
  build.add({ ...common, ...bodyOf(build, callee, input, `${name}: input`) });
  addCompensation(build, name, options);
  return outputOf(build, name);
}

function addMap(build: Build, items: unknown, body: unknown, options: Given): Ref<unknown> {
  const called = isCallee(body) ? undefined : callOfItem(build, body);
  const callee = isCallee(body) ? body : called?.callee;
  if (!callee) return misfit(build, "flow.map", "step, a workflow, or a function that returns call(step, input)");
  const name = nameOf(build, options, callee.name);
  const input = called ? called.input : { $: ["ref", "$item"] };
  const { isInline: _, isRepeatable: __, ...part } = partOf(build, callee) as Omit<StepBody, "input">;
  build.add({
    kind: "map",
    ...commonFields(build, name, options, ["compensate", "concurrency", "tolerate"]),
    items: lower(items, `${name}: items`, build),
    body: { ...part, input } as StepBody | ChildBody,
    concurrency: (options["concurrency"] ?? concurrencyDefault) as number,
    ...toleranceOf(build, name, options["tolerate"]),
  });
  addCompensation(build, name, options);
  return outputOf(build, name);
}

/** Calls the function of a map once, with references to the item and its index, and lowers the input it makes of them. */
function callOfItem(build: Build, body: unknown) {
  if (typeof body !== "function" || referenceOf(body)) return undefined;
  return build.inScope("the function of a map", (scope) => {
    const item = build.refer({ $: ["ref", "$item"] }, "item", scope, true);
    const index = build.refer({ $: ["ref", "$index"] }, "index", scope, true);
    const made = callIn(sync(build, "the function of a map", body(item, index)));
    return made && { callee: made.callee, input: lower(made.input, `${made.callee.name}: input`, build) };
  });
}

function addSignal(build: Build, signal: unknown, options: Given): Ref<unknown> {
  const known = signal as Signal<never, unknown> | undefined;
  if (referenceOf(signal) || known?.kind !== "signal") return misfit(build, "flow.signal", "signal");
  const namesake = [...build.signals].find((other) => other !== known && other.name === known.name);
  if (namesake) build.fault(`two signals are called "${known.name}": rename one, or use the same twice`);
  build.use(known);
  const name = nameOf(build, options, known.name);
  const { timeout, onTimeout } = options;
  return added(build, {
    kind: "signal",
    ...commonFields(build, name, options, ["timeout", "onTimeout"]),
    signal: known.name,
    ...spanField(build, `${name}: timeout`, "timeoutMs", timeout),
    ...(onTimeout !== undefined && { onTimeout: onTimeout as "continue" }),
  });
}

function addGate(build: Build, given: unknown, options: Given): Ref<unknown> {
  const name = nameOf(build, { name: given }, "gate");
  const { about, timeout, onTimeout, onReject } = options;
  return added(build, {
    kind: "gate",
    ...commonFields(build, name, options, ["about", "timeout", "onTimeout", "onReject"]),
    ...(about !== undefined && { about: lower(about, `${name}: about`, build) }),
    ...spanField(build, `${name}: timeout`, "timeoutMs", timeout),
    ...(onTimeout !== undefined && { onTimeout: onTimeout as "approve" }),
    ...(onReject !== undefined && onReject !== "fail" && { onReject: onReject as "continue" }),
  });
}

function addSleep(build: Build, given: unknown, duration: unknown, options: Given): Ref<unknown> {
  const name = nameOf(build, { name: given }, "sleep");
  const { forMs = 1 } = spanField(build, `${name}: duration`, "forMs", duration ?? "none");
  return added(build, { kind: "sleep", ...commonFields(build, name, options, []), forMs });
}

/** A compensation is a hidden node, named after the one it undoes. */
function addCompensation(build: Build, name: string, { compensate }: Given): void {
  if (compensate === undefined) return;
  const label = `the compensation of "${name}"`;
  if (typeof compensate !== "function" || referenceOf(compensate)) {
    build.fault(`${label} is a function of the output: (output) => call(step, input)`);
    return;
  }
  build.inScope(label, (scope) => {
    const made = callIn(sync(build, label, compensate(build.refer({ $: ["ref", name] }, name, scope, true))));
    if (made?.callee.kind !== "step") build.fault(`${label} must return call(step, input)`);
    else {
      const body = bodyOf(build, made.callee, made.input, `${label}: input`) as StepBody;
      build.addHidden({ ...body, name: `${name}.undo`, compensates: name });
    }
  });
}

function added(build: Build, node: NodeDef): Ref<unknown> {
  build.add(node);
  return outputOf(build, node.name);
}

function outputOf(build: Build, name: string): Ref<unknown> {
  let root: Scope = build.scope;
  while (root.parent) root = root.parent;
  return build.refer({ $: ["ref", name] }, name, root, true);
}

function toleranceOf(build: Build, name: string, tolerate: unknown): Pick<MapNode, "tolerate"> {
  if (tolerate === undefined) return {};
  if (typeof tolerate === "number") return { tolerate: { count: tolerate } };
  const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(String(tolerate)) ?? [];
  if (percent !== undefined) return { tolerate: { share: Number(percent) / 100 } };
  build.fault(`${name}: tolerate is a count from 0 to ${fixed.mapItemsMax}, or a share such as "10%"`);
  return {};
}

/** Nothing waits while the graph is built: an async function would add its nodes too late. */
function sync(build: Build, what: string, result: unknown): unknown {
  if (!(result instanceof Promise)) return result;
  result.catch(() => {});
  build.fault(`${what} must not be async: nothing runs while the graph is built, so remove async and await`);
  return undefined;
}

function misfit(build: Build, method: string, wanted: string): Ref<unknown> {
  build.fault(`${method} takes a ${wanted}`);
  return build.refer({ $: ["quote", null] }, method, build.scope, true);
}
