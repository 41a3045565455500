import { hashText } from "../../lib/core/hash.ts";
import { createSeededRandom, type SeededRandom } from "../../lib/testing/seeded-random.ts";

/** Something that a simulation did and need not have done: a fault, somebody's doing from outside, a node of a workflow. */
export interface Choice {
  readonly id: string;
  readonly what: string;
}

/**
 * Everything that a simulation leaves to chance, drawn from one seed. Each place draws from a stream of its own, named by what it is
 * and not by when it comes, so that taking one choice away leaves the others as they were: that is what shrinking stands on.
 */
export interface Choices {
  readonly seed: number;
  /** Whether this optional thing happens; noted if it does. `id` names it in every replay of this seed. */
  takes(what: string, isDrawn: boolean): boolean;
  /** Randomness of one place. The same name again continues nothing: it begins anew. */
  random(place: string): SeededRandom;
  /** A name that is unique in this simulation: the same place twice is numbered. */
  named(place: string): string;
  readonly taken: readonly Choice[];
}

/** The choices of a seed: all of them, or, given `keep`, only those whose ids it names. */
export function createChoices(seed: number, keep?: ReadonlySet<string>): Choices {
  const taken: Choice[] = [];
  const counts = new Map<string, number>();
  return {
    seed,
    taken,
    takes(what, isDrawn) {
      if (!isDrawn) return false;
      const id = idOf(what);
      if (keep && !keep.has(id)) return false;
      taken.push({ id, what });
      return true;
    },
    random: (place) => createSeededRandom(`${seed}/${place}`),
    named(place) {
      const count = (counts.get(place) ?? 0) + 1;
      counts.set(place, count);
      return count === 1 ? place : `${place}+${count}`;
    },
  };
}

const idOf = (what: string) => hashText(what).toString(36).padStart(7, "0") + (what.length % 36).toString(36);
