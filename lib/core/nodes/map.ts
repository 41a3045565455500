import type { MapNode } from "../definition.ts";
import { type Draft, dropFrame, frameOf, hasRoom, putFrame, stateOf, transition } from "../draft.ts";
import { factValueOf, mapFacts, pagesOf } from "../facts.ts";
import { Fault, type FaultData } from "../faults.ts";
import { fixed } from "../limits.ts";
import type { ProgramNode } from "../program.ts";
import type { FactValue, MapFrame } from "../run.ts";
import { cutOf, isWide } from "../slices.ts";
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
  const { items } = node;
  const pages = items && "pages" in items ? pagesOf(draft.facts.get(items.pages)) : { perPage: 0, token: "" };
  putFrame(draft, {
    node: node.position,
    total,
    next: items?.kind === "slice" ? numberOf(draft.facts.get(items.from)) : 0,
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
    const isAllOpen = isAtEnd(node, frame, inFlight);
    if (isAllOpen && inFlight === 0) return mapDone(draft, node, frame);
    const cut = isWide(def) ? cutOf(def.concurrency, frame.total) : undefined;
    const room = cut?.atOnce ?? def.concurrency;
    if (isAllOpen || inFlight >= room || !hasRoom(draft) || draft.run.ending) return;
    const next = cut ? Math.min(frame.total, frame.next + cut.size) : frame.next + 1;
    putFrame(draft, { ...frame, next });
    if (cut) openChild(draft, node, frame.next / cut.size);
    else if (def.body.kind === "step") openStep(draft, node, frame.next);
    else openChild(draft, node, frame.next);
  }
}

/** A slice begins and ends at multiples of its size: once it has opened something, the next multiple is its end. */
function isAtEnd({ items }: ProgramNode, frame: MapFrame, inFlight: number): boolean {
  if (frame.next === frame.total || items?.kind !== "slice") return frame.next === frame.total;
  const { size } = cutOf(items.concurrency, frame.total);
  return frame.next % size === 0 && inFlight + frame.done + frame.failed > 0;
}

const numberOf = (fact: FactValue | undefined) => (fact?.kind === "value" ? Number(fact.value) : 0);

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
