import { Fault, type FaultData } from "../core/faults.ts";
import { pauseBefore } from "../guard/windows.ts";
import type { Clock, Random, Sent } from "../ports.ts";
import { classify, type ErrorClass, toFault } from "./errors.ts";

/** What adapters wait with. */
export interface Patience {
  readonly clock: Clock;
  readonly random: Random;
}

/** Full-jitter windows of the tries of one request; with the time-outs of `clients.ts` they fit into a function's reserve. */
export const retryWindowsMs = [0, 50, 100, 200] as const;

/**
 * Asks again, after a pause, while the error is of a class that another try may mend. What the last try throws is thrown. The SDK's
 * own retries are off: it repeats writes silently, and then nobody knows whether the first was applied.
 */
export async function retrying<T>(
  { clock, random }: Patience,
  kinds: readonly ErrorClass[],
  ask: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      const pauseMs = pauseBefore(attempt + 1, random, retryWindowsMs);
      if (pauseMs === undefined || signal?.aborted || !kinds.includes(classify(error))) throw error;
      await clock.sleep(pauseMs);
    }
  }
}

/** What the service said of some of the items that it was given. Those that it did not name stay open. */
export interface Taken<Item> {
  readonly results: ReadonlyMap<Item, Sent>;
  /** Why others were not taken, if it said so. */
  readonly fault?: FaultData | undefined;
}

/**
 * Gives items to a service that answers for each, again and again until it has answered for all, and only those that are open: a
 * request may fail in part. Bounded, with pauses; what is open in the end has failed with the last fault. Same order, same length.
 */
export async function untilTaken<Item>(
  { clock, random }: Patience,
  items: readonly Item[],
  names: { readonly doing: string; readonly service: string },
  give: (open: readonly Item[]) => Promise<Taken<Item>>,
): Promise<readonly Sent[]> {
  const results = new Map<Item, Sent>();
  let open = items;
  let fault: FaultData | undefined;
  for (let attempt = 1; open.length > 0; attempt++) {
    const pauseMs = pauseBefore(attempt, random, retryWindowsMs);
    if (pauseMs === undefined) break;
    await clock.sleep(pauseMs);
    try {
      const taken = await give(open);
      fault = taken.fault ?? fault;
      for (const [item, result] of taken.results) results.set(item, result);
    } catch (error) {
      fault = toFault(error, names.doing).data;
      if (classify(error) === "permanent" || classify(error) === "denied") break;
    }
    open = open.filter((item) => !results.has(item));
  }
  const failure =
    fault ?? new Fault("unavailable", `The ${names.service}'s answer named neither success nor failure.`).data;
  return items.map((item) => results.get(item) ?? { kind: "failed", fault: failure });
}
