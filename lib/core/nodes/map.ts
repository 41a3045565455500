import type { MapNode } from "../definition.ts";
import { type Draft, dropFrame, frameOf, hasRoom, putFrame, stateOf, transition } from "../draft.ts";
import { factValueOf, mapFacts, pagesOf } from "../facts.ts";
import { Fault, type FaultData } from "../faults.ts";
import { fixed } from "../limits.ts";
import type { ProgramNode } from "../program.ts";
import type { MapFrame } from "../run.ts";
import { openChild } from "./child.ts";
import { nodeDone, nodeFailed } from "./settle.ts";
import { openStep } from "./step.ts";

/** Opens a map: from here on the row keeps counts and the items in flight, whatever the number of items. */
export function openMap(draft: Draft, node: ProgramNode, def: MapNode): void {
  const counted = countOf(draft, node);
  if ("fault" in counted) return nodeFailed(draft, node, counted.fault);
  const { total } = counted;
  if (total > fixed.mapItemsMax) {
    return nodeFailed(draft, node, {
      code: "bad-input",
      message: `${total} items; a map takes at most ${fixed.mapItemsMax}`,
    });
  }
  const pages = node.items?.kind === "paged" ? pagesOf(draft.facts.get(node.items.pages)) : { perPage: 0, token: "" };
  putFrame(draft, {
    node: node.position,
    total,
    next: 0,
    done: 0,
    failed: 0,
    perPage: pages.perPage,
    pagesToken: pages.token,
  });
  transition(draft);
  advanceMap(draft, node, def);
}

function countOf(draft: Draft, node: ProgramNode): { readonly total: number } | { readonly fault: FaultData } {
  const { items } = node;
  if (!items) throw new RangeError(`${node.def.name} is no map`);
  if (items.kind === "constant") return { total: items.count };
  const fact = draft.facts.get(items.size);
  if (!fact) throw new Fault("bad-row", `the size of ${node.def.name}'s items is not on the row`);
  try {
    const total = factValueOf(fact);
    if (typeof total === "number") return { total };
    return { fault: { code: "missing-value", message: "there is no list of items" } };
  } catch (error) {
    if (Fault.is(error)) return { fault: error.data };
    throw error;
  }
}

/** Opens items while there is room, and ends the map when nothing is left or too much has failed. */
export function advanceMap(draft: Draft, node: ProgramNode, def: MapNode): void {
  for (;;) {
    const frame = frameOf(draft, node.position);
    if (!frame || stateOf(draft, node.position) !== "pending") return;
    const inFlight = draft.active.filter((entry) => entry.node === node.position).length;
    if (frame.failed > toleratedOf(def, frame.total)) return mapFailed(draft, node, frame);
    if (frame.next === frame.total && inFlight === 0) return mapDone(draft, node, frame);
    if (frame.next === frame.total || inFlight >= def.concurrency || !hasRoom(draft) || draft.run.ending) return;
    putFrame(draft, { ...frame, next: frame.next + 1 });
    if (def.body.kind === "step") openStep(draft, node, frame.next);
    else openChild(draft, node, frame.next);
  }
}

/** A share is rounded down: half of three items tolerates one. */
function toleratedOf(def: MapNode, total: number): number {
  if (!def.tolerate) return 0;
  return "count" in def.tolerate ? def.tolerate.count : Math.floor(def.tolerate.share * total);
}

function mapDone(draft: Draft, node: ProgramNode, frame: MapFrame): void {
  dropFrame(draft, node.position);
  nodeDone(draft, node, mapFacts(draft.program, node, frame.total));
}

/** Too many items failed. The frame stays until what is in flight has been wound down. */
function mapFailed(draft: Draft, node: ProgramNode, frame: MapFrame): void {
  const last = draft.itemFault ? `; the last: ${draft.itemFault.message}` : "";
  nodeFailed(draft, node, { code: "item-failures", message: `${frame.failed} of ${frame.total} items failed${last}` });
}
