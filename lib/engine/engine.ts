import type { Limits } from "../core/limits.ts";
import type { Program } from "../core/program.ts";
import type { Registry } from "../core/registry.ts";
import type { Clock, Events, Log, Metrics, PayloadStore, Queue, Random, RunStore } from "../ports.ts";

/** What every verb of the engine works with. Composition roots build it once per process. */
export interface Engine {
  readonly store: RunStore;
  readonly queue: Queue;
  readonly payloads: PayloadStore;
  /** Absent: nothing is published, and nothing is owed for it. */
  readonly events?: Events | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly registry: Registry;
  readonly limits: Limits;
  /** Names this deploy: strikes of another build do not count. */
  readonly build: string;
  /** Programs by definition hash, and hashes known to be stored: filled as they are met. */
  readonly programs: Map<string, Program>;
  readonly stored: Set<string>;
}

export type EngineParts = Omit<Engine, "programs" | "stored">;

export function createEngine(parts: EngineParts): Engine {
  const limits = { ...parts.limits, isPublishing: parts.events !== undefined };
  return { ...parts, limits, programs: new Map(), stored: new Set() };
}

/** A run's address. */
export interface RunRef {
  readonly tenant: string;
  readonly runId: string;
}
