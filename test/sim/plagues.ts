import { rowAttributes as a } from "../../lib/core/row-format.ts";
import { isLive } from "../../lib/core/run.ts";
import { commitState } from "../../lib/engine/records/state.ts";
import { withToken } from "../../lib/guard/mine.ts";
import type { Message, Write } from "../../lib/ports.ts";
import type { FaultKind } from "./faults.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/**
 * What befalls one run for good, or every call of one kind for a while. Single faults, however many, hardly ever meet the same run a
 * dozen times in a row: what the engine has against poison, livelocks and outages is reached by these alone.
 */
export interface Plagues {
  /** What becomes of this write. The statement that ends a run by force always comes through: no plague would show its effect else. */
  fateOf(write: Write): Fate | undefined;
  /** Nothing of this row's run moves: whoever commits it dies of it or is overtaken, or nothing is written or sent at all. */
  isStill(pk: string): boolean;
  /** No message is taken. */
  readonly isQueueDown: boolean;
  /** Whoever receives this task dies before it can look at it. */
  killsTask(message: Pick<Message, "taskKey">): boolean;
  /** Tells of whom a row killed. */
  readonly onKilled: ((process: Process, pk: string) => void)[];
}

/** `deadly`: its process dies before it, `fatal`: after it. `overtaken`: somebody else's commit comes first. */
export type Fate = "deadly" | "fatal" | "overtaken" | "moved" | "refused" | "unanswered";

const minuteMs = 60_000;

/** Plans the plagues of one simulation: which, from when, for how long. */
export function planPlagues(world: World, stormMs: number): Plagues {
  const { choices, timeline, profile } = world;
  const random = choices.random("plagues");
  const rows = new Map<string, Fate>();
  let writes: Fate | undefined;
  let isQueueDown = false;
  let task: string | undefined;

  /** Draws as many numbers whether or not it comes. */
  function plan(kind: FaultKind, share: number, begin: (number: number) => () => void): void {
    const [isDrawn, at, lasts] = [random.chance(profile.rates[kind]), random.fraction(), random.fraction()];
    const number = random.integer(12);
    if (!choices.takes(kind, isDrawn)) return;
    timeline.at(timeline.nowMs() + Math.round(stormMs * share * at), () => {
      world.noteFault(kind, "from now on");
      const end = begin(number);
      if (kind === "poison-row") return;
      timeline.at(timeline.nowMs() + Math.round((5 + 35 * lasts) * minuteMs), end);
    });
  }

  plan("poison-row", 0.4, (number) => {
    rows.set("default#r0", number % 2 === 0 ? "deadly" : "fatal");
    return () => undefined;
  });
  plan("poison-task", 0.3, (number) => {
    task = `:${number % 4}/`;
    return () => {
      task = undefined;
    };
  });
  plan("hot-row", 0.4, (number) => {
    const pk = `default#r${number % 2}`;
    if (!rows.has(pk)) rows.set(pk, number % 4 < 2 ? "overtaken" : "moved");
    return () => {
      const fate = rows.get(pk);
      if (fate === "overtaken" || fate === "moved") rows.delete(pk);
    };
  });
  plan("outage-table", 0.6, (number) => {
    writes = number % 2 === 0 ? "refused" : "unanswered";
    return () => {
      writes = undefined;
    };
  });
  plan("outage-queue", 0.6, () => {
    isQueueDown = true;
    return () => {
      isQueueDown = false;
    };
  });

  function fateOf(write: Write): Fate | undefined {
    const { kind, key } = write;
    if (kind !== "edit" || key.sk !== "STATE" || isByForce(write)) return undefined;
    const run = world.rows.get(key.pk);
    if (!run || !isLive(run)) return writes;
    const fate = rows.get(key.pk) ?? writes;
    // a row that kills whoever moves it, and whoever only looks at it a little later
    return fate === "fatal" && seqOf(write) !== run.transitionSeq ? "deadly" : fate;
  }

  return {
    fateOf,
    isStill: (pk) => rows.has(pk) || writes !== undefined || isQueueDown,
    get isQueueDown() {
      return isQueueDown;
    },
    killsTask: ({ taskKey }) => task !== undefined && taskKey.includes(task),
    onKilled: [],
  };
}

/** Whether a write ends a run by force. */
function isByForce(write: Write): boolean {
  if (write.kind !== "edit") return false;
  return write.edits.some(
    (edit) => edit.kind === "set" && edit.path[0] === a.reason && /^(?:stuck|livelock) /.test(String(edit.value)),
  );
}

function seqOf(write: Extract<Write, { readonly kind: "edit" }>): unknown {
  const found = write.edits.find((edit) => edit.kind === "set" && edit.path[0] === a.transitionSeq);
  return found?.kind === "set" ? found.value : undefined;
}

/** Somebody else's commit on this row: its version rises, and, if the run `hasMoved`, so does its transition. */
export function overtaking(world: World, pk: string, hasMoved: boolean, commitId: string): Write | undefined {
  const run = world.rows.get(pk);
  if (!run || !isLive(run)) return undefined;
  const next = { ...run, transitionSeq: run.transitionSeq + (hasMoved ? 1 : 0) };
  return commitState(run, { ...next, commitIds: withToken(commitId, run.commitIds) }, world.limits.retentionMs);
}
