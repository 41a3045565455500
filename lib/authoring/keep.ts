import type { Work } from "./callee.ts";
import type { Signal } from "./signal.ts";

/** What can be kept for runs in flight that still need it: a step that no workflow calls any more, a signal that none waits for. */
export type Kept = Work | Signal<never, unknown>;

/** The steps among what is kept. */
export const worksOf = (keep: readonly Kept[] = []): readonly Work[] =>
  keep.filter((each): each is Work => each.kind !== "signal");

/** The signals among what is kept. */
export const signalsOf = (keep: readonly Kept[] = []): readonly Signal<never, unknown>[] =>
  keep.filter((each): each is Signal<never, unknown> => each.kind === "signal");
