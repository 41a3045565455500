import { toDelaySeconds } from "../core/delay.ts";
import { Fault } from "../core/faults.ts";
import { deadQueueOf, receivesMaxOf } from "../core/queue-names.ts";
import { faultOfMessage } from "../ports/sendable.ts";
import type { Clock, Message, Queue, Sent } from "../ports.ts";
import { forever, type Hooks } from "./fault-hooks.ts";
import type { SeededRandom } from "./seeded-random.ts";

export type QueueCall = { readonly op: "send"; readonly messages: readonly Message[] };

/** A message in a consumer's hands. It has the fields of what the engine receives. */
export type Delivery = Omit<Message, "delaySeconds"> & {
  readonly id: string;
  /** From 1. */
  readonly receiveCount: number;
  readonly sentAtMs: number;
};

export interface MemoryQueueOptions {
  readonly clock: Pick<Clock, "nowMs">;
  /** How long a received message is hidden; six function time-outs of a minute, unless given. */
  readonly visibilityMs?: number;
  /** A message received this often goes to its dead-letter queue when it would be received once more. */
  readonly maxReceiveCount?: number;
  readonly hooks?: Hooks<QueueCall>;
  /** With it, messages come in any order, and the rates below apply. */
  readonly random?: SeededRandom;
  /** Of messages that are accepted and never come. */
  readonly lossRate?: number;
  /** Of messages that come twice. */
  readonly duplicateRate?: number;
  /** What becomes of each message that is accepted, instead of both rates: how often it comes, and how much later than it should. */
  readonly fateOf?: (message: Message) => { readonly copies: number; readonly lateMs: number };
}

/** A `Queue` in memory, and its consumer's side for a test that drives the functions itself. */
export interface MemoryQueue extends Queue {
  /** Takes up to `max` visible messages and hides them. What was received too often goes to its dead-letter queue instead. */
  receive(queue: string, max?: number): readonly Delivery[];
  /** Deletes it, if this is the latest delivery of the message: a late acknowledgement of an earlier one deletes nothing. */
  ack(delivery: Delivery): void;
  /** Shows it again, at once or later, if this is its latest delivery. */
  release(delivery: Delivery, delayMs?: number): void;
  visible(queue: string): number;
  inFlight(queue: string): number;
  /** Sent with a delay that is not over. */
  delayed(queue: string): number;
  /** The earliest instant after now at which a hidden message shows, of one queue or of all; `undefined` if none is hidden. */
  nextVisibleAtMs(queue?: string): number | undefined;
  /** Every message that is there, in any state, oldest first; of one queue or of all. */
  messages(queue?: string): readonly Delivery[];
  /** Names of queues that hold anything. */
  names(): readonly string[];
}

type Held = { readonly delivery: Delivery; readonly shownAtMs: number };

/** A standard queue as SQS has it: at least once, in no order, delays in whole seconds up to 900, redrive after too many receives. */
export function createMemoryQueue(options: MemoryQueueOptions): MemoryQueue {
  const { clock, random, hooks } = options;
  const visibilityMs = options.visibilityMs ?? 360_000;
  const maxReceiveCount = options.maxReceiveCount ?? 5;
  const held = new Map<string, Held>();
  let sequence = 0;

  function accept(message: Message): Sent {
    const fault = faultOfMessage(message);
    if (fault !== undefined) return { kind: "failed", fault: fault.data };
    const { delaySeconds = 0, ...rest } = message;
    const { copies, lateMs } = options.fateOf?.(message) ?? fateByRates();
    const sentAtMs = clock.nowMs();
    sequence += 1;
    for (let copy = 1; copy <= copies; copy++) {
      const id = copy === 1 ? `m${sequence}` : `m${sequence}-${copy}`;
      const delivery = Object.freeze({ ...rest, id, receiveCount: 0, sentAtMs });
      held.set(id, { delivery, shownAtMs: sentAtMs + toDelaySeconds(delaySeconds * 1000) * 1000 + lateMs });
    }
    return { kind: "sent" };
  }

  function fateByRates() {
    const isLost = random?.chance(options.lossRate ?? 0);
    return { copies: isLost ? 0 : random?.chance(options.duplicateRate ?? 0) ? 2 : 1, lateMs: 0 };
  }

  function within(queue: string | undefined, isWanted: (one: Held) => boolean = () => true): Held[] {
    return [...held.values()].filter((one) => (queue === undefined || one.delivery.queue === queue) && isWanted(one));
  }

  const isShown = (one: Held): boolean => one.shownAtMs <= clock.nowMs();

  return {
    async send(messages) {
      const call = { op: "send", messages: messages.map((message) => Object.freeze({ ...message })) } as const;
      const injected = await hooks?.before?.(call);
      const failed = (fault: Fault): readonly Sent[] => messages.map(() => ({ kind: "failed", fault: fault.data }));
      const lost = new Fault("unavailable", "The queue did not answer.");
      if (injected?.kind === "crash-before") return forever();
      if (injected?.kind === "fail") return failed(injected.fault);
      if (injected?.kind === "lose-request") return failed(lost);
      const sent = call.messages.map(accept);
      if (injected?.kind === "repeat") call.messages.map(accept);
      await hooks?.after?.(call);
      if (injected?.kind === "crash-after") return forever();
      return injected?.kind === "lose-reply" ? failed(lost) : sent;
    },
    async isBehind(queue) {
      return within(queue, isShown).length > 0;
    },
    receive(queue, max = 10) {
      const shown = within(queue, isShown);
      const received: Delivery[] = [];
      for (const { delivery, shownAtMs } of random ? random.shuffle(shown) : shown) {
        if (received.length === max) break;
        const dead = deadQueueOf(queue);
        if (dead !== undefined && delivery.receiveCount >= receivesMaxOf(queue, maxReceiveCount)) {
          held.set(delivery.id, { delivery: Object.freeze({ ...delivery, queue: dead }), shownAtMs });
          continue;
        }
        const next = Object.freeze({ ...delivery, receiveCount: delivery.receiveCount + 1 });
        held.set(delivery.id, { delivery: next, shownAtMs: clock.nowMs() + visibilityMs });
        received.push(next);
      }
      return received;
    },
    ack(delivery) {
      if (held.get(delivery.id)?.delivery === delivery) held.delete(delivery.id);
    },
    release(delivery, delayMs = 0) {
      if (held.get(delivery.id)?.delivery !== delivery) return;
      held.set(delivery.id, { delivery, shownAtMs: clock.nowMs() + delayMs });
    },
    visible: (queue) => within(queue, isShown).length,
    inFlight: (queue) => within(queue, (one) => !isShown(one) && one.delivery.receiveCount > 0).length,
    delayed: (queue) => within(queue, (one) => !isShown(one) && one.delivery.receiveCount === 0).length,
    nextVisibleAtMs(queue) {
      const instants = within(queue, (one) => !isShown(one)).map((one) => one.shownAtMs);
      return instants.length === 0 ? undefined : Math.min(...instants);
    },
    messages: (queue) => within(queue).map((one) => one.delivery),
    names: () => [...new Set(within(undefined).map((one) => one.delivery.queue))].sort(),
  };
}
