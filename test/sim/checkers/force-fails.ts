import { defaultLimits } from "../../../lib/core/limits.ts";
import { isLive } from "../../../lib/core/run.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * Invariant 6: a run is only ended as stuck if enough processings of it began, one by one, and did not end, and as a livelock if its
 * commits were refused again and again at one transition.
 */
export function forceFails({ world, functions }: Scene): Checker {
  const since = new Map<string, { readonly seq: number; readonly begun: ReadonlySet<unknown> }>();
  return {
    onCommit({ was, is, write, by }) {
      if (!is) return;
      const code = is.reason?.code;
      const hasEnded = was !== undefined && isLive(was) && !isLive(is);
      if (hasEnded && (code === "stuck" || code === "livelock")) {
        world.count(`ended as ${code}`);
        const before = since.get(write.key.pk);
        const open = functions
          .unfinished(is.runId)
          .filter((each) => each.isRedelivered && each.process.name !== by?.name);
        const evidence = open.filter((each) => each.process.isDead || each.process.isZombie);
        void before;
        if (code === "stuck" && evidence.length < defaultLimits.strikesMax)
          world.violate(
            6,
            `${write.key.pk} was force-failed (${is.reason?.message}), and only ${evidence.length} redelivered processings did not end`,
          );
      }
    },
  };
}
