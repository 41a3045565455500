import type { Place } from "./definition-fault.ts";
import type { Json } from "./json.ts";

interface Group {
  readonly nodes: readonly { readonly [name: string]: Json }[];
  readonly position: ReadonlyMap<string, number>;
  readonly hiddenFrom: number;
  readonly reads: readonly ReadonlySet<string>[];
}

/**
 * Groups of which one wins. A rival that waited for another could never win; a signal whose time-out is data would win with
 * nothing. One whose failure is data does not win by it: the others go on.
 */
export function checkRivals({ nodes, position, hiddenFrom, reads }: Group, place: Place): void {
  const groups = new Map<string, number[]>();
  nodes.slice(0, hiddenFrom).forEach(({ oneOf }, at) => {
    if (typeof oneOf === "string") groups.set(oneOf, [...(groups.get(oneOf) ?? []), at]);
  });
  for (const [group, members] of groups) {
    const [only = 0, ...others] = members;
    if (others.length === 0)
      place.at(only).at("oneOf").fault(`"${group}" has no other member: add one, or leave oneOf out`);
    for (const at of members) checkRival(nodes[at] ?? {}, place.at(at));
    const last = members.at(-1) ?? only;
    for (const [name, through] of waits(only, members, position, reads, last)) {
      place
        .at(through)
        .fault(
          `waits for "${name}" of its own group, so it could never win: let it start beside it, or take it out of the group`,
        );
    }
  }
}

function checkRival(node: { readonly [name: string]: Json }, place: Place): void {
  if (node["kind"] === "signal" && node["onTimeout"] === "continue") {
    place
      .at("onTimeout")
      .fault('"continue" is neither a win nor a failure: leave the time-out out, and add a sleep to the group');
  }
}

/** Members that wait for another, directly or through nodes between them: `[name of the other, position]`. */
function waits(
  from: number,
  members: readonly number[],
  position: ReadonlyMap<string, number>,
  reads: readonly ReadonlySet<string>[],
  to: number,
): readonly (readonly [string, number])[] {
  const found: (readonly [string, number])[] = [];
  const behind = new Map<number, string>();
  for (let at = from; at <= to; at++) {
    let other: string | undefined;
    for (const name of reads[at] ?? []) {
      const read = position.get(name);
      if (read === undefined || read >= at) continue;
      other ??= members.includes(read) ? name : behind.get(read);
    }
    if (other === undefined) continue;
    behind.set(at, other);
    if (members.includes(at)) found.push([other, at]);
  }
  return found;
}
