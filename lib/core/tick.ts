import { takeCommands } from "./commands.ts";
import { change, type Draft, draftOf, dropFacts, type Notes, node, reasonLeft, stateOf, transition } from "./draft.ts";
import { dueOf } from "./due.ts";
import { compensate, nextToUndo, windDown } from "./ending.ts";
import type { Ending, Inputs } from "./inputs.ts";
import { attemptName } from "./keys.ts";
import { fixed, type Limits } from "./limits.ts";
import { examine, open } from "./nodes/kinds.ts";
import { advanceMap } from "./nodes/map.ts";
import { failRun } from "./nodes/settle.ts";
import { giveUpHead } from "./nodes/signal.ts";
import { reopenClosed } from "./nodes/step.ts";
import type { Program, ProgramNode } from "./program.ts";
import { type Active, isLive, type Run } from "./run.ts";

/** The next run (the same reference: nothing to do, nothing to write), or the attempts that must be ended before it can say. */
export type Ticked =
  | { readonly kind: "next"; readonly run: Run; readonly notes: Readonly<Notes> }
  | { readonly kind: "close"; readonly endings: readonly Ending[] };

/**
 * The only state transition. Pure: the same row, inputs and instant give the same answer in every process, so whoever loses a
 * race reloads and computes again. Throws a `Fault` `bad-row` for a row that this definition cannot have.
 */
export function tick(run: Run, program: Program, inputs: Inputs, nowMs: number, limits: Limits): Ticked {
  const draft = draftOf(run, program, inputs, limits, nowMs);
  if (isLive(run)) live(draft);
  if (draft.endings.length > 0) return { kind: "close", endings: endingsOf(draft) };
  return { kind: "next", run: finished(draft), notes: draft.notes };
}

/** An attempt is asked to end once, and the first reason that was found is the one. */
function endingsOf(draft: Draft): readonly Ending[] {
  const byName = new Map<string, Ending>();
  for (const ending of draft.endings) {
    const name = attemptName(ending.node, ending.index, ending.attempt);
    if (!byName.has(name)) byName.set(name, ending);
  }
  return [...byName.values()];
}

function live(draft: Draft): void {
  const isTerminated = takeCommands(draft);
  for (const entry of draft.base.active) if (draft.active.includes(entry)) examine(draft, entry);
  if (isTerminated) return endAtOnce(draft, "terminated");
  if (isOverdue(draft)) return endAtOnce(draft, "failed");
  checkBounds(draft);
  proceed(draft);
  giveUpHead(draft);
  if (draft.endings.length === 0 && !draft.run.ending && isLive(draft.run)) succeed(draft);
}

/**
 * Opens what has become ready, and takes what that opening can take at once, until nothing moves. A node for which there is no
 * room waits for it: whoever ends with a full row looks at every node the next time.
 */
function proceed(draft: Draft): void {
  if (draft.base.transitionSeq === 0 || draft.base.active.length >= fixed.activeMax)
    draft.ready.push(...draft.program.nodes.keys());
  for (let moved = -1; moved !== draft.transitions && !draft.run.ending; ) {
    moved = draft.transitions;
    draft.ready.push(...draft.crowded.splice(0));
    while (draft.ready.length > 0 && !draft.run.ending) open(draft, draft.ready.shift() as number);
    for (const frame of [...draft.maps]) advance(draft, node(draft, frame.node));
    for (const entry of [...draft.active]) if (isTakenAtOnce(draft, entry)) examine(draft, entry);
    if (!draft.run.ending) windDown(draft, { isAtOnce: false });
    if (draft.endings.length > 0) return;
  }
  if (draft.run.ending) windDown(draft, { isAtOnce: false });
  else for (const entry of [...draft.active]) reopenClosed(draft, node(draft, entry.node), entry);
  if (draft.endings.length === 0) compensate(draft);
}

/** What was opened in this very tick and is answered already: by mail that waited, by a holder that ran ahead of its commit. */
function isTakenAtOnce(draft: Draft, entry: Active): boolean {
  if (entry.state === "signal") return true;
  return entry.state === "held" && entry.token === draft.inputs.held?.token && draft.inputs.held.results.length > 0;
}

function advance(draft: Draft, owner: ProgramNode): void {
  if (owner.def.kind === "map") advanceMap(draft, owner, owner.def);
}

/** Ends the run without undoing anything; what was not claimed is closed first, so that it cannot begin. */
function endAtOnce(draft: Draft, phase: "failed" | "terminated"): void {
  windDown(draft, { isAtOnce: true });
  if (draft.endings.length > 0) return;
  const isUncompensated = draft.run.isUncompensated || nextToUndo(draft) !== undefined;
  if (isUncompensated) draft.notes.uncompensated += 1;
  transition(draft, { phase, ending: undefined, isUncompensated });
}

/** The deadline fires in every live status: first as a failure with its compensations, then, at least a day later, for good. */
const isOverdue = (draft: Draft) => draft.run.ending !== undefined && draft.nowMs >= draft.run.deadlineAtMs;

function checkBounds(draft: Draft): void {
  const { run, limits, nowMs } = draft;
  if (run.ending) return;
  if (nowMs >= run.deadlineAtMs) {
    change(draft, { isPaused: false });
    failRun(draft, { code: "deadline", message: "the run reached its deadline" });
  } else if (run.recordVersion >= limits.ticksMax)
    failRun(draft, { code: "budget", message: `more than ${limits.ticksMax} commits` });
  else if (run.attempts > limits.attemptsMax)
    failRun(draft, { code: "budget", message: `more than ${limits.attemptsMax} attempts` });
}

function succeed(draft: Draft): void {
  if (draft.maps.length > 0 || draft.active.some((entry) => entry.state !== "unwanted")) return;
  for (let position = 0; position < draft.program.visibleCount; position++) {
    if (stateOf(draft, position) === "pending") return;
  }
  transition(draft, { phase: "succeeded" });
}

/** The draft as a run: the same reference if nothing changed. */
function finished(draft: Draft): Run {
  const { base, nowMs, limits } = draft;
  if (draft.isChanged) dropFacts(draft);
  const isEnded = isLive(base) && !isLive(draft.run);
  const run: Run = {
    ...draft.run,
    reason: reasonLeft(draft),
    transitionSeq: base.transitionSeq + draft.transitions,
    nodes: draft.nodes,
    active: isEnded ? draft.active.filter((entry) => entry.state === "unwanted") : draft.active,
    maps: isEnded ? [] : draft.maps,
    facts: isEnded ? new Map() : draft.facts,
    tiny: draft.tiny,
    isParked: isLive(draft.run) && draft.active.length > 0 && draft.active.every((entry) => entry.state === "parked"),
    endedAtMs: isEnded ? nowMs : base.endedAtMs,
  };
  const due = dueOf(run, base.due, nowMs, limits);
  if (!draft.isChanged && due === base.due) return base;
  return { ...run, due };
}
