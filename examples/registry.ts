import { type AnyWorkflow, createRegistry, type Registry } from "../lib/index.ts";
import { document, documents } from "./documents/workflow.ts";
import { film } from "./film/workflow.ts";
import { onboarding } from "./onboarding/workflow.ts";
import { order } from "./order/workflow.ts";

/** The workflows of the examples. */
export const workflows: readonly AnyWorkflow[] = [order, documents, document, onboarding, film];

/** All that a process needs to run them. */
export const registry: Registry = createRegistry(workflows);
