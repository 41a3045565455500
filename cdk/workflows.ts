import { createRequire } from "node:module";
import { resolve } from "node:path";
import { type PlacedStep, stepsOf } from "../lib/authoring/groups.ts";
import { type AnyWorkflow, createRegistry } from "../lib/authoring/registry.ts";

/** The user's file, and what its steps ask of the functions. */
export interface LoadedWorkflows {
  /** Absolute. */
  readonly file: string;
  readonly steps: readonly PlacedStep[];
}

/** Loads the workflows as the functions will. Throws what would throw there: names that clash, a file without workflows. */
export function loadWorkflows(path: string): LoadedWorkflows {
  const file = resolve(path);
  const workflows = exportOf(file);
  createRegistry(workflows);
  return { file, steps: stepsOf(workflows) };
}

function exportOf(file: string): readonly AnyWorkflow[] {
  let exported: { readonly workflows?: unknown };
  try {
    exported = createRequire(import.meta.url)(file) as typeof exported;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The workflows could not be loaded from ${file}: ${reason}`, { cause });
  }
  const { workflows } = exported;
  if (Array.isArray(workflows) && workflows.length > 0 && workflows.every((each) => each?.definition !== undefined)) {
    return workflows as readonly AnyWorkflow[];
  }
  throw new Error(`${file} must export \`workflows\`, a list of at least one: export const workflows = [order];`);
}
