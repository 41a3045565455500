import { attemptAttributes, outcomeFrom } from "../../../lib/core/attempt-format.ts";
import { partitionOf, sk } from "../../../lib/core/keys.ts";
import type { Run } from "../../../lib/core/run.ts";
import type { Fields } from "../../../lib/ports.ts";
import type { SentDecision } from "../people.ts";
import { type Checker, type Scene, same } from "./checker.ts";

/** Invariant 8: of those who decide at one gate, the time-out among them, one wins, and every other one is told by whom it lost. */
export function gates({ world, people, programs }: Scene): Checker {
  return {
    atEnd(run) {
      const mine = people.record.decisions.filter((each) => each.runUid === run.runUid);
      for (const each of Map.groupBy(mine, ({ gate }) => gate)) checkGate(run, ...each);
    },
  };

  /** Records of all openings of a gate: one that was closed before its time is opened again. */
  function recordsOf(run: Run, gate: string): readonly Fields[] {
    const node = programs.get(run.definitionHash)?.positions.get(gate) ?? -1;
    const found: Fields[] = [];
    for (let attempt = 1; ; attempt++) {
      const name = sk.attempt(run.runUid, node, 0, attempt);
      const record = world.store.peek({ pk: partitionOf(run.tenant, run.runId), sk: name });
      if (!record) return found;
      found.push(record);
    }
  }

  function checkGate(run: Run, gate: string, decisions: readonly SentDecision[]): void {
    const where = `${run.runId} gate ${gate}`;
    const won = decisions.filter((each) => each.answer === "won");
    if (won.length > 1)
      world.violate(8, `${where}: ${won.map((each) => each.by).join(" and ")} were both told that they decided`);
    const records = recordsOf(run, gate);
    for (const { by, approved } of won) {
      const record = records.find((each) => each[attemptAttributes.endedBy] === `decision:${by}`);
      const outcome = record && outcomeFrom(record);
      if (outcome?.kind !== "decided" || outcome.decision.approved !== approved)
        world.violate(8, `${where}: ${by} was told that it decided, and no record says so`);
    }
    const winners = records.map((record) => {
      const outcome = outcomeFrom(record);
      return outcome?.kind === "decided"
        ? outcome.decision
        : { approved: false, timedOut: outcome?.kind === "timed-out" };
    });
    for (const { answer, by, winner } of decisions)
      if (answer === "lost" && !winners.some((each) => same(each, winner)))
        world.violate(8, `${where}: ${by} was told that ${JSON.stringify(winner)} won, and no record says so`);
  }
}
