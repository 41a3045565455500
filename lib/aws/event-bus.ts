import { type EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from "@aws-sdk/client-eventbridge";
import { Fault, type FaultData } from "../core/faults.ts";
import type { RunEvent } from "../core/run-events.ts";
import type { Events, Sent } from "../ports.ts";
import { type Patience, type Taken, untilTaken } from "./retry.ts";

export interface EventBusOptions extends Patience {
  readonly client: EventBridgeClient;
  /** Name or ARN. */
  readonly busName: string;
}

/** `source` of all events of Tickwright; the `detail-type` is the event's kind. */
export const eventSource = "tickwright";

/** Entries that a request takes; together they may have 256 KB, and the largest event is far below a tenth of it. */
export const entriesMax = 10;

/** What the service will never take; anything else it may. */
const refusals = new Set([
  "MalformedDetail",
  "InvalidArgument",
  "NotAuthorizedForSource",
  "NotAuthorizedForDetailType",
]);

/**
 * A bus of EventBridge. An answer names failed entries beside accepted ones (`FailedEntryCount`): those are sent again, bounded, and only
 * they. A bus that does not exist takes everything and keeps nothing, so the infrastructure code names one that does.
 * Source: "Sending events with PutEvents", "Calculating PutEvents event entry size".
 */
export function createEventBus({ client, busName, clock, random }: EventBusOptions): Events {
  async function give(open: readonly RunEvent[]): Promise<Taken<RunEvent>> {
    const results = new Map<RunEvent, Sent>();
    let fault: FaultData | undefined;
    const { Entries: entries = [] } = await client.send(
      new PutEventsCommand({ Entries: open.map((event) => entryOf(busName, event)) }),
    );
    for (const [at, event] of open.entries()) {
      const { EventId: id, ErrorCode: code, ErrorMessage: text } = entries[at] ?? {};
      if (id !== undefined) results.set(event, { kind: "sent" });
      if (code === undefined) continue;
      const isForGood = refusals.has(code);
      fault = new Fault(isForGood ? "refused" : "unavailable", `The bus refused an event: ${code}: ${text}`).data;
      if (isForGood) results.set(event, { kind: "failed", fault });
    }
    return { results, fault };
  }

  const names = { doing: `Publishing to ${busName}`, service: "bus" };
  const sendChunk = (chunk: readonly RunEvent[]) => untilTaken({ clock, random }, chunk, names, give);

  return {
    async send(events) {
      const chunks = Array.from({ length: Math.ceil(events.length / entriesMax) }, (_, at) =>
        events.slice(at * entriesMax, (at + 1) * entriesMax),
      );
      return (await Promise.all(chunks.map(sendChunk))).flat();
    },
  };
}

/** An event as the bus takes it. */
export function entryOf(busName: string, event: RunEvent): PutEventsRequestEntry {
  return {
    EventBusName: busName,
    Source: eventSource,
    DetailType: event.kind,
    Time: new Date(event.atMs),
    Detail: JSON.stringify(event),
  };
}
