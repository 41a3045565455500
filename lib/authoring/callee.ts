import type { ChildBody, StepBody } from "../core/definition.ts";
import type { Build } from "./build.ts";
import type { Call } from "./call.ts";
import type { External } from "./external.ts";
import { inside } from "./inside.ts";
import { lower } from "./lower.ts";
import type { Step } from "./step.ts";
import type { Workflow } from "./workflow.ts";

/** What a worker carries out, whatever its types. */
export type Work = Step<never, unknown> | External<never, unknown>;

/** What a node calls: a step or a workflow, whatever its types. */
export type Callee = Step<never, unknown> | Workflow<never, unknown>;

/** Tells steps and workflows from everything else that plain JavaScript may pass. */
export const isCallee = (value: unknown): value is Callee => {
  if (typeof value !== "object" || value === null) return false;
  const { kind } = value as { readonly kind?: unknown };
  return (kind === "step" || kind === "workflow") && inside in value;
};

/** What is in a `call(...)`, or `undefined` for anything else. */
export function callIn(value: unknown): { readonly callee: Callee; readonly input: unknown } | undefined {
  if (typeof value !== "object" || value === null || !(inside in value)) return undefined;
  const { callee, input } = (value as Call<unknown>)[inside];
  return isCallee(callee) ? { callee, input } : undefined;
}

/** A call as the part of a node that a worker or a child run carries out. */
export function bodyOf(build: Build, callee: Callee, input: unknown, path: string): StepBody | ChildBody {
  return { ...partOf(build, callee), input: lower(input, path, build) } as StepBody | ChildBody;
}

/** What a step or a workflow brings along, wherever it is called. */
export function partOf(build: Build, callee: Callee): Omit<StepBody, "input"> | Omit<ChildBody, "input"> {
  build.use(callee);
  if (callee.kind === "step") return callee[inside].body;
  return { kind: "child", workflow: callee.name, definition: callee.hash };
}
