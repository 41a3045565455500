import { Fault, type FaultCode } from "../../lib/core/faults.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { createProcess } from "./process.ts";
import type { World } from "./world.ts";

/** What somebody outside heard. Silence: the process died, or took too long. */
export type Answer<T> =
  | { readonly kind: "ok"; readonly value: T; readonly atMs: number }
  | { readonly kind: "fault"; readonly fault: Fault; readonly atMs: number }
  | { readonly kind: "silence" };

/** People and programs outside: each call is a process of its own, and who hears nothing asks again. */
export interface Clients {
  /** One call. */
  ask<T>(place: string, call: (engine: Engine) => Promise<T>): Promise<Answer<T>>;
  /** Asks until there is an answer: success, or a fault that will not go away. */
  insist<T>(
    place: string,
    call: (engine: Engine) => Promise<T>,
    isEnough?: (code: FaultCode) => boolean,
  ): Promise<Answer<T>>;
  /** Does something later; the simulation is not over before it is done. */
  later(afterMs: number, does: () => Promise<unknown>): void;
  readonly pending: number;
}

/** An API call is given up, and its function ended, after this. */
const callMs = 30_000;
const passing = new Set<FaultCode>([
  "unavailable",
  "throttled",
  "denied",
  "mailbox-full",
  "newer-format",
  "unknown-definition",
]);
/** Whether a fault will not go away by asking again. */
export const isFinal = (code: FaultCode): boolean => !passing.has(code);

export function createClients(world: World): Clients {
  const { timeline, choices } = world;
  let pending = 0;

  async function ask<T>(place: string, call: (engine: Engine) => Promise<T>): Promise<Answer<T>> {
    return await new Promise((resolve) => {
      const process = createProcess(world, `api ${place}`, () => resolve({ kind: "silence" }));
      const timer = timeline.at(timeline.nowMs() + callMs, () => void process.die("it took too long"));
      const ended = (answer: Answer<T>) => {
        timer();
        resolve(answer);
      };
      const atMs = timeline.nowMs;
      call(process.engine).then(
        (value) => ended({ kind: "ok", value, atMs: atMs() }),
        (error: unknown) => {
          if (Fault.is(error)) return ended({ kind: "fault", fault: error, atMs: atMs() });
          world.violate(0, `${place} threw ${error instanceof Error ? error.stack : String(error)}`);
          ended({ kind: "silence" });
        },
      );
    });
  }

  return {
    ask,
    async insist(place, call, isEnough = isFinal) {
      const random = choices.random(`patience ${place}`);
      world.calling += 1;
      for (let again = 0; ; again++) {
        const answer = await ask(place, call);
        world.trace(() => `${place}: ${answer.kind === "fault" ? answer.fault.code : answer.kind}`);
        if (answer.kind === "ok" || (answer.kind === "fault" && isEnough(answer.fault.code))) {
          world.calling -= 1;
          return answer;
        }
        await timeline.sleep(1000 * Math.min(600, 2 ** again) * (0.5 + random.fraction()));
      }
    },
    later(afterMs, does) {
      pending += 1;
      timeline.at(timeline.nowMs() + afterMs, () => {
        does().then(
          () => {
            pending -= 1;
          },
          (error: unknown) => {
            pending -= 1;
            world.violate(0, `a client threw ${error instanceof Error ? error.stack : String(error)}`);
          },
        );
      });
    },
    get pending() {
      return pending;
    },
  };
}
