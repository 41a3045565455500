import type { RunEvent } from "../core/run-events.ts";
import type { Events, Sent } from "../ports.ts";
import { forever, type Hooks } from "./fault-hooks.ts";

export type EventsCall = { readonly op: "send"; readonly events: readonly RunEvent[] };

/** A bus in memory: everything that was published, repeats included, in order. */
export interface MemoryEvents extends Events {
  readonly published: readonly RunEvent[];
}

/** A bus that keeps what it takes. */
export function createMemoryEvents(hooks?: Hooks<EventsCall>): MemoryEvents {
  const published: RunEvent[] = [];
  return {
    published,
    async send(events) {
      const call = { op: "send", events: structuredClone(events) } as const;
      const injected = await hooks?.before?.(call);
      const lost: readonly Sent[] = events.map(() => ({
        kind: "failed",
        fault: { code: "unavailable", message: "The bus did not answer." },
      }));
      if (injected?.kind === "crash-before") return forever();
      if (injected?.kind === "fail") return events.map(() => ({ kind: "failed", fault: injected.fault.data }));
      if (injected?.kind === "lose-request") return lost;
      published.push(...call.events);
      if (injected?.kind === "repeat") published.push(...call.events);
      await hooks?.after?.(call);
      if (injected?.kind === "crash-after") return forever();
      return injected?.kind === "lose-reply" ? lost : events.map(() => ({ kind: "sent" }));
    },
  };
}
