import { attemptAttributes } from "../../../lib/core/attempt-format.ts";
import { rowAttributes as a } from "../../../lib/core/row-format.ts";
import { isLive } from "../../../lib/core/run.ts";
import { type Checker, type Scene, same } from "./checker.ts";

const final = [a.status, a.body, a.nodes, a.tiny, a.reason, a.endedAtMs, a.live, a.commitIds, a.transitionSeq];
/** Ends that close nothing first: what is claimed then is late. */
const abrupt = new Set(["stuck", "livelock", "row-too-big"]);

/** Invariant 2: nothing changes what a run has come to, and nothing begins any more. */
export function terminal({ world }: Scene): Checker {
  return {
    onCommit({ write, before, now, was }) {
      if (!before) return;
      const { pk } = write.key;
      if (before[a.live] !== undefined) {
        if (!now) world.violate(2, `${pk} was deleted while it was live`);
        return;
      }
      if (!now || now[a.runUid] !== before[a.runUid]) return;
      for (const name of final)
        if (!same(before[name], now[name])) world.violate(2, `${pk} has ended (${was?.phase}), and ${name} changed`);
    },
    onChange({ write, before, now }) {
      if (!write.key.sk.startsWith("ATT#") || before || !now || now[attemptAttributes.token] === undefined) return;
      const run = world.rows.get(write.key.pk);
      if (!run || run.runUid !== now[attemptAttributes.runUid] || isLive(run) || abrupt.has(run.reason?.code ?? ""))
        return;
      world.violate(2, `${write.key.pk} has ended (${run.phase}), and ${write.key.sk} was claimed`);
    },
  };
}
