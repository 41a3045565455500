import { guardedUpdate, type Outcome, storedRecord } from "../../lib/guard/index.ts";
import type { Clock, Random, RunStore } from "../../lib/ports.ts";

/**
 * A shop's own table, guarded as the engine guards its runs: many orders reserve pieces of one article at once, and a person corrects
 * the count after looking at it. No lock, and no reservation is lost.
 */
export type Stock = {
  readonly onHand: number;
  /** Pieces by order: a repeated request finds its own reservation and changes nothing. */
  readonly reserved: { readonly [order: string]: number };
};

export interface Shop {
  readonly store: Pick<RunStore, "read" | "write">;
  readonly clock: Clock;
  readonly random: Random;
}

/** The table's own key, and its own names for the two attributes that guard a record. */
export const stockKey = (article: string) => ({ pk: `article#${article}`, sk: "stock" });
export const guardAttributes = { version: "rev", tokens: "revBy" } as const;

/** Pure: what reserving comes to. The same stock back means that nothing is to be done, or nothing can be. */
function withReservation(stock: Stock, order: string, pieces: number): Stock {
  if (order in stock.reserved || available(stock) < pieces) return stock;
  return { ...stock, reserved: { ...stock.reserved, [order]: pieces } };
}

export function available({ onHand, reserved }: Stock): number {
  return Object.values(reserved).reduce((left, pieces) => left - pieces, onHand);
}

/** Reserves for an order, once, however often it is asked. A program decides, so losing a race means deciding again. */
export async function reserve(shop: Shop, article: string, order: string, pieces: number): Promise<boolean> {
  const outcome = await guardedUpdate<Stock>({
    ...shop,
    record: storedRecord(shop.store, stockKey(article), guardAttributes),
    decide: (stock) => withReservation(stock, order, pieces),
  });
  switch (outcome.kind) {
    case "applied":
    case "unchanged":
      return order in outcome.record.reserved;
    case "not-found":
      return false;
    default:
      // contended, or a reply was lost: asking again is safe
      throw new Error(`Reserving ${article} for ${order} ended as ${outcome.kind}. Ask again.`);
  }
}

/** Sets the count as a person saw it on the shelf. They looked at one version: if the stock has moved, they look again. */
export function correct(shop: Shop, article: string, onHand: number, seen: number): Promise<Outcome<Stock>> {
  return guardedUpdate<Stock>({
    ...shop,
    record: storedRecord(shop.store, stockKey(article), guardAttributes),
    decide: (stock) => ({ ...stock, onHand }),
    policy: { kind: "decided-by-a-person", expected: seen },
  });
}
