import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PayloadStore } from "../../lib/ports.ts";

export interface OpenPayloads {
  readonly payloads: PayloadStore;
  close(): Promise<void>;
}

/** What every `PayloadStore` does. */
export function payloadsContract(name: string, open: () => Promise<OpenPayloads>): void {
  describe(`${name} as a payload store`, () => {
    let payloads: PayloadStore;
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ payloads, close } = await open());
    });
    afterAll(() => close());

    const bytes = (length: number) => Uint8Array.from({ length }, (_, index) => index % 251);
    const expiry = { expiresAtS: 2_000_000_000 };

    test("gives back the bytes, and nothing for what is not there", async () => {
      await payloads.put("t#r/OUT#1", bytes(100_000), expiry);
      const found = await payloads.get("t#r/OUT#1");
      expect(found).toBeInstanceOf(Uint8Array);
      expect(found?.length).toBe(100_000);
      expect(Buffer.compare(found ?? new Uint8Array(), bytes(100_000))).toBe(0);
      expect(await payloads.get("t#r/OUT#2")).toBeUndefined();
    });

    test("a repeat is the same bytes and changes nothing; nothing at all can be a payload too", async () => {
      await payloads.put("repeat", bytes(10), expiry);
      await payloads.put("repeat", bytes(10), expiry);
      expect(await payloads.get("repeat")).toEqual(bytes(10));
      await payloads.put("empty", bytes(0), expiry);
      expect(await payloads.get("empty")).toEqual(bytes(0));
    });

    test("names may have characters that addresses may not", async () => {
      const odd = "tenant#run.1/OUT#0001#ü ?&+%25";
      await payloads.put(odd, bytes(3), expiry);
      expect(await payloads.get(odd)).toEqual(bytes(3));
    });

    test("removes by prefix, and only that", async () => {
      for (const one of ["p/a", "p/b", "q/a"]) await payloads.put(one, bytes(1), expiry);
      await payloads.remove("p/");
      await payloads.remove("p/");
      expect(await payloads.get("p/a")).toBeUndefined();
      expect(await payloads.get("p/b")).toBeUndefined();
      expect(await payloads.get("q/a")).toEqual(bytes(1));
    });
  });
}
