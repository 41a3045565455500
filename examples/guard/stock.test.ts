import { describe, expect, test } from "vitest";
import { createStoredRecord } from "../../lib/guard/index.ts";
import { createMemoryStore } from "../../lib/testing/memory-store.ts";
import { createSeededRandom } from "../../lib/testing/seeded-random.ts";
import { createVirtualClock } from "../../lib/testing/virtual-clock.ts";
import { available, correct, guardAttributes, reserve, type Stock, stockKey } from "./stock.ts";

async function openShop(onHand: number) {
  const shop = { store: createMemoryStore(), clock: createVirtualClock(), random: createSeededRandom("shop") };
  await createStoredRecord<Stock>(shop.store, stockKey("lamp"), { onHand, reserved: {} }, shop.random, guardAttributes);
  const stock = () => shop.store.peek(stockKey("lamp")) as unknown as Stock;
  return { shop, stock };
}

describe("a shop's stock", () => {
  test("is never sold twice, however many orders come at once", async () => {
    const { shop, stock } = await openShop(5);
    const orders = Array.from({ length: 8 }, (_, order) => reserve(shop, "lamp", `order-${order}`, 1));
    const won = await shop.clock.drive(Promise.all(orders));
    expect(won.filter(Boolean)).toHaveLength(5);
    expect(available(stock())).toBe(0);
  });

  test("is reserved once for an order that asks twice", async () => {
    const { shop, stock } = await openShop(5);
    expect(await reserve(shop, "lamp", "order-1", 2)).toBe(true);
    expect(await reserve(shop, "lamp", "order-1", 2)).toBe(true);
    expect(stock()).toMatchObject({ reserved: { "order-1": 2 }, rev: 2 });
    expect(await reserve(shop, "chair", "order-1", 2)).toBe(false);
  });

  test("is corrected by whoever saw it last, and others are told what has changed", async () => {
    const { shop } = await openShop(5);
    await reserve(shop, "lamp", "order-1", 2);
    expect(await correct(shop, "lamp", 9, 1)).toMatchObject({ kind: "conflict", expected: 1, actual: 2 });
    expect(await correct(shop, "lamp", 9, 2)).toMatchObject({ kind: "applied", record: { onHand: 9 }, version: 3 });
  });
});
