import { attemptAttributes as at, attemptNameFromSk } from "../../lib/core/attempt-format.ts";
import type { Json } from "../../lib/core/json.ts";
import { mailboxFrom } from "../../lib/core/mail-format.ts";
import { owed } from "../../lib/core/owed.ts";
import { type Program, programOf } from "../../lib/core/program.ts";
import { type Active, isLive, isSettled, nodeState, type Run, statusOf } from "../../lib/core/run.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { readResult } from "../../lib/engine/inspect.ts";
import { undelivered } from "../../lib/engine/mailbox.ts";
import { queues } from "../../lib/engine/messages.ts";
import { strikesFrom } from "../../lib/engine/records/strikes.ts";
import { hashOf } from "../engine/raw.ts";
import { isTaken } from "./checks.ts";
import type { Stage } from "./moves.ts";
import { runOf } from "./records.ts";
import type { End } from "./scope.ts";
import { serve } from "./serve.ts";
import type { State, StoredText } from "./state.ts";
import { placeInWords } from "./words.ts";

/**
 * What is wrong where nothing can happen any more: all has been delivered and answered, and time has run through. Every run must be
 * settled or wait for somebody, nothing may be due or on its way, and everybody outside must have been told the truth.
 */
export async function wrongAtRest(stage: Stage, state: State): Promise<readonly string[]> {
  const { scope, contents } = stage;
  const found: string[] = [];
  const stored = state.records.map((id) => contents.of(id));
  const rows = stored.filter(({ key }) => key.sk === "STATE");
  for (const held of state.messages) {
    const { queue, body } = contents.messageOf(held.text);
    if (queue !== queues.dead || !scope.isRough) found.push(`${queue} still has ${body}`);
  }
  for (const { name, position } of state.running)
    if (!position.result) found.push(`${name} never ends: it waits for ${position.waiting.map(({ call }) => call.op)}`);
  for (const each of rows) {
    const run = runOf(each);
    const parent = parentOf(stored, rows, each);
    if (isLive(run) && parent && !isLive(parent)) found.push(`${run.runId} lives on, and its parent has ended`);
    checkRun(stage, state, stored, run, await undeliveredOf(stage, state, run), found);
  }
  for (const { key, fields } of stored) {
    const isDue = /^[D]/.test(String(fields["q"] ?? "")) && Number(fields["d"]) <= stage.endMs;
    // without a watchdog a due means nothing
    if (isDue && scope.hasWatchdog !== false) found.push(`${placeInWords(key)} is still due`);
    if (key.sk.startsWith("ATT#") && fields[at.outcome] === undefined) checkClaimed(rows, key, found);
  }
  const end = await endOf(stage, state, rows, found);
  if (end && !scope.ends.includes(end.status)) found.push(`run r comes to ${end.status}`);
  for (const run of rows.map(runOf)) {
    const wanted = scope.others?.[run.runId];
    if (wanted && statusOf(run) !== wanted) found.push(`run ${run.runId} comes to ${statusOf(run)}`);
  }
  const wrong = end && scope.isWrong?.(end);
  if (wrong) found.push(wrong);
  return found;
}

function parentOf(stored: readonly StoredText[], rows: readonly StoredText[], child: StoredText): Run | undefined {
  const input = stored.find(({ key }) => key.pk === child.key.pk && key.sk.startsWith("IN#"));
  const link = input?.fields["parent"];
  if (typeof link !== "string") return undefined;
  const { runUid } = JSON.parse(link) as { readonly runUid: string };
  return rows.map(runOf).find((run) => run.runUid === runUid);
}

/** A claim that nobody ended: only of a run that has ended, whose worker died. */
function checkClaimed(rows: readonly StoredText[], key: StoredText["key"], found: string[]): void {
  const row = rows.find((each) => each.key.pk === key.pk);
  if (row && isLive(runOf(row))) found.push(`${placeInWords(key)} is claimed for ever`);
}

const programs = new WeakMap<Stage, Map<string, Program>>();

function programFor(stage: Stage, hash: string): Program {
  const known =
    programs.get(stage) ??
    new Map(stage.scope.definitions.map((each) => [hashOf(each), programOf(each, hashOf(each))]));
  programs.set(stage, known);
  const program = known.get(hash);
  if (!program) throw new Error(`no scope has definition ${hash}`);
  return program;
}

/** Numbers of signals that a run has left. */
const leftIn = (run: Run, mailbox: ReturnType<typeof mailboxFrom> | undefined) =>
  (mailbox?.signals ?? []).flatMap(({ seq }) => (isTaken(run.mail, seq) ? [] : [seq]));

async function undeliveredOf(stage: Stage, state: State, run: Run): Promise<readonly number[]> {
  const ref = { tenant: run.tenant, runId: run.runId };
  return (await asked(stage, state, (engine) => undelivered(engine, ref))).map(({ seq }) => seq);
}

function checkRun(
  stage: Stage,
  state: State,
  stored: readonly StoredText[],
  run: Run,
  reported: readonly number[],
  found: string[],
): void {
  const of = `run ${run.runId}`;
  const isMail = ({ key }: StoredText) => key.pk.endsWith(`#${run.runId}`) && key.sk.startsWith("STATE#MAIL");
  const record = stored.find(isMail);
  const mailbox = record && mailboxFrom(record.fields);
  if (!isLive(run)) {
    if (!isSettled(run)) found.push(`${of} has ended (${run.phase}) and is not settled`);
    for (const seq of leftIn(run, mailbox))
      if (!reported.includes(seq)) found.push(`${of} has not taken signal ${seq}, and does not report it undelivered`);
    if (run.reason && ["stuck", "livelock"].includes(run.reason.code) && !stage.scope.isRough)
      found.push(`${of} was force-failed: ${run.reason.message}`);
    return;
  }
  const program = programFor(stage, run.definitionHash);
  // there is no bus here that an event could be owed to
  const sendings = owed(run, program, state.nowMs).filter(({ kind }) => kind !== "event");
  for (const each of sendings) found.push(`${of} still owes ${each.key}`);
  const isWaiting = (entry: Active) => (entry.state === "signal" || entry.state === "gate") && entry.untilMs === 0;
  for (const entry of run.active)
    if (!isWaiting(entry)) found.push(`${of} stands at node ${entry.node} (${entry.state}, attempt ${entry.attempt})`);
  if (run.active.length === 0) found.push(`${of} is live and waits for nothing`);
  const wanted = new Set(
    run.active.flatMap(({ node }) => {
      const def = program.nodes[node]?.def;
      return def?.kind === "signal" ? [def.signal] : [];
    }),
  );
  for (const { name, seq } of mailbox?.signals ?? [])
    if (wanted.has(name) && !isTaken(run.mail, seq))
      found.push(`${of} waits for ${name}, and ${seq} lies in its mailbox`);
  for (const { kind, seq } of mailbox?.commands ?? [])
    if (seq >= run.mail.commands) found.push(`${of} has not taken ${kind}`);
  for (const entry of run.active) {
    const decided = stored.find(
      ({ key, fields }) =>
        key.pk.endsWith(`#${run.runId}`) &&
        attemptNameFromSk(key.sk)?.node === entry.node &&
        fields[at.outcome] !== undefined,
    );
    if (decided) found.push(`${of} waits at node ${entry.node}, and ${placeInWords(decided.key)} has ended`);
  }
}

async function endOf(
  stage: Stage,
  state: State,
  rows: readonly StoredText[],
  found: string[],
): Promise<End | undefined> {
  const { scope } = stage;
  const row = rows.find(({ key }) => key.pk === "default#r");
  if (!row) return undefined;
  const run = runOf(row);
  const effects = new Map<string, number>();
  for (const each of state.effects) {
    const name = nameOf(stage, rows, each.split(" ")[0] ?? "");
    effects.set(name, (effects.get(name) ?? 0) + 1);
  }
  const isUntouched = (Object.keys(state.left) as (keyof typeof state.left)[]).every(
    (kind) => state.left[kind] === (scope.faults?.[kind] ?? 0),
  );
  // a reply that is lost costs nothing but time: no try, no second effect
  const { crash, slow, lostMessage } = state.left;
  const isUnharmed =
    !scope.kills &&
    crash === (scope.faults?.crash ?? 0) &&
    slow === (scope.faults?.slow ?? 0) &&
    lostMessage === (scope.faults?.lostMessage ?? 0);
  if (isUnharmed && !scope.isRough) {
    for (const [name, times] of effects) if (times > 1) found.push(`${name} is done ${times} times, and nobody died`);
    checkUnharmed(stage, state, rows, found);
  }
  checkEffects(stage, rows, effects, found);
  const answers = Object.fromEntries((scope.outside ?? []).map(({ name }, number) => [name, state.answers[number]]));
  const output = run.phase === "succeeded" ? await outputOf(stage, state) : undefined;
  return { status: statusOf(run), output, answers, effects, attempts: run.attempts, isCalm: isUntouched };
}

/** Where nobody died no attempt is lost, and nothing is held against a run that lives on. */
function checkUnharmed(stage: Stage, state: State, rows: readonly StoredText[], found: string[]): void {
  for (const id of state.records) {
    const { key, fields } = stage.contents.of(id);
    const row = rows.find((each) => each.key.pk === key.pk);
    const run = row && runOf(row);
    if (!run) continue;
    const name = attemptNameFromSk(key.sk);
    // what goes on outside is lost when nobody completes it
    const isElsewhere = name && programFor(stage, run.definitionHash).nodes[name.node]?.def.kind === "external";
    if (fields[at.outcome] === "lost" && name && !isElsewhere)
      found.push(`${placeInWords(key)} was lost, and nobody died`);
    const isStrike = key.sk.startsWith("STATE#STRIKES") && strikesFrom(fields)?.seq === run.transitionSeq;
    if (isStrike && isLive(run)) found.push(`strikes stand against ${run.runId}, and nobody died`);
  }
}

/** No effect is lost: what a row says is done has happened. */
function checkEffects(
  stage: Stage,
  rows: readonly StoredText[],
  effects: ReadonlyMap<string, number>,
  found: string[],
): void {
  for (const row of rows) {
    const run = runOf(row);
    for (const { def, position } of programFor(stage, run.definitionHash).nodes) {
      const isDone = def.kind === "step" && nodeState(run.nodes, position) === "done";
      const name = effectName(run.runId, def.name);
      if (isDone && !effects.has(name)) found.push(`${name} is done, and was never run`);
    }
  }
}

const effectName = (runId: string, node: string) => (runId === "r" ? node : `${runId}/${node}`);

/** An idempotency key in words. */
function nameOf(stage: Stage, rows: readonly StoredText[], key: string): string {
  const [uid, node = "", index = "0"] = key.split("-");
  const row = rows.map(runOf).find(({ runUid }) => runUid === uid);
  if (!row) return key;
  const name = programFor(stage, row.definitionHash).nodes[Number(node)]?.def.name ?? key;
  return effectName(row.runId, index === "0" ? name : `${name}/${index}`);
}

/** The run's output, as a client reads it. */
async function outputOf(stage: Stage, state: State): Promise<Json | undefined> {
  const { output } = await asked(stage, state, (engine) => readResult(engine, { tenant: "default", runId: "r" }));
  return output?.ok ? output.value : undefined;
}

/** What the engine answers to somebody who only reads. */
async function asked<T>(stage: Stage, state: State, ask: (engine: Engine) => Promise<T>): Promise<T> {
  const { contents, processes } = stage;
  const invocation = { name: `reader-${ask}-${state.records.join()}`, endAtMs: state.nowMs + 60_000, begin: ask };
  let position = await processes.begin(invocation, state.nowMs);
  while (!position.result) {
    const [waiting] = position.waiting;
    if (!waiting) throw new Error("the reader waits for nothing");
    const { answer } = serve(contents, state, waiting.call, "well");
    position = await processes.step(position, waiting.number, answer, state.nowMs);
  }
  if (position.result.kind === "threw") throw position.result.error;
  return position.result.value as T;
}
