import type { Program } from "../core/program.ts";
import { isLive, type Run } from "../core/run.ts";

/**
 * Something that a run waits for, by its node: a person (`gate`), a message (`signal`), somebody who completes it (`external`), time
 * (`sleep`), a worker (`step`), another run (`child`), or a deploy that brings what it needs (`deploy`).
 */
export interface Waiting {
  readonly kind: "gate" | "signal" | "external" | "sleep" | "step" | "child" | "deploy";
  readonly name: string;
}

/** What a run waits for, each node once, in the order of the definition. */
export function waitingOf(run: Run, program: Program, nowMs: number): readonly Waiting[] {
  if (!isLive(run)) return [];
  const found = new Map<string, Waiting>();
  for (const entry of [...run.active].sort((a, b) => a.node - b.node)) {
    const def = program.nodes[entry.node]?.def;
    if (!def) continue;
    const kind = kindOf(entry.state, def.kind === "external" && entry.sinceMs <= nowMs);
    if (kind) found.set(`${kind} ${def.name}`, { kind, name: def.name });
  }
  return [...found.values()];
}

function kindOf(state: Run["active"][number]["state"], isExternal: boolean): Waiting["kind"] | undefined {
  switch (state) {
    case "task":
    case "held":
      return isExternal ? "external" : "step";
    case "parked":
      return "deploy";
    case "unwanted":
      return undefined;
    default:
      return state;
  }
}

/** Whether nothing of a run moves by itself: everything that it waits for, somebody else has to do. */
export function isWaitingForSomebody(run: Run, program: Program, nowMs: number): boolean {
  const waiting = waitingOf(run, program, nowMs);
  return waiting.length > 0 && waiting.every(({ kind }) => kind !== "sleep" && kind !== "step");
}
