import { evaluate } from "../../../lib/core/expression.ts";
import type { Json } from "../../../lib/core/json.ts";
import { rowAttributes } from "../../../lib/core/row-format.ts";
import { isLive, type NodeState, nodeState, type Run } from "../../../lib/core/run.ts";
import { createEngine, type Engine } from "../../../lib/engine/engine.ts";
import { readerOf, readRunOutput, readSource } from "../../../lib/engine/resolve.ts";
import { createSeededRandom } from "../../../lib/testing/seeded-random.ts";
import { rawRegistry } from "../../engine/raw.ts";
import { type Known, nodeFault } from "../reference.ts";
import { statusFault } from "../reference-ends.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * Invariant 5: whatever became of its messages, a run ends as its definition has it. Every output is worked out anew from those it was
 * made of, by a reference that knows no rows, messages or time; where the outside decides (signals, gates, tries that a storm took) what
 * it came to must be one of what was possible.
 */
export function results(scene: Scene): Checker {
  const { world } = scene;
  return {
    async atEnd(run) {
      const program = scene.programs.get(run.definitionHash);
      if (!program || isLive(run)) return;
      const engine = calmEngine(scene);
      const reader = readerOf(engine, run, program);
      const values = new Map<string, Json | undefined>();
      const states = new Map<string, NodeState>();
      const wrong = (what: string) => world.violate(5, `${run.runId} (${run.phase}): ${what}`);
      try {
        for (const { def, position } of program.nodes) {
          const state = nodeState(run.nodes, position);
          states.set(def.name, state);
          const isThere = state === "done" || (state === "failed" && def.onFailure === "continue");
          if (def.compensates === undefined && isThere && run.reason?.code !== "row-too-big")
            values.set(def.name, await readSource(reader, def.name));
        }
        const isTombstone = run.phase === "cancelled" && run.transitionSeq === 0;
        if (isTombstone) return;
        const input = await readSource(reader, "$input");
        const known: Known = {
          run,
          program,
          values,
          states,
          input,
          scene,
          childOutput: (id) => childOutput(scene, engine, id),
        };
        for (const { def, position } of program.nodes) {
          const fault = await nodeFault(known, def, position);
          if (fault) wrong(`${def.name} (${def.kind}, ${states.get(def.name)}): ${fault}`);
        }
        const fault = statusFault(known);
        if (fault) wrong(fault);
        if (run.phase !== "succeeded") return;
        const output = await readRunOutput(reader);
        const expected = evaluate(program.definition.output ?? null, (source) =>
          source === "$input" ? input : values.get(source),
        );
        if (!output.ok || !expected.ok || JSON.stringify(output.value) !== JSON.stringify(expected.value))
          wrong("its output is not made of its nodes'");
      } catch (error) {
        wrong(`what it came to cannot be read: ${error instanceof Error ? error.stack : String(error)}`);
      }
    },
  };
}

/** An engine without faults, for reading. */
function calmEngine({ world }: Scene): Engine {
  const { store } = world;
  const random = createSeededRandom("calm");
  const readable = <T extends object>(fields: T): T =>
    "sk" in fields && fields.sk === "STATE" ? { ...fields, [rowAttributes.format]: 1 } : fields;
  return createEngine({
    store: {
      ...store,
      read: async (keys, options) =>
        (await store.read(keys, options)).map(
          (each, at) => each && (keys[at]?.sk === "STATE" ? { ...each, [rowAttributes.format]: 1 } : each),
        ),
      list: async (from) => {
        const page = await store.list(from);
        return { ...page, items: page.items.map(readable) };
      },
    },
    queue: world.queue,
    payloads: world.payloads,
    clock: { nowMs: world.timeline.nowMs, sleep: async () => undefined },
    random,
    log: { write: () => undefined },
    metrics: { count: () => undefined, flush: async () => undefined },
    registry: rawRegistry([]),
    limits: world.limits,
    build: "reader",
  });
}

async function childOutput(
  scene: Scene,
  engine: Engine,
  runId: string,
): Promise<{ readonly run: Run; readonly value: Json | undefined } | undefined> {
  const run = scene.world.rows.get(`default#${runId}`);
  const program = run && scene.programs.get(run.definitionHash);
  if (!run || !program) return undefined;
  const output = run.phase === "succeeded" ? await readRunOutput(readerOf(engine, run, program)) : undefined;
  return { run, value: output?.ok ? output.value : undefined };
}
