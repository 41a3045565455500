import { readFile, writeFile } from "node:fs/promises";
import { assertDefinitions, definitionsOf } from "../authoring/definitions.ts";
import type { AnyWorkflow, RegistryOptions } from "../authoring/registry.ts";
import type { Definitions } from "../core/contract.ts";

/** Writes what a build has, in an order that does not change, so that the file can be kept with the source. Gives what it wrote. */
export async function writeDefinitions(
  workflows: readonly AnyWorkflow[],
  file: string,
  options: Pick<RegistryOptions, "keep"> = {},
): Promise<Definitions> {
  const definitions = definitionsOf(workflows, options);
  await writeFile(file, `${JSON.stringify(definitions, undefined, 2)}\n`);
  return definitions;
}

/** Reads what a build had. Throws a `Fault`: `bad-definition` if it was edited by hand, `newer-format` if a newer version wrote it. */
export async function readDefinitions(file: string): Promise<Definitions> {
  const definitions = JSON.parse(await readFile(file, "utf8")) as Definitions;
  assertDefinitions(definitions);
  return definitions;
}
