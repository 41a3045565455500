import type { Program } from "../../../lib/core/program.ts";
import type { Run } from "../../../lib/core/run.ts";
import type { Functions } from "../functions.ts";
import type { Changed, Committed } from "../journal.ts";
import type { People } from "../people.ts";
import type { World } from "../world.ts";

/** What a checker may look at. It knows nothing of how the engine decides. */
export interface Scene {
  readonly world: World;
  readonly functions: Functions;
  readonly people: People;
  readonly programs: ReadonlyMap<string, Program>;
}

/** Looks for one thing that must never be. Every method is told what has just happened, with `world.rows` as it was before. */
export interface Checker {
  /** A run's row changed, was created, or went. */
  onCommit?(commit: Committed): void;
  /** Any record changed, rows included. */
  onChange?(change: Changed): void;
  /** Now and then, in fair weather. */
  onSweep?(): void;
  /** Everything has come to its end: once for every run that is still there. */
  atEnd?(run: Run): void | Promise<void>;
}

export const same = (a: unknown, b: unknown): boolean => textOf(a) === textOf(b);

const textOf = (value: unknown) =>
  JSON.stringify(value, (_, field) => (field instanceof Uint8Array ? [...field] : field));
