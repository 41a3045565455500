import type { Definition } from "../core/definition.ts";

/** The handler that stands for a whole child run. */
export const childHandlerRef = (name: string): string => `child:${name}@fake`;

/** What a faked child workflow is: one step that yields the child's output. A failure of the fake is a failure of the child. */
export function fakedChild(name: string): Definition {
  const input = { $: ["ref", "$input"] };
  const retry = { attempts: 1, firstDelayMs: 0, longestDelayMs: 0, factor: 1, jitter: 0 };
  return {
    format: 1,
    workflow: name,
    nodes: [{ kind: "step", name, handler: childHandlerRef(name), group: "default", input, retry, timeoutMs: 840_000 }],
    output: { $: ["ref", name] },
  };
}
