import { fixed } from "../../../lib/core/limits.ts";
import { rowAttributes as a } from "../../../lib/core/row-format.ts";
import { isLive } from "../../../lib/core/run.ts";
import { itemBytes } from "../../../lib/ports/item-size.ts";
import { type Checker, type Scene, same } from "./checker.ts";

const bookkeeping = new Set<string>([a.recordVersion, a.commitIds, a.checksum]);

/** Invariant 9: what changes nothing writes nothing, and a row costs what its activity costs, whatever the size of its definition. */
export function writes({ world }: Scene): Checker {
  return {
    onCommit({ write, before, now, is }) {
      if (!now || !is) return;
      const names = Object.values(a).filter((name) => !bookkeeping.has(name));
      if (before && names.every((name) => same(before[name], now[name])))
        world.violate(9, `${write.key.pk}: a commit changed nothing`);
      if (!isLive(is)) return;
      const bytes = itemBytes({ ...now, pk: write.key.pk, sk: write.key.sk });
      // an id or two of earlier commits, and what a new row's key adds
      const max = is.active.length <= fixed.activeInOneUnit ? fixed.rowBytesOneUnit + 24 : fixed.rowBytesMax + 48;
      if (bytes > Math.max(max, fixed.rowBytesOneUnit + 24))
        world.violate(9, `${write.key.pk}: a row of ${bytes} bytes with ${is.active.length} in flight`);
    },
  };
}
