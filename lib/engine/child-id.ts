import { attemptName } from "../core/keys.ts";
import type { Active, Run } from "../core/run.ts";
import { digest } from "../digest.ts";

/** A child's run id is derived: starting it twice starts it once, and it fits whatever its parent's is called. */
export function childRunId(parent: Pick<Run, "runUid">, entry: Pick<Active, "node" | "index" | "attempt">): string {
  return `child-${digest(`${parent.runUid}/${attemptName(entry.node, entry.index, entry.attempt)}`)}`;
}
