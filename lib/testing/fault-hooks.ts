import type { Fault } from "../core/faults.ts";

/**
 * What a hook may do to a call.
 * - `fail`: the service answers with this fault; nothing is applied (a queue reports every message as failed).
 * - `lose-request`: nothing is applied and nobody can know; a write ends `unclear`.
 * - `lose-reply`: it is applied and nobody can know; a write ends `unclear`.
 * - `repeat`: it is applied, the reply is lost, and the client silently asks again: a write is answered by the second attempt, with
 *   `isClear` false; a queue holds every message twice.
 * - `crash-before`, `crash-after`: the process is gone, not applied or applied; the call never settles.
 */
export type Injection =
  | { readonly kind: "fail"; readonly fault: Fault }
  | { readonly kind: "lose-request" | "lose-reply" | "repeat" | "crash-before" | "crash-after" };

/** Called around every operation of a memory adapter. A hook that returns a promise makes the call wait: that is how to pause one. */
export interface Hooks<Call> {
  before?(call: Call): Injection | undefined | Promise<Injection | undefined>;
  /** After the operation was applied, before its caller hears of it. What it throws, the caller meets. */
  after?(call: Call): unknown;
}

/** What a call of a process that is gone awaits. */
export function forever(): Promise<never> {
  return new Promise(() => {});
}
