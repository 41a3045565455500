import { rowAttributes as a } from "../../../lib/core/row-format.ts";
import type { Checker, Scene } from "./checker.ts";

/** Invariant 11: two adjacent builds share rows and messages; what the newer one wrote is never written by the older, nor given up. */
export function formats({ world }: Scene): Checker {
  return {
    onCommit({ write, before, by }) {
      if (before?.[a.format] === 2 && by && !world.builds.named(by.build).isAhead)
        world.violate(11, `${write.key.pk}: a build that does not know its format wrote on it (${by.name})`);
    },
    atEnd() {
      const dead = world.queue.messages("dead").filter(({ body }) => body.startsWith('{"format":2'));
      for (const { body } of dead) world.violate(11, `a message of a newer format was given up: ${body}`);
    },
  };
}
