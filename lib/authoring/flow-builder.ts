import type { Build } from "./build.ts";
import type { Flow } from "./flow.ts";
import { addFirst } from "./flow-first.ts";
import { addMap } from "./flow-map.ts";
import { addChoose, addGiven, addNames, addSeries, addWhen } from "./flow-scopes.ts";
import { addGate, addSignal, addSleep } from "./flow-waits.ts";
import { addExternal, addRepeat, addSelf, addWork } from "./flow-work.ts";
import type { Given } from "./node-options.ts";

/** The `flow` of a workflow function: checks what it is given, and adds nodes to the build. */
export function createFlow(build: Build, { hasOutput }: { readonly hasOutput: boolean }): Flow {
  const flow = {
    run: (step: unknown, input: unknown, options: Given = {}) => addWork(build, "step", step, input, options),
    child: (workflow: unknown, input: unknown, options: Given = {}) =>
      addWork(build, "workflow", workflow, input, options),
    self: (input: unknown, options: Given = {}) => addSelf(build, hasOutput, input, options),
    map: (items: unknown, body: unknown, options: Given = {}) => addMap(build, items, body, options),
    repeat: (step: unknown, input: unknown, options: Given = {}) => addRepeat(build, step, input, options),
    external: (external: unknown, input: unknown, options: Given = {}) => addExternal(build, external, input, options),
    signal: (signal: unknown, options: Given = {}) => addSignal(build, signal, options),
    gate: (name: unknown, options: Given = {}) => addGate(build, name, options),
    sleep: (name: unknown, end: unknown, options: Given = {}) => addSleep(build, name, end, options),
    first: (rivals: unknown, options: Given = {}) => addFirst(build, rivals, options),
    when: (condition: unknown, body: unknown) => addWhen(build, flow, condition, body),
    given: (value: unknown, body: unknown) => addGiven(build, flow, value, body),
    choose: (value: unknown, key: unknown, cases: unknown, otherwise: unknown) =>
      addChoose(build, flow, value, key, cases, otherwise),
    scope: (name: unknown, body: unknown) => addNames(build, flow, name, body),
    series: (body: unknown) => addSeries(build, flow, body),
  };
  return flow as unknown as Flow;
}
