import { partitionOf } from "../core/keys.ts";
import type { Run } from "../core/run.ts";
import type { Fields, Key } from "../ports.ts";
import type { Engine } from "./engine.ts";

/** Everything under a prefix, page by page. */
export async function listAll(
  engine: Engine,
  run: Pick<Run, "tenant" | "runId">,
  prefix: string,
): Promise<readonly (Fields & Key)[]> {
  const items: (Fields & Key)[] = [];
  let after: string | undefined;
  do {
    const page = await engine.store.list({
      pk: partitionOf(run.tenant, run.runId),
      prefix,
      isConsistent: true,
      ...(after !== undefined && { after }),
    });
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}
