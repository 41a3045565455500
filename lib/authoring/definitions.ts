import type { Contract, Definitions } from "../core/contract.ts";
import { Fault } from "../core/faults.ts";
import { digest } from "../digest.ts";
import { contractOf } from "./contract.ts";
import { inside } from "./inside.ts";
import { signalsOf, worksOf } from "./keep.ts";
import type { AnyWorkflow, RegistryOptions } from "./registry.ts";

/**
 * What a build has: the definitions of its workflows and of their children, and what is known of the schemas of their steps. Keep it
 * as `definitions.json`: with it every process starts runs by the same graphs, and the next build can be compared with this one.
 */
export function definitionsOf(
  workflows: readonly AnyWorkflow[],
  options: Pick<RegistryOptions, "keep"> = {},
): Definitions {
  const family = new Set(workflows);
  for (const each of family) for (const child of each[inside].children) family.add(child);
  const byName = [...family].sort((a, b) => (a.name < b.name ? -1 : 1));
  const steps = new Map<string, Contract>();
  for (const each of byName) {
    for (const work of each[inside].steps) steps.set(work[inside].body.handler, contractOf(work));
  }
  for (const work of worksOf(options.keep)) steps.set(work[inside].body.handler, contractOf(work));
  const kept = signalsOf(options.keep)
    .map(({ name }) => name)
    .sort();
  return {
    format: 1,
    workflows: Object.fromEntries(byName.map(({ name, hash, definition }) => [name, { hash, definition }])),
    steps: Object.fromEntries([...steps].sort(([a], [b]) => (a < b ? -1 : 1))),
    ...(kept.length > 0 && { signals: kept }),
  };
}

/** Refuses a file that was edited by hand, or that a newer version wrote. */
export function assertDefinitions(given: Definitions): void {
  if (given.format !== 1) throw new Fault("newer-format", `definitions of format ${given.format} need a newer version`);
  for (const [name, { hash, definition }] of Object.entries(given.workflows)) {
    if (digest(definition) !== hash)
      throw new Fault(
        "bad-definition",
        `the definition of "${name}" is not the one of its hash: write definitions.json anew`,
      );
  }
}
