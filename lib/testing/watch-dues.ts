import type { MemoryStore } from "./memory-store.ts";

/** The earliest instant at which the watchdog has something to find, kept up with every change of the store. */
export function watchDues(store: MemoryStore): () => number | undefined {
  const dues = new Map<string, number>();
  store.watch(({ key }, _, now) => {
    const id = `${key.pk} ${key.sk}`;
    const [partition, atMs] = [now?.["q"], now?.["d"]];
    if (typeof partition === "string" && /^[DP]\d/.test(partition) && typeof atMs === "number") dues.set(id, atMs);
    else dues.delete(id);
  });
  return () => (dues.size === 0 ? undefined : Math.min(...dues.values()));
}
