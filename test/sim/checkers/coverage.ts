import { attemptAttributes } from "../../../lib/core/attempt-format.ts";
import type { NodeDef } from "../../../lib/core/definition.ts";
import { nodeState } from "../../../lib/core/run.ts";
import { recordPrefix } from "../../../lib/testing/unit-model.ts";
import type { Checker, Scene } from "./checker.ts";

/** Checks nothing: counts what a simulation has come across, so that figures can say what it proves. */
export function coverage({ world, programs }: Scene): Checker {
  return {
    onChange({ write, before, now }) {
      const { sk } = write.key;
      world.count(`record ${/^OUT#[^#]*#P#/.test(sk) ? "OUT#P" : recordPrefix(sk)}`);
      const outcome = now?.[attemptAttributes.outcome];
      if (sk.startsWith("ATT#") && outcome !== undefined && before?.[attemptAttributes.outcome] === undefined)
        world.count(`attempt ${String(outcome)}`);
    },
    atEnd(run) {
      world.count(`ended ${run.phase}`);
      if (run.reason?.code === "deadline") world.count("ended by its deadline");
      const program = programs.get(run.definitionHash);
      if (!program) return world.count("runs of slices");
      for (const { def, position } of program.nodes) {
        const state = nodeState(run.nodes, position);
        if (def.compensates === undefined) world.count(`node ${kindOf(def)} ${state}`);
        else if (state === "done") world.count("undone");
      }
    },
  };
}

function kindOf(def: NodeDef): string {
  if (def.kind !== "step" || !def.isInline) return def.kind;
  return def.isRepeatable ? "repeatable step" : "inline step";
}
