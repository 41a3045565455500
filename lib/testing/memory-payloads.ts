import { Fault } from "../core/faults.ts";
import type { PayloadStore } from "../ports.ts";
import { forever, type Hooks } from "./fault-hooks.ts";

export type PayloadCall = { readonly op: "put" | "get" | "remove"; readonly name: string };

/** Payloads in memory, and what a test may look at without a call. */
export interface MemoryPayloads extends PayloadStore {
  names(): readonly string[];
  expiresAtS(name: string): number | undefined;
}

type Stored = { readonly bytes: Uint8Array; readonly expiresAtS: number };

/**
 * Write-once by name as the port has it: a repeat with the same bytes is nothing new, one with other bytes is a broken promise and
 * throws the fault `refused`, which the real store cannot see. Expiry is kept and not acted upon, as the service's is no timer.
 */
export function createMemoryPayloads(options: { readonly hooks?: Hooks<PayloadCall> } = {}): MemoryPayloads {
  const stored = new Map<string, Stored>();

  async function around<T>(call: PayloadCall, run: () => T): Promise<T> {
    const injected = await options.hooks?.before?.(call);
    if (injected?.kind === "crash-before") return forever();
    if (injected?.kind === "fail") throw injected.fault;
    if (injected?.kind === "lose-request") throw new Fault("unavailable", "The payload store did not answer.");
    const result = run();
    await options.hooks?.after?.(call);
    if (injected?.kind === "crash-after") return forever();
    if (injected?.kind === "lose-reply") throw new Fault("unavailable", "The payload store did not answer.");
    return result;
  }

  return {
    put: (name, bytes, { expiresAtS }) =>
      around({ op: "put", name }, () => {
        const before = stored.get(name);
        if (before !== undefined && !isSame(before.bytes, bytes)) {
          throw new Fault("refused", `The payload ${name} exists with other bytes.`);
        }
        stored.set(name, { bytes: new Uint8Array(bytes), expiresAtS });
      }),
    get: (name) =>
      around({ op: "get", name }, () => {
        const found = stored.get(name);
        return found && new Uint8Array(found.bytes);
      }),
    remove: (prefix) =>
      around({ op: "remove", name: prefix }, () => {
        for (const name of [...stored.keys()]) if (name.startsWith(prefix)) stored.delete(name);
      }),
    names: () => [...stored.keys()].sort(),
    expiresAtS: (name) => stored.get(name)?.expiresAtS,
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
