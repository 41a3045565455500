import type { RunStore } from "../../lib/ports.ts";

/** Writers that race for one record and for one version. */
const writers = 50;

/**
 * Proves that the store's conditional writes are atomic, before anything else is believed: of fifty creations one wins, of fifty edits of
 * a version one wins, and the record is the winner's. Throws `emulator unsafe` otherwise: on such a store every other test would lie (E3).
 */
export async function preflight(store: RunStore): Promise<void> {
  const key = { pk: `preflight#${Math.random().toString(36).slice(2)}`, sk: "STATE" };
  const everyone = Array.from({ length: writers }, (_, writer) => writer);
  const created = await Promise.all(
    everyone.map((writer) =>
      store.write({ kind: "put", key, fields: { v: 0, writer }, when: [{ kind: "absent", path: ["pk"] }] }),
    ),
  );
  await oneWon("creations of one record", created, store, key);
  const edited = await Promise.all(
    everyone.map((writer) =>
      store.write({
        kind: "edit",
        key,
        edits: [
          { kind: "add", path: ["v"], by: 1 },
          { kind: "set", path: ["writer"], value: writer },
        ],
        when: [{ kind: "equals", path: ["v"], value: 0 }],
      }),
    ),
  );
  await oneWon("edits of one version", edited, store, key);
  await store.write({ kind: "delete", key, when: [] });
}

async function oneWon(
  what: string,
  written: readonly { readonly kind: string }[],
  store: RunStore,
  key: { readonly pk: string; readonly sk: string },
): Promise<void> {
  const winners = written.flatMap(({ kind }, writer) => (kind === "applied" ? [writer] : []));
  const refused = written.filter(({ kind }) => kind === "refused").length;
  const [record] = await store.read([key], { isConsistent: true });
  if (winners.length === 1 && refused === writers - 1 && record?.["writer"] === winners[0]) return;
  throw new Error(
    `emulator unsafe: of ${writers} parallel ${what} ${winners.length} were applied and ${refused} refused, ` +
      `and the record is that of writer ${String(record?.["writer"])}`,
  );
}
