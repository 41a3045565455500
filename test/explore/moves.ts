import { envelopeFrom } from "../../lib/core/envelope.ts";
import { Fault } from "../../lib/core/faults.ts";
import { hashText } from "../../lib/core/hash.ts";
import { attemptName } from "../../lib/core/keys.ts";
import { deadQueueOf, receivesMaxOf } from "../../lib/core/queue-names.ts";
import { rowAttributes } from "../../lib/core/row-format.ts";
import { isLive } from "../../lib/core/run.ts";
import { queues } from "../../lib/engine/messages.ts";
import { watch } from "../../lib/engine/watch.ts";
import type { Received } from "../../lib/ports/received.ts";
import type { Fields, Key } from "../../lib/ports.ts";
import type { Answer, Call } from "./call.ts";
import { consumerInWords, consumerOf, defectsOf, functionMs, handedBack } from "./consumers.ts";
import type { Invocation, Position, Processes, Waiting } from "./process.ts";
import { isOpenClaim, runOf } from "./records.ts";
import type { Scope } from "./scope.ts";
import { type Change, type Manner, type Served, serve } from "./serve.ts";
import type { Contents, Faults, Held, Running, State, StoredText } from "./state.ts";
import { callInWords, changesInWords } from "./words.ts";

/** Something that can happen next. */
export interface Move {
  readonly label: () => string;
  readonly make: () => Made | Promise<Made>;
}

/** The state after a move, and what a checker looks at. */
export interface Made {
  readonly state: State;
  readonly changes: readonly Change[];
  /** The move itself was wrong: a verb threw, an error was logged. */
  readonly faults: readonly string[];
  /** What the call came to, in words. */
  readonly outcome?: string;
}

export interface Stage {
  readonly scope: Scope;
  readonly contents: Contents;
  readonly processes: Processes;
  readonly startMs: number;
  /** What may happen is over by then. */
  readonly endMs: number;
}

const minuteMs = 60_000;
const visibilityMs = 3_600_000;

/** Everything that can happen next, in an order that depends on the state alone: its numbers are what a replay is made of. */
export function movesOf(stage: Stage, state: State): readonly Move[] {
  const moves: Move[] = [];
  const first = commuting(stage, state);
  for (const process of first ? [first] : state.running) {
    if (process.position.result) moves.push(...endings(state, process));
    else if (isDeadly(stage, process)) moves.push(...crashes(stage, state, process, state.left));
    else for (const waiting of process.position.waiting) moves.push(...servings(stage, state, process, waiting));
    if (mayDie(stage, state, process))
      moves.push(...crashes(stage, state, process, { ...state.left, crash: state.left.crash - 1 }));
  }
  if (first) return moves;
  const isIdle = state.running.every(({ position }) => isAsleep(state, position));
  moves.push(...deliveries(stage, state), ...batches(stage, state), ...calls(stage, state));
  // all who could take a message may be asleep
  const isTaker = hasSlot(stage, state);
  const isNothingToDo = isIdle && !(isTaker && state.messages.some((held) => isDeliverable(stage, state, held)));
  if (isWatchDue(stage, state) && (isNothingToDo || stage.scope.isWatchdogAnytime)) moves.push(look(stage, state));
  else if (isNothingToDo) moves.push(...passing(stage, state, state.left));
  if (!isNothingToDo && state.left.slow > 0)
    moves.push(...passing(stage, state, { ...state.left, slow: state.left.slow - 1 }));
  return moves;
}

/**
 * A process whose next move commutes with every move of all others, now and until it is made: it may as well be made first, in each
 * way it can go (partial order reduction; the set is persistent). That is a sending, or an acknowledgement: nobody looks at messages
 * but who receives others, and who asks whether a queue is behind, which nobody does where nothing is overdue. Time must stand still
 * meanwhile, as it does while somebody is at work and nobody may be slow.
 */
function commuting(stage: Stage, state: State): Running | undefined {
  if (state.left.slow > 0 || stage.scope.isWatchdogAnytime) return undefined;
  const fits = ({ position: { result, waiting } }: Running) =>
    result !== undefined || (waiting.length === 1 && waiting[0]?.call.op === "send");
  const process = state.running.find(fits);
  if (!process || state.running.some(({ label }) => label === "watchdog")) return undefined;
  return duesOf(stage, state).some((atMs) => atMs <= state.nowMs) ? undefined : process;
}

const isDeadly = ({ scope }: Stage, { position }: Running) =>
  scope.kills !== undefined && position.waiting.some(({ call }) => scope.kills?.(call));

/** Whoever calls from outside and dies has no answer: only the watchdog finds what was begun. */
const mayDie = (stage: Stage, state: State, process: Running) =>
  state.left.crash > 0 &&
  !isDeadly(stage, process) &&
  (process.outside === undefined || stage.scope.hasWatchdog !== false);

/** Whether all that a process waits for is time. */
const isAsleep = (state: State, position: Position) =>
  !position.result &&
  position.waiting.length > 0 &&
  position.waiting.every(({ call }) => call.op === "sleep" && call.untilMs > state.nowMs);

/** A call whose answer nobody can change any more, or an eventually consistent one: nothing need come between. */
function isAtOnce(stage: Stage, state: State, call: Call): boolean {
  if (call.op === "find") return true;
  if (call.op !== "read" || call.keys.length === 0) return false;
  return call.keys.every(
    ({ pk, sk }) =>
      pk.startsWith("#") ||
      (/^(IN|OUT|ITEM)#/.test(sk) &&
        state.records.some((id) => {
          const { key } = stage.contents.of(id);
          return key.pk === pk && key.sk === sk;
        })),
  );
}

function servings(stage: Stage, state: State, process: Running, waiting: Waiting): readonly Move[] {
  const { call } = waiting;
  if (call.op === "sleep" && call.untilMs > state.nowMs) return [];
  const manners = process.again === waiting.number ? ([["again", state.left]] as const) : mannersOf(state, call);
  return manners.map(([manner, left]): Move => {
    let served: Served | undefined;
    const serving = () => {
      served ??= serve(stage.contents, { ...state, left }, call, manner);
      return served;
    };
    return {
      label: () => {
        const { outcome, changes } = serving();
        const how = [outcome, ...changesInWords(changes)].filter(Boolean).join("; ");
        return `${process.label}: ${callInWords(call)}${manner === "stale" ? ", stale" : manner === "again" ? " again" : ""}${how && ` -> ${how}`}`;
      },
      make: () => {
        const { state: after, answer, changes } = serving();
        const faults = [...lostCommits(process, changes), ...blindClaims(stage, after, process, changes)];
        const { again: _, ...seen } = seeing(process, call, answer, changes);
        if (manner !== "repeat") return stepped(stage, after, seen, waiting.number, answer, changes, faults);
        const now: Running = { ...seen, again: waiting.number };
        return { state: { ...after, running: running(after, now) }, changes, faults };
      },
    };
  });
}

function mannersOf(state: State, call: Call): readonly (readonly [Manner, Faults])[] {
  const { left } = state;
  const all: (readonly [Manner, Faults])[] = [["well", left]];
  const canLose = call.op === "write" || call.op === "send";
  if (canLose && left.lostReply > 0) all.push(["lost-reply", { ...left, lostReply: left.lostReply - 1 }]);
  if (call.op === "write" && left.repeat > 0) all.push(["repeat", { ...left, repeat: left.repeat - 1 }]);
  if (canLose && left.lostRequest > 0) all.push(["lost-request", { ...left, lostRequest: left.lostRequest - 1 }]);
  const canThrottle = canLose || call.op === "read" || call.op === "list";
  if (canThrottle && left.throttle > 0) all.push(["throttled", { ...left, throttle: left.throttle - 1 }]);
  const isLoose = (call.op === "read" || call.op === "list") && !call.isConsistent;
  if (isLoose && left.stale > 0) all.push(["stale", { ...left, stale: left.stale - 1 }]);
  return all;
}

const running = (state: State, now: Running) => state.running.map((each) => (each.name === now.name ? now : each));

function stepped(
  stage: Stage,
  after: State,
  process: Running,
  number: number,
  answer: Answer,
  changes: readonly Change[],
  faults: readonly string[],
): Made | Promise<Made> {
  const next = stage.processes.step(process.position, number, answer, after.nowMs);
  return next instanceof Promise
    ? next.then((position) => moved(stage, after, process, position, changes, faults))
    : moved(stage, after, process, next, changes, faults);
}

/** What a process knows of rows: the versions that it was shown, and those that it made. */
function seeing(process: Running, call: Call, answer: Answer, changes: readonly Change[]): Running {
  const shown: (readonly [string, number])[] = [];
  if (call.op === "list" && !answer.error) {
    const { items } = answer.value as { readonly items: readonly (Fields & Key)[] };
    for (const { pk, sk, ...fields } of items) if (sk === "STATE") shown.push([pk, versionOf(fields)]);
  }
  if (call.op === "read" && !answer.error)
    for (const [at, fields] of (answer.value as readonly (Fields | undefined)[]).entries()) {
      const key = call.keys[at];
      if (fields && key?.sk === "STATE") shown.push([key.pk, versionOf(fields)]);
    }
  for (const { write, now } of changes)
    if (write.key.sk === "STATE" && now) shown.push([write.key.pk, versionOf(now.fields)]);
  return shown.length === 0 ? process : { ...process, saw: new Map([...process.saw, ...shown]) };
}

const versionOf = (fields: Fields) => Number(fields[rowAttributes.recordVersion]);

/** Invariant 1: whoever writes a row has seen what it writes over, or that commit is lost. */
function lostCommits({ saw, label }: Running, changes: readonly Change[]): readonly string[] {
  return changes.flatMap(({ write, before, now }) => {
    if (write.key.sk !== "STATE" || !before || !now) return [];
    const version = versionOf(before.fields);
    const seen = saw.get(write.key.pk);
    return seen === version
      ? []
      : [`${label} has seen version ${seen} and writes over version ${version}: a commit is lost`];
  });
}

/** A worker that has seen that the run is paused, or has ended, and claims all the same. */
function blindClaims(
  stage: Stage,
  state: State,
  { saw, label }: Running,
  changes: readonly Change[],
): readonly string[] {
  return changes.flatMap(({ write, before, now }) => {
    const isClaim = write.key.sk.startsWith("ATT#") && !before && now && isOpenClaim(now.fields);
    const row = state.records.map((id) => stage.contents.of(id)).find((each) => isRowOf(each, write.key.pk));
    if (!isClaim || !row || saw.get(write.key.pk) !== versionOf(row.fields)) return [];
    const run = runOf(row);
    if (run.runUid !== now.fields[rowAttributes.runUid]) return [];
    if (run.isPaused) return [`${label} has seen that the run is paused, and claims`];
    return isLive(run) ? [] : [`${label} has seen that the run has ended, and claims`];
  });
}

const isRowOf = ({ key }: StoredText, pk: string) => key.pk === pk && key.sk === "STATE";

function moved(
  stage: Stage,
  state: State,
  process: Running,
  position: Position,
  changes: readonly Change[],
  faults: readonly string[],
): Made | Promise<Made> {
  const wrong = [...faults, ...wrongIn(stage, process, position)];
  const now: Running = { ...process, position };
  const next = { ...state, running: running(state, now) };
  const atOnce = position.waiting.find(({ call }) => isAtOnce(stage, next, call));
  if (atOnce) {
    const served = serve(stage.contents, next, atOnce.call, "well");
    const step = stage.processes.step(position, atOnce.number, served.answer, next.nowMs);
    return step instanceof Promise
      ? step.then((further) => moved(stage, served.state, now, further, changes, wrong))
      : moved(stage, served.state, now, step, changes, wrong);
  }
  // without crashes, and time standing still, nobody can tell when it ends
  const isPlain = state.left.crash === 0 && state.left.slow === 0;
  if (position.result && (isPlain || process.outside !== undefined))
    return { state: ended(next, now), changes, faults: wrong };
  return { state: next, changes, faults: wrong };
}

function wrongIn(stage: Stage, process: Running, position: Position): readonly string[] {
  if (stage.scope.isRough) return [];
  const { result } = position;
  // a caller is told; a watchdog whose message was not taken looks again in a minute; consumers hand back by name, and never throw
  const mayThrow = process.outside !== undefined || process.label === "watchdog";
  const isUnmeant = result?.kind === "threw" && !(mayThrow && Fault.is(result.error));
  return [
    ...position.errors.map((error) => `${process.label} logs an error: ${error}`),
    ...defectsOf(position).map((defect) => `${process.label}: ${defect}`),
    ...(isUnmeant ? [`${process.label} throws ${String(result.error)}`] : []),
  ];
}

/** The end of a process: its message is acknowledged or handed back, its caller has an answer. */
function endings(state: State, process: Running): readonly Move[] {
  return [
    {
      label: () => {
        const back = handedBack(state, process);
        return `${process.label}: ends, and ${back.size > 0 ? `hands back ${back.size}` : "acknowledges"}`;
      },
      make: () => ({ state: ended(state, process), changes: [], faults: [] }),
    },
  ];
}

function ended(state: State, process: Running): State {
  const running = state.running.filter(({ name }) => name !== process.name);
  if (process.outside !== undefined) {
    const answers = state.answers.map((answer, at) => (at === process.outside ? answerOf(process.position) : answer));
    return { ...state, running, answers };
  }
  const back = handedBack(state, process);
  const messages = state.messages.flatMap((held) => {
    if (held.holder !== process.name) return [held];
    return back.has(held.receipt) ? [{ ...held, holder: "", receipt: "", shownAtMs: state.nowMs }] : [];
  });
  return { ...state, running, messages };
}

function answerOf({ result }: Position): string {
  if (result?.kind === "returned") {
    const value = result.value as { readonly seq?: number; readonly isRepeat?: boolean } | undefined;
    return `ok${value?.seq === undefined ? "" : ` ${value.seq}`}${value?.isRepeat ? " again" : ""}`;
  }
  return Fault.is(result?.error) ? result.error.code : String(result?.error);
}

function crashes(stage: Stage, state: State, process: Running, left: Faults): readonly Move[] {
  const running = state.running.filter((each) => each !== process);
  const holds = state.messages.some(({ holder }) => holder === process.name);
  const ways = holds ? (stage.scope.comesBack ?? (["at once"] as const)) : (["at once"] as const);
  return ways.map((way) => ({
    label: () => {
      const before = process.position.result
        ? "its acknowledgement"
        : process.position.waiting.map(({ call }) => callInWords(call)).join(" and ");
      return `${process.label}: DIES before ${before}${holds ? `; its message comes back ${way}` : ""}`;
    },
    make: () => ({
      state: {
        ...state,
        left,
        running,
        messages: state.messages.map((held) =>
          held.holder === process.name
            ? { ...held, holder: "", receipt: "", shownAtMs: way === "at once" ? state.nowMs : held.shownAtMs }
            : held,
        ),
      },
      changes: [],
      faults: [],
    }),
  }));
}

const isDeliverable = (stage: Stage, state: State, held: Held) =>
  held.shownAtMs <= state.nowMs && stage.contents.messageOf(held.text).queue !== queues.dead;

/** Until a deploy is done both builds are at work. */
const hasOldBuild = ({ scope }: Stage, { answers }: State) =>
  scope.lacks !== undefined && answers[(scope.outside ?? []).findIndex(({ name }) => name === "deploy")] === undefined;

const hasSlot = ({ scope }: Stage, { running }: State) =>
  running.filter(({ outside }) => outside === undefined).length < (scope.slots ?? 2);

function deliveries(stage: Stage, state: State): readonly Move[] {
  if (!hasSlot(stage, state)) return [];
  const moves: Move[] = [];
  const seen = new Set<string>();
  for (const held of state.messages) {
    const isEarly = held.shownAtMs > state.nowMs && held.holder === "" && held.receives === 0;
    if (!isDeliverable(stage, state, isEarly && state.left.early > 0 ? { ...held, shownAtMs: state.nowMs } : held))
      continue;
    // copies that nobody can tell apart are one
    const name = `${held.text}/${held.receives}/${held.shownAtMs}`;
    if (seen.has(name)) continue;
    seen.add(name);
    if (isEarly) {
      moves.push(delivery(stage, { ...state, left: { ...state.left, early: state.left.early - 1 } }, held, false));
      continue;
    }
    moves.push(delivery(stage, state, held, false));
    if (hasOldBuild(stage, state) && !isTooOften(stage, held)) moves.push(delivery(stage, state, held, false, true));
    if (state.left.duplicate > 0) moves.push(delivery(stage, state, held, true));
    if (state.left.lostMessage > 0) moves.push(loss(stage, state, held));
  }
  return moves;
}

function loss(stage: Stage, state: State, held: Held): Move {
  return {
    label: () => `${messageInWords(stage, held)}: LOST`,
    make: () => ({
      state: {
        ...state,
        left: { ...state.left, lostMessage: state.left.lostMessage - 1 },
        messages: state.messages.filter((each) => each !== held),
      },
      changes: [],
      faults: [],
    }),
  };
}

function delivery(stage: Stage, state: State, held: Held, isCopy: boolean, isOld = false): Move {
  const text = stage.contents.messageOf(held.text);
  const dead = deadQueueOf(text.queue);
  if (dead !== undefined && isTooOften(stage, held)) {
    const moved: Held = { ...held, text: stage.contents.text({ ...text, queue: dead }), holder: "", receipt: "" };
    return {
      label: () => `${messageInWords(stage, held)}: received too often, goes to ${dead}`,
      make: () => ({
        state: { ...state, messages: state.messages.map((each) => (each === held ? moved : each)) },
        changes: [],
        faults: stage.scope.isRough || dead === queues.deadTask ? [] : [`a message ends in the queue ${dead}`],
      }),
    };
  }
  const next = isCopy ? { ...state, left: { ...state.left, duplicate: state.left.duplicate - 1 } } : state;
  return receipt(stage, next, [held], isCopy, isOld);
}

const isTooOften = ({ contents, scope }: Stage, held: Held) => {
  const { queue } = contents.messageOf(held.text);
  return deadQueueOf(queue) !== undefined && held.receives >= receivesMaxOf(queue, scope.maxReceives ?? 5);
};

/** Two wake-ups of one queue, received at once by one function. */
function batches(stage: Stage, state: State): readonly Move[] {
  if (stage.scope.batch !== 2 || !hasSlot(stage, state)) return [];
  const shown = state.messages.filter((held) => isDeliverable(stage, state, held) && !isTooOften(stage, held));
  return shown.flatMap((one, at) =>
    shown.slice(at + 1).flatMap((other) => {
      const [{ queue }, { queue: same }] = [stage.contents.messageOf(one.text), stage.contents.messageOf(other.text)];
      return queue === same && queue.startsWith("wake:") ? [receipt(stage, state, [one, other], false)] : [];
    }),
  );
}

/** A function receives messages of one queue. */
function receipt(stage: Stage, state: State, batch: readonly Held[], isCopy: boolean, isOld = false): Move {
  const { contents, scope } = stage;
  const taken = new Map(state.taken);
  const shownAtMs = state.nowMs + (scope.visibilityMs ?? visibilityMs);
  const received = batch.map((held) => {
    const text = contents.messageOf(held.text);
    const receives = held.receives + 1;
    const base = `${text.queue}#${hashText(`${text.body} ${text.taskKey}`).toString(36)}.${receives}`;
    const nth = (taken.get(base) ?? 0) + 1;
    taken.set(base, nth);
    return { held, text, receives, id: `${base}.${nth}`, label: consumerInWords(text, receives, nth) };
  });
  const name = `${isOld ? "old " : ""}${received.map(({ id }) => id).join("+")}`;
  const label = `${isOld ? "old " : ""}${received.map((each) => each.label).join("+")}`;
  const takenBy = new Map(
    received.map(({ held, receives, id }) => [held, { ...held, receives, holder: name, receipt: id, shownAtMs }]),
  );
  const messages = isCopy
    ? [...state.messages, ...takenBy.values()]
    : state.messages.map((each) => takenBy.get(each) ?? each);
  const queue = received[0]?.text.queue ?? "";
  const all = received.map(
    ({ id, text, receives }): Received => ({ id, body: text.body, receiveCount: receives, taskKey: text.taskKey }),
  );
  return {
    label: () =>
      `${label}: receives ${batch.map((held) => messageInWords(stage, held)).join(" and ")}${isCopy ? ", of which a COPY stays" : ""}`,
    make: () =>
      begun(
        stage,
        { ...state, taken, messages },
        { name, label, outside: undefined },
        { ...consumerOf(queue, all, name, state), isOld },
      ),
  };
}

async function begun(
  stage: Stage,
  state: State,
  who: Omit<Running, "position" | "saw">,
  invocation: Invocation,
  faults: readonly string[] = [],
): Promise<Made> {
  const position = await stage.processes.begin(invocation, state.nowMs);
  const process: Running = { ...who, position, saw: new Map() };
  return await moved(stage, { ...state, running: [...state.running, process] }, process, position, [], faults);
}

function calls(stage: Stage, state: State): readonly Move[] {
  return (stage.scope.outside ?? []).flatMap((outside, number): Move[] => {
    if (state.isBegun[number]) return [];
    const after = stage.scope.outside?.findIndex(({ name }) => name === outside.after) ?? -1;
    if (after >= 0 && state.answers[after] === undefined) return [];
    if (outside.isReady && !outside.isReady(state.records.map((id) => stage.contents.of(id)))) return [];
    const next = { ...state, isBegun: state.isBegun.map((is, at) => is || at === number) };
    const invocation: Invocation = {
      name: outside.name,
      endAtMs: state.nowMs + functionMs,
      begin: (engine) => outside.call(engine),
    };
    return [
      {
        label: () => `${outside.name}: calls`,
        make: () => begun(stage, next, { name: outside.name, label: outside.name, outside: number }, invocation),
      },
    ];
  });
}

const duesOf = (stage: Stage, state: State) =>
  state.records.flatMap((id) => {
    const { fields } = stage.contents.of(id);
    return /^[DP]/.test(String(fields["q"] ?? "")) ? [Number(fields["d"])] : [];
  });

function isWatchDue(stage: Stage, state: State): boolean {
  return (
    stage.scope.hasWatchdog !== false &&
    state.nowMs >= state.watchedAtMs + minuteMs &&
    !state.running.some(({ name }) => name.startsWith("watchdog")) &&
    (isAnyParked(stage, state) || duesOf(stage, state).some((atMs) => atMs <= state.nowMs))
  );
}

/** What is parked is looked at by whoever knows that a build is new. */
const isAnyParked = ({ contents }: Stage, { records }: State) =>
  records.some((id) => String(contents.of(id).fields["q"] ?? "").startsWith("P"));

/** Invariant 4: what is overdue, and looked at again and again, does not stay so. */
const overdueMsMax = 30 * minuteMs;

function look(stage: Stage, state: State): Move {
  const name = `watchdog-${state.nowMs}`;
  const overdueMs = state.nowMs - Math.min(...duesOf(stage, state));
  const faults =
    overdueMs > overdueMsMax ? [`something has been overdue for ${Math.floor(overdueMs / minuteMs)} minutes`] : [];
  return {
    label: () => "watchdog: looks for what is overdue",
    make: () =>
      begun(
        stage,
        { ...state, watchedAtMs: state.nowMs },
        { name, label: "watchdog", outside: undefined },
        {
          name,
          endAtMs: state.nowMs + functionMs,
          isOld: hasOldBuild(stage, state),
          begin: (engine, remaining) => watch(engine, remaining),
        },
        faults,
      ),
  };
}

/** The next instant at which anything happens by itself. */
function passing(stage: Stage, state: State, left: Faults): readonly Move[] {
  const dues = stage.scope.hasWatchdog === false ? [] : duesOf(stage, state);
  const instants = [
    ...state.messages.map(({ shownAtMs }) => shownAtMs),
    ...state.running.flatMap(({ position }) => wakesOf(position)),
    ...dues,
    ...(dues.some((atMs) => atMs <= state.nowMs) || (dues.length > 0 && isAnyParked(stage, state))
      ? [state.watchedAtMs + minuteMs]
      : []),
  ].filter((atMs) => atMs > state.nowMs);
  const nowMs = Math.min(...instants);
  // who must have called by then calls first
  const latestMs = Math.min(
    ...(stage.scope.outside ?? []).flatMap(({ byMs }, at) =>
      byMs === undefined || state.isBegun[at] ? [] : [stage.startMs + byMs],
    ),
  );
  if (!(nowMs <= stage.endMs) || nowMs > latestMs) return [];
  return [
    {
      label: () => `time: ${(nowMs - state.nowMs) / 1000} s pass${left === state.left ? "" : ", whoever is at work"}`,
      make: () => ({ state: { ...state, nowMs, left }, changes: [], faults: [] }),
    },
  ];
}

/** A pause that is all that a process waits for; the time-out beside an effect is no reason for time to go on. */
const wakesOf = ({ waiting }: Position) =>
  waiting.length === 1 ? waiting.flatMap(({ call }) => (call.op === "sleep" ? [call.untilMs] : [])) : [];

function messageInWords(stage: Stage, held: Held): string {
  const { queue, body } = stage.contents.messageOf(held.text);
  const { task, hints, why, isAll } = envelopeFrom(body);
  const what = task
    ? `task ${attemptName(task.node, task.index, task.attempt)}`
    : `wake-up (${why}${hints.length > 0 ? ` ${hints.join(" ")}` : ""}${isAll ? ", perform all" : ""})`;
  return `${what} of ${queue}${held.receives > 0 ? `, receipt ${held.receives + 1}` : ""}`;
}
