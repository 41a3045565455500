import type { RepeatNode } from "../definition.ts";
import { type Draft, dropActive } from "../draft.ts";
import { decide } from "../facts.ts";
import type { Facts } from "../inputs.ts";
import type { ProgramNode } from "../program.ts";
import type { Active } from "../run.ts";
import { nodeDone, nodeFailed } from "./settle.ts";

/** Pause before iteration `iteration` (from 1): the first is `everyMs`, each later one grows by the factor, up to the longest. */
function pauseMs(def: RepeatNode, iteration: number): number {
  const grown = def.everyMs * def.factor ** (iteration - 1);
  return Math.round(Math.min(def.longestMs, Number.isFinite(grown) ? grown : def.longestMs));
}

/**
 * One iteration ended well: the node is done if its condition holds over that output, and goes on otherwise. Gives the pause
 * before the next iteration, or nothing if there is none.
 */
export function iterationDone(
  draft: Draft,
  node: ProgramNode,
  def: RepeatNode,
  entry: Active,
  facts: Facts,
): number | undefined {
  if (!node.until) throw new RangeError(`${def.name} has no condition`);
  const answer = decide(node.until, facts);
  if (answer.ok && answer.value === false && entry.index + 1 < def.limit) return pauseMs(def, entry.index + 1);
  dropActive(draft, entry);
  if (!answer.ok) nodeFailed(draft, node, answer.fault);
  else if (answer.value === true) nodeDone(draft, node, facts);
  else if (answer.value === false)
    nodeFailed(draft, node, {
      code: "repeat-limit",
      message: `the condition did not hold after ${def.limit} iterations`,
    });
  else nodeFailed(draft, node, { code: "not-comparable", message: "the condition is neither true nor false" });
  return undefined;
}
