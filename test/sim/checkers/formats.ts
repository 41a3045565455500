import { rowAttributes as a } from "../../../lib/core/row-format.ts";
import { queues } from "../../../lib/engine/messages.ts";
import type { Checker, Scene } from "./checker.ts";

/** Invariant 11: two adjacent builds share rows and messages; what the newer one wrote is never written by the older, nor given up. */
export function formats({ world }: Scene): Checker {
  // one that was received too often dies like any other; a build that cannot read it gives up nothing
  world.onSent.push((queue, messages, by) => {
    if (queue !== queues.dead || world.builds.named(by.build).isAhead) return;
    for (const { body } of messages)
      if (body.startsWith('{"format":2')) world.violate(11, `${by.name} gave up what a newer build wrote: ${body}`);
  });
  return {
    onCommit({ write, before, by }) {
      if (before?.[a.format] === 2 && by && !world.builds.named(by.build).isAhead)
        world.violate(11, `${write.key.pk}: a build that does not know its format wrote on it (${by.name})`);
    },
  };
}
