import { type Asked, type Simulated, simulate } from "./simulation.ts";

/** How often a failing simulation is played again, at most, to find what of it is enough. */
const playsMax = 400;

/**
 * Takes away faults, doings from outside and nodes as long as the same invariant stays violated: halves first, then quarters, in the
 * end one by one (Zeller and Hildebrandt's ddmin, "Simplifying and Isolating Failure-Inducing Input"). What comes out replays exactly.
 */
export async function shrink(asked: Asked, first: Simulated): Promise<Simulated> {
  const invariants = new Set(first.violations.map((each) => each.invariant));
  let best = first;
  let kept = idsOf(first);
  let chunks = 2;
  for (let plays = 0; plays < playsMax && kept.length > 0; ) {
    const size = Math.ceil(kept.length / chunks);
    let hasShrunk = false;
    for (let from = 0; from < kept.length && plays < playsMax; from += size) {
      const keep = new Set([...kept.slice(0, from), ...kept.slice(from + size)]);
      plays += 1;
      const played = await attempt({ ...asked, keep, isTraced: false });
      if (!played?.violations.some((each) => invariants.has(each.invariant))) continue;
      [best, kept, hasShrunk] = [played, idsOf(played), true];
      break;
    }
    if (hasShrunk) chunks = Math.max(2, chunks - 1);
    else if (size === 1) break;
    else chunks = Math.min(kept.length, chunks * 2);
  }
  return await simulate({ ...asked, keep: new Set(kept), isTraced: true }).catch(() => best);
}

const idsOf = (played: Simulated): readonly string[] => [...new Set(played.choices.map((each) => each.id))];

async function attempt(asked: Asked): Promise<Simulated | undefined> {
  try {
    return await simulate(asked);
  } catch {
    return undefined;
  }
}
