import type { Contract, Contracts } from "../core/contract.ts";
import type { Definition } from "../core/definition.ts";
import { canonicalText } from "../core/json.ts";
import { contractsKey } from "../core/keys.ts";
import { stepBodyOf } from "../core/program.ts";
import { digest } from "../digest.ts";
import type { Engine } from "./engine.ts";
import { gunzip, gzip } from "./zip.ts";

const attributes = { zipped: "z", sinceMs: "t" } as const;

/** What the steps of a definition take and yield in this process's build. */
function contractsOf(engine: Engine, definition: Definition): Contracts {
  const refs = new Set(definition.nodes.flatMap((def) => stepBodyOf(def)?.handler ?? []));
  const known = [...refs].flatMap((ref): readonly [string, Contract][] => {
    const contract = engine.registry.handler(ref)?.contract;
    return contract ? [[ref, contract]] : [];
  });
  return Object.fromEntries(known);
}

/**
 * Records them beside the definition, outside its hash: one record for each set of contracts, write-once, with when it was first seen.
 * It serves people who are about to deploy, and nothing depends on it: if it cannot be written, the next process writes it.
 */
export async function storeContracts(engine: Engine, hash: string, definition: Definition): Promise<void> {
  const contracts = contractsOf(engine, definition);
  if (Object.keys(contracts).length === 0) return;
  const zipped = await gzip(canonicalText(contracts));
  const written = await engine.store.write({
    kind: "put",
    key: contractsKey(hash, digest(contracts)),
    fields: { [attributes.zipped]: zipped, [attributes.sinceMs]: engine.clock.nowMs() },
    when: [{ kind: "absent", path: ["pk"] }],
  });
  if (written.kind === "unclear") engine.log.write("warn", "contracts-not-recorded", { hash });
}

/** All that were recorded for a definition, oldest first. */
export async function recordedContracts(
  engine: Engine,
  hash: string,
): Promise<readonly { readonly contracts: Contracts; readonly sinceMs: number }[]> {
  const { pk, sk } = contractsKey(hash, "");
  const { items } = await engine.store.list({ pk, prefix: sk, isConsistent: false });
  const found = await Promise.all(
    items.map(async (item) => ({
      contracts: JSON.parse(await gunzip(item[attributes.zipped] as Uint8Array)) as Contracts,
      sinceMs: Number(item[attributes.sinceMs]),
    })),
  );
  return found.sort((a, b) => a.sinceMs - b.sinceMs);
}
