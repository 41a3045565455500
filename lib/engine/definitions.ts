import type { Definition } from "../core/definition.ts";
import { Fault } from "../core/faults.ts";
import { canonicalText } from "../core/json.ts";
import { definitionKey } from "../core/keys.ts";
import { childBodyOf, nodeAt, type Program, programOf } from "../core/program.ts";
import type { RegisteredWorkflow } from "../core/registry.ts";
import { isWide, type Sliced, slicedFrom } from "../core/slices.ts";
import { digest } from "../digest.ts";
import { storeContracts } from "./contracts.ts";
import type { Engine } from "./engine.ts";
import { gunzip, gzip } from "./zip.ts";

const attribute = "z";

/**
 * The program of a definition: from this process, else from the store. Throws `unknown-definition` if neither has it. A hash is
 * said when this process's own code does not have it: it runs on what was stored at the start.
 */
export async function programFor(engine: Engine, hash: string): Promise<Program> {
  const known = engine.programs.get(hash);
  if (known) return known;
  const definition = engine.registry.byHash(hash)?.definition ?? (await storedDefinition(engine, hash));
  if (!definition)
    throw new Fault("unknown-definition", `definition ${hash} is neither in this build nor in the table`);
  const program = programOf(definition, hash);
  engine.programs.set(hash, program);
  return program;
}

async function storedDefinition(engine: Engine, hash: string): Promise<Definition | undefined> {
  const [record] = await engine.store.read([definitionKey(hash)], { isConsistent: true });
  const bytes = record?.[attribute];
  if (!(bytes instanceof Uint8Array)) return undefined;
  const definition = JSON.parse(await gunzip(bytes)) as Definition;
  // no build has the definition of a slice: it is derived where one is started
  if (definition.sliceOf) return definition;
  engine.metrics.count("unknown-definitions");
  engine.log.write("warn", "unknown-definition", {
    hash,
    means: "runs in flight are pinned to a graph that this build does not have: they go on by the stored one",
  });
  return definition;
}

/**
 * Writes a workflow's definition, and its children's, before the first row that names it: once per process and hash. Says when this
 * process would have come to another graph than the one that was built.
 */
export async function storeDefinitions(engine: Engine, workflow: RegisteredWorkflow): Promise<void> {
  if (engine.stored.has(workflow.hash)) return;
  for (const def of workflow.definition.nodes) {
    const child = childBodyOf(def);
    const known = child && engine.registry.byHash(child.definition);
    if (known) await storeDefinitions(engine, known);
  }
  if (workflow.builtHash !== undefined) {
    engine.metrics.count("unknown-definitions");
    engine.log.write("warn", "definition-differs", {
      workflow: workflow.name,
      hash: workflow.hash,
      builtHash: workflow.builtHash,
      means:
        "this process comes to another graph than the build did, say by another environment: it starts by the build's",
    });
  }
  await storeDefinition(engine, workflow.hash, workflow.definition);
}

async function storeDefinition(engine: Engine, hash: string, definition: Definition): Promise<void> {
  const bytes = await gzip(canonicalText(definition));
  const written = await engine.store.write({
    kind: "put",
    key: definitionKey(hash),
    fields: { [attribute]: bytes },
    when: [{ kind: "absent", path: ["pk"] }],
  });
  if (written.kind === "unclear")
    throw new Fault("unavailable", `the definition could not be stored: ${written.fault.message}`);
  await storeContracts(engine, hash, definition);
  engine.stored.add(hash);
}

/** The program of a wide map's slices, its definition written before the first row that names it. */
export async function sliceProgram(
  engine: Engine,
  program: Program,
  position: number,
): Promise<{ readonly program: Program; readonly reads: Sliced["reads"] }> {
  const { def } = nodeAt(program, position);
  if (!isWide(def)) throw new RangeError(`${def.name} has no slices`);
  const { definition, reads } = slicedFrom(program, def, position);
  const hash = digest(definition);
  if (!engine.stored.has(hash)) await storeDefinition(engine, hash, definition);
  const known = engine.programs.get(hash) ?? programOf(definition, hash);
  engine.programs.set(hash, known);
  return { program: known, reads };
}
