import type { Fields, Key, Page, RunStore } from "../ports.ts";

type Entry = Key & { readonly partition: string; readonly at: number };
type Query = Parameters<RunStore["find"]>[1];

/** A sparse, keys-only index over a memory store: records that have both attributes are in it, after a lag. */
export interface MemoryIndex {
  update(key: Key, record: Fields | undefined): void;
  find(query: Query): Page<Key & { readonly at: number }>;
}

/**
 * Makes an index on a string and a number attribute. A change shows `lagMs()` later by `nowMs()`, changes in their order. Like the
 * service, a page that its limit ended has a `next` even if nothing follows.
 */
export function createMemoryIndex(
  partitionName: string,
  sortName: string,
  nowMs: () => number,
  lagMs: () => number,
): MemoryIndex {
  const entries = new Map<string, Entry>();
  const pending: { readonly atMs: number; readonly id: string; readonly entry: Entry | undefined }[] = [];

  function catchUp(): void {
    while (pending[0] !== undefined && pending[0].atMs <= nowMs()) {
      const { id, entry } = pending.shift() as (typeof pending)[number];
      if (entry === undefined) entries.delete(id);
      else entries.set(id, entry);
    }
  }

  return {
    update(key, record) {
      const partition = record?.[partitionName];
      const at = record?.[sortName];
      const isIn = typeof partition === "string" && typeof at === "number";
      pending.push({
        atMs: nowMs() + lagMs(),
        id: `${key.pk}\u0000${key.sk}`,
        entry: isIn ? { pk: key.pk, sk: key.sk, partition, at } : undefined,
      });
    },
    find(query) {
      catchUp();
      const after = query.after === undefined ? undefined : (JSON.parse(query.after) as Entry);
      const found = [...entries.values()]
        .filter((entry) => entry.partition === query.partition && entry.at <= (query.upTo ?? Number.POSITIVE_INFINITY))
        .sort((a, b) => (query.isNewestFirst ? compareEntries(b, a) : compareEntries(a, b)))
        .filter((entry) => after === undefined || compareEntries(entry, after) * (query.isNewestFirst ? -1 : 1) > 0)
        .slice(0, query.limit);
      const last = found[found.length - 1];
      return {
        items: found.map(({ pk, sk, at }) => ({ pk, sk, at })),
        next: last !== undefined && found.length === query.limit ? JSON.stringify(last) : undefined,
      };
    },
  };
}

function compareEntries(a: Entry, b: Entry): number {
  return a.at - b.at || compareText(a.pk, b.pk) || compareText(a.sk, b.sk);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
