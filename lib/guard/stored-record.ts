import { Fault, type FaultData } from "../core/faults.ts";
import type { Fields, Key, Random, RunStore } from "../ports.ts";
import { whose, withToken } from "./mine.ts";
import type { GuardedRecord, Versioned } from "./outcome.ts";

/** The attributes of a record that guard it. */
export interface GuardAttributes {
  readonly version: string;
  readonly tokens: string;
}

const defaultAttributes: GuardAttributes = { version: "version", tokens: "lastTokens" };

/**
 * A record of a table as a guarded one. Its attributes but the two guarding ones are what `guardedUpdate` hands to `decide`. A record
 * without them (older than the guard) cannot be guarded: `load` throws the fault `bad-row`.
 */
export function storedRecord<R extends Fields>(
  store: Pick<RunStore, "read" | "write">,
  key: Key,
  attributes: GuardAttributes = defaultAttributes,
): GuardedRecord<R> {
  return {
    async load() {
      const [fields] = await store.read([key], { isConsistent: true });
      return fields && versionedOf<R>(fields, key, attributes);
    },
    async save(next, current, token) {
      const written = await store.write({
        kind: "put",
        key,
        fields: guarded(next, current.version + 1, withToken(token, current.tokens), attributes),
        when: [{ kind: "equals", path: [attributes.version], value: current.version }],
      });
      if (written.kind !== "refused") return written;
      return { ...written, now: versionedOf<R>(written.now, key, attributes) };
    },
  };
}

/** What became of a creation: the first one wins, and a repeat of its own lost reply is no other. */
export type Created<R> =
  | { readonly kind: "created"; readonly version: 1 }
  | { readonly kind: "exists"; readonly current: R; readonly version: number }
  | { readonly kind: "unclear"; readonly fault: FaultData };

/** Creates a guarded record, unless there is one. */
export async function createStoredRecord<R extends Fields>(
  store: Pick<RunStore, "read" | "write">,
  key: Key,
  record: R,
  random: Pick<Random, "token">,
  attributes: GuardAttributes = defaultAttributes,
): Promise<Created<R>> {
  const token = random.token();
  const written = await store.write({
    kind: "put",
    key,
    fields: guarded(record, 1, [token], attributes),
    when: [{ kind: "absent", path: ["pk"] }],
  });
  if (written.kind === "applied") return { kind: "created", version: 1 };
  const now = written.kind === "refused" ? versionedOf<R>(written.now, key, attributes) : await reread(written.kind);
  if (now === undefined) return { kind: "unclear", fault: written.kind === "unclear" ? written.fault : vanished };
  const isClear = written.kind === "refused" && written.isClear;
  const author = whose([token], now.tokens, 0, now.version, isClear);
  if (author === "mine") return { kind: "created", version: 1 };
  if (author === "unknown") return { kind: "unclear", fault: vanished };
  return { kind: "exists", current: now.record, version: now.version };

  async function reread(kind: "absent" | "unclear"): Promise<Versioned<R> | undefined> {
    return kind === "unclear" ? storedRecord<R>(store, key, attributes).load() : undefined;
  }
}

const vanished = { code: "unavailable", message: "The record changed too often to tell who created it." } as const;

function guarded(record: Fields, version: number, tokens: readonly string[], names: GuardAttributes): Fields {
  return { ...record, [names.version]: version, [names.tokens]: tokens };
}

function versionedOf<R extends Fields>(fields: Fields, key: Key, names: GuardAttributes): Versioned<R> {
  const { [names.version]: version, [names.tokens]: tokens, ...record } = fields;
  if (typeof version !== "number" || !Array.isArray(tokens)) {
    throw new Fault(
      "bad-row",
      `The record ${key.pk} ${key.sk} has no ${names.version} and ${names.tokens}: it is not guarded.`,
    );
  }
  return { record: record as R, version, tokens: tokens.map(String) };
}
