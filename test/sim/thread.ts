import { parentPort, workerData } from "node:worker_threads";
import { type Asked, simulate } from "./simulation.ts";

/** What one seed came to, as it goes back to the command. */
export interface Told {
  readonly seed: number;
  readonly profile: string;
  readonly hash: string;
  readonly violations: readonly { readonly invariant: number; readonly what: string; readonly atMs: number }[];
  readonly counts: ReadonlyMap<string, number>;
}

const common = workerData as Omit<Asked, "seed">;

parentPort?.on("message", async (seeds: readonly number[]) => {
  for (const seed of seeds) parentPort?.postMessage(await tell(seed));
  parentPort?.postMessage("more");
});

async function tell(seed: number): Promise<Told> {
  try {
    const { profile, hash, violations, counts } = await simulate({ ...common, seed });
    return { seed, profile, hash, violations, counts };
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? String(error)) : String(error);
    return { seed, profile: "?", hash: "", violations: [{ invariant: 0, what, atMs: 0 }], counts: new Map() };
  }
}
