import { itemBytes } from "../ports/item-size.ts";
import type { Fields, Key, RunStore, Write } from "../ports.ts";
import type { MemoryStore } from "./memory-store.ts";
import { bytesOf, indexUnits, readUnits, writeUnits } from "./unit-costs.ts";

/** What something has cost. `write` includes `index`, its part that went into the indexes. */
export interface Cost {
  readonly write: number;
  readonly index: number;
  readonly read: number;
  /** Requests to the table: a batch read is one for up to a hundred keys. */
  readonly requests: number;
}

/** All that was spent since the last reset, and on which kind of record: `STATE`, `STATE#MAIL`, `ATT`, ... or an index's name. */
export interface Units extends Cost {
  readonly byRecord: { readonly [prefix: string]: Cost };
}

/** A store that counts what each call would cost on DynamoDB. */
export interface UnitModel extends RunStore {
  units(): Units;
  reset(): void;
}

/** The part of a sort key that names the kind of record. */
export function recordPrefix(sk: string): string {
  const [first = "", second] = sk.split("#");
  return first === "STATE" && second !== undefined ? `${first}#${second}` : first;
}

/**
 * A store that counts what its calls would cost on DynamoDB. Over a memory store it sees every change at the instant at which it is made,
 * those included whose reply is lost. Over another store it reads, uncounted, before it writes, so concurrent writers of one record
 * blur its figures a little. A call that throws costs nothing here.
 */
export function createUnitModel(store: RunStore | MemoryStore): UnitModel {
  let spent = new Map<string, Cost>();
  const isWatched = "watch" in store;
  if (isWatched) store.watch((write, before, now) => countWrite(write, before, now));

  function add(prefix: string, cost: Partial<Cost>): void {
    const { write, index, read, requests } = spent.get(prefix) ?? nothing;
    spent.set(prefix, {
      write: write + (cost.write ?? 0),
      index: index + (cost.index ?? 0),
      read: read + (cost.read ?? 0),
      requests: requests + (cost.requests ?? 0),
    });
  }

  function countWrite({ key }: Write, before: Fields | undefined, now: Fields | undefined): void {
    const index = indexUnits(before, now);
    add(recordPrefix(key.sk), { write: writeUnits(key, before, now) + index, index });
  }

  return {
    async write(write, options = {}) {
      const prefix = recordPrefix(write.key.sk);
      const [before] = isWatched ? [] : await store.read([write.key], { isConsistent: true });
      const written = await store.write(write, isWatched ? options : { ...options, returns: "all" });
      add(prefix, { requests: 1 });
      if (written.kind === "refused") add(prefix, { write: writeUnits(write.key, written.now, undefined) });
      if (written.kind === "absent") add(prefix, { write: 1 });
      if (written.kind !== "applied" || isWatched) return written;
      countWrite(write, before, written.now);
      return { ...written, now: options.returns === "all" ? written.now : undefined };
    },
    async read(keys, options) {
      const found = await store.read(keys, options);
      const seen = new Set<string>();
      for (const [place, key] of keys.entries()) {
        const id = JSON.stringify([key.pk, key.sk]);
        if (seen.has(id)) continue;
        seen.add(id);
        add(recordPrefix(key.sk), { read: readUnits(bytesOf(key, found[place]), options.isConsistent) });
      }
      if (keys[0]) add(recordPrefix(keys[0].sk), { requests: Math.ceil(seen.size / 100) });
      return found;
    },
    async list(from) {
      const page = await store.list(from);
      const bytes = page.items.reduce((sum, item) => sum + itemBytes(item), 0);
      add(recordPrefix(from.prefix), { read: readUnits(bytes, from.isConsistent), requests: 1 });
      return page;
    },
    async find(index, query) {
      const page = await store.find(index, query);
      const bytes = page.items.reduce((sum, item) => sum + entryBytes(item, query.partition), 0);
      add(index, { read: readUnits(bytes, false), requests: 1 });
      return page;
    },
    units() {
      const byRecord = Object.fromEntries([...spent].sort(([a], [b]) => (a < b ? -1 : 1)));
      const sum = (name: keyof Cost) => Object.values(byRecord).reduce((total, cost) => total + cost[name], 0);
      return { write: sum("write"), index: sum("index"), read: sum("read"), requests: sum("requests"), byRecord };
    },
    reset() {
      spent = new Map();
    },
  };
}

const nothing: Cost = { write: 0, index: 0, read: 0, requests: 0 };

function entryBytes({ pk, sk, at }: Key & { readonly at: number }, partition: string): number {
  return itemBytes({ pk, sk, q: partition, d: at });
}
