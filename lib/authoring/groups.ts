import { stepBodyOf } from "../core/program.ts";
import { inside } from "./inside.ts";
import type { AnyWorkflow } from "./registry.ts";

/** A step where a workflow uses it, as far as it concerns the function that will run it. */
export interface PlacedStep {
  readonly workflow: string;
  readonly node: string;
  readonly group: string;
  readonly timeoutMs: number;
}

/** Every step of these workflows and of their children, the ones that undo others included. */
export function stepsOf(workflows: readonly AnyWorkflow[]): readonly PlacedStep[] {
  const seen = new Set<AnyWorkflow>();
  const add = (workflow: AnyWorkflow): void => {
    if (seen.has(workflow)) return;
    seen.add(workflow);
    for (const child of workflow[inside].children) add(child);
  };
  for (const workflow of workflows) add(workflow);
  return [...seen].flatMap(({ name, definition }) =>
    definition.nodes.flatMap((def) => {
      const body = stepBodyOf(def);
      return body ? [{ workflow: name, node: def.name, group: body.group, timeoutMs: body.timeoutMs }] : [];
    }),
  );
}

/** Every worker group that they name; `default` if they name none. */
export function groupsOf(workflows: readonly AnyWorkflow[]): readonly string[] {
  const named = new Set(stepsOf(workflows).map(({ group }) => group));
  return named.size > 0 ? [...named] : ["default"];
}
