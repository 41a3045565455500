import { Fault } from "../core/faults.ts";
import { itemBytes } from "../ports/item-size.ts";
import { assertWrite } from "../ports/storable.ts";
import type { Fields, Key, RunStore, Value, Write, Written } from "../ports.ts";
import { applyWrite } from "./apply-write.ts";
import { forever, type Hooks, type Injection } from "./fault-hooks.ts";
import { createMemoryIndex } from "./memory-index.ts";
import { cloneValue, compareValues } from "./values.ts";

/** A call as hooks see it. */
export type StoreCall =
  | { readonly op: "write"; readonly write: Write }
  | { readonly op: "read"; readonly keys: readonly Key[]; readonly isConsistent: boolean }
  | { readonly op: "list"; readonly pk: string; readonly prefix: string; readonly isConsistent: boolean }
  | { readonly op: "find"; readonly index: "due" | "runs"; readonly partition: string };

export interface MemoryStoreOptions {
  readonly hooks?: Hooks<StoreCall>;
  /** Told of every change at the instant at which it is made: where checkers of invariants stand. */
  readonly onApplied?: Change;
  /** Whether an eventually consistent read of a record meets its previous version. Never, unless given. */
  readonly isStale?: (key: Key) => boolean;
  /** How much later a change shows in the indexes, by `nowMs`. */
  readonly indexLagMs?: () => number;
  readonly nowMs?: () => number;
  /** A page of `list` ends when it holds this much; 1 MB, as the service has it. */
  readonly pageBytesMax?: number;
}

/** A `RunStore` in memory, and what a test may look at without a call. */
export interface MemoryStore extends RunStore {
  peek(key: Key): Fields | undefined;
  /** Every record, by key. */
  snapshot(): readonly (Fields & Key)[];
  /** From now on, tells of every change at the instant at which it is made. */
  watch(listener: Change): void;
}

/** A change: what was asked, what was there, and what is there now. */
export type Change = (write: Write, before: Fields | undefined, now: Fields | undefined) => void;

type Stored = { readonly key: Key; readonly fields: Fields | undefined; readonly previous: Fields | undefined };

/**
 * A store with exactly DynamoDB's semantics as far as the port shows them, over a Map. Every call gives way once before and once after
 * it is applied, so that concurrent callers interleave; applying is atomic. Nothing it takes or gives is shared with its callers.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const records = new Map<string, Stored>();
  const listeners: Change[] = options.onApplied ? [options.onApplied] : [];
  const nowMs = options.nowMs ?? (() => 0);
  const lagMs = options.indexLagMs ?? (() => 0);
  const indexes = {
    due: createMemoryIndex("q", "d", nowMs, lagMs),
    runs: createMemoryIndex("p", "o", nowMs, lagMs),
  };

  function store(write: Write, fields: Fields | undefined): void {
    const before = records.get(idOf(write.key))?.fields;
    const key = { pk: write.key.pk, sk: write.key.sk };
    records.set(idOf(key), { key, fields, previous: before });
    indexes.due.update(key, fields);
    indexes.runs.update(key, fields);
    for (const listener of listeners) listener(write, before, fields);
  }

  function apply(write: Write, isAll: boolean, isClear: boolean): Written {
    const before = records.get(idOf(write.key))?.fields;
    const made = applyWrite(write, before);
    if (made.kind === "absent") return { kind: "absent", isClear };
    if (made.kind === "refused") return { kind: "refused", now: cloneValue(made.now), isClear };
    const { fields } = made;
    store(write, fields);
    return { kind: "applied", now: isAll && fields ? cloneValue(fields) : undefined, isClear };
  }

  function readOne(key: Key, isConsistent: boolean): Fields | undefined {
    const stored = records.get(idOf(key));
    const fields = !isConsistent && options.isStale?.(key) ? stored?.previous : stored?.fields;
    return fields && cloneValue(fields);
  }

  async function around<T>(call: StoreCall, run: () => T): Promise<T> {
    const injected = await enter(call);
    if (injected?.kind === "crash-after") return forever();
    if (injected?.kind === "lose-request" || injected?.kind === "lose-reply") throw lost(injected);
    const result = run();
    await leave(call);
    return result;
  }

  async function enter(call: StoreCall): Promise<Injection | undefined> {
    const injected = await options.hooks?.before?.(call);
    if (injected?.kind === "crash-before") await forever();
    if (injected?.kind === "fail") throw injected.fault;
    return injected;
  }

  async function leave(call: StoreCall): Promise<void> {
    await options.hooks?.after?.(call);
  }

  return {
    async write(write, { returns, signal } = {}) {
      assertWrite(write);
      const call = { op: "write", write: cloneWrite(write) } as const;
      const injected = await enter(call);
      if (signal?.aborted || injected?.kind === "lose-request") return { kind: "unclear", fault: lost(injected).data };
      let written = apply(call.write, returns === "all", true);
      if (injected?.kind === "repeat") written = apply(call.write, returns === "all", false);
      await leave(call);
      if (injected?.kind === "crash-after") return forever();
      if (injected?.kind === "lose-reply") return { kind: "unclear", fault: lost(injected).data };
      return written;
    },
    read(keys, { isConsistent }) {
      return around({ op: "read", keys, isConsistent }, () => keys.map((key) => readOne(key, isConsistent)));
    },
    list({ pk, prefix, isConsistent, limit = Number.POSITIVE_INFINITY, after: from }) {
      return around({ op: "list", pk, prefix, isConsistent }, () => {
        const items: (Fields & Key)[] = [];
        let bytes = 0;
        const wanted = [...records.values()].filter(({ key }) => key.pk === pk && key.sk.startsWith(prefix));
        for (const { key } of sorted(wanted)) {
          if (from !== undefined && compareText(key.sk, from) <= 0) continue;
          const fields = readOne(key, isConsistent);
          if (fields === undefined) continue;
          const item = { ...fields, ...key };
          items.push(item);
          bytes += itemBytes(item);
          if (items.length >= limit || bytes >= (options.pageBytesMax ?? 1024 * 1024)) return { items, next: key.sk };
        }
        return { items, next: undefined };
      });
    },
    find(index, query) {
      return around({ op: "find", index, partition: query.partition }, () => indexes[index].find(query));
    },
    peek: (key) => readOne(key, true),
    watch: (listener) => void listeners.push(listener),
    snapshot: () =>
      sorted(records.values()).flatMap(({ key, fields }) => (fields ? [{ ...cloneValue(fields), ...key }] : [])),
  };
}

function cloneWrite(write: Write): Write {
  return cloneValue(write as unknown as Value) as unknown as Write;
}

function lost(injected: Injection | undefined): Fault {
  return new Fault("unavailable", `The store did not answer (${injected?.kind ?? "aborted"}).`);
}

function sorted(records: Iterable<Stored>): Stored[] {
  return [...records].sort((a, b) => compareText(a.key.pk, b.key.pk) || compareText(a.key.sk, b.key.sk));
}

function compareText(a: string, b: string): number {
  return compareValues(a, b) ?? 0;
}

function idOf(key: Key): string {
  return `${key.pk}\u0000${key.sk}`;
}
