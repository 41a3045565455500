import type { Definition } from "../core/definition.ts";
import { Fault } from "../core/faults.ts";
import { canonicalText } from "../core/json.ts";
import { definitionKey } from "../core/keys.ts";
import { childBodyOf, type Program, programOf } from "../core/program.ts";
import type { RegisteredWorkflow } from "../core/registry.ts";
import type { Engine } from "./engine.ts";

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
  engine.metrics.count("unknown-definitions");
  return JSON.parse(await gunzip(bytes)) as Definition;
}

/** Writes a workflow's definition, and its children's, before the first row that names it: once per process and hash. */
export async function storeDefinitions(engine: Engine, workflow: RegisteredWorkflow): Promise<void> {
  if (engine.stored.has(workflow.hash)) return;
  for (const def of workflow.definition.nodes) {
    const child = childBodyOf(def);
    const known = child && engine.registry.byHash(child.definition);
    if (known) await storeDefinitions(engine, known);
  }
  const bytes = await gzip(canonicalText(workflow.definition));
  const written = await engine.store.write({
    kind: "put",
    key: definitionKey(workflow.hash),
    fields: { [attribute]: bytes },
    when: [{ kind: "absent", path: ["pk"] }],
  });
  if (written.kind === "unclear")
    throw new Fault("unavailable", `the definition could not be stored: ${written.fault.message}`);
  engine.stored.add(workflow.hash);
}

async function gzip(text: string): Promise<Uint8Array> {
  return new Uint8Array(
    await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer(),
  );
}

async function gunzip(bytes: Uint8Array): Promise<string> {
  return await new Response(new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
