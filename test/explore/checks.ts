import { attemptAttributes as at, attemptNameFromSk } from "../../lib/core/attempt-format.ts";
import { envelopeFrom } from "../../lib/core/envelope.ts";
import { defaultLimits } from "../../lib/core/limits.ts";
import { mailboxFrom } from "../../lib/core/mail-format.ts";
import { rowAttributes as row } from "../../lib/core/row-format.ts";
import { type Active, isLive, type MailCursor, nodeState, type Run } from "../../lib/core/run.ts";
import { childRunId } from "../../lib/engine/child-id.ts";
import { strikesFrom } from "../../lib/engine/records/strikes.ts";
import type { Check } from "../../lib/ports.ts";
import type { Effect } from "./call.ts";
import type { Made, Stage } from "./moves.ts";
import { tokenPrefix } from "./process.ts";
import { isOpenClaim, runOf } from "./records.ts";
import type { Change } from "./serve.ts";
import type { Contents, MessageText, State, StoredText } from "./state.ts";
import { placeInWords } from "./words.ts";

/** What a move broke, in words: looked at after every committed write. */
export function brokenBy(stage: Stage, made: Made): readonly string[] {
  const found = [...made.faults];
  for (const change of made.changes) {
    if (isNewer(change.before) && isNewer(change.now))
      found.push(`${placeInWords(change.write.key)} of a newer format is written`);
    const { sk } = change.write.key;
    const where = placeInWords(change.write.key);
    if (sk === "STATE") checkRow(where, change, found);
    if (sk === "STATE" && !change.before && change.now) checkChild(stage.contents, made.state, change.now, found);
    if (sk === "STATE") checkEnd(stage, made.state, where, change, found);
    if (sk.startsWith("STATE#STRIKES")) checkStrikes(stage, made.state, where, change, found);
    if (sk.startsWith("ATT#")) checkAttempt(stage, made.state, where, change, found);
    if (sk.startsWith("STATE#MAIL")) checkMail(stage.contents, made.state, where, change, found);
  }
  if (made.changes.length > 0) checkResults(stage.contents, made.state, found);
  checkClaims(stage.contents, made.state, found);
  checkRequeues(stage, made.state, found);
  return found;
}

/**
 * A run that cannot move is not requeued for ever: after the last time it is ended, and only whoever was overtaken in ending it asks
 * once more. What nobody can say anything about does not count.
 */
function checkRequeues(stage: Stage, state: State, found: string[]): void {
  for (const { text } of state.messages) {
    const { requeues, doubts } = countsOf(stage.contents.messageOf(text));
    if (requeues - doubts > limitsOf(stage).requeuesMax + 1) found.push(`a run is requeued ${requeues} times`);
  }
}

const counts = new WeakMap<MessageText, { readonly requeues: number; readonly doubts: number }>();

function countsOf(message: MessageText) {
  const known = counts.get(message);
  if (known) return known;
  const { requeues, doubts = 0 } = envelopeFrom(message.body);
  const made = { requeues, doubts };
  counts.set(message, made);
  return made;
}

const isNewer = (stored: StoredText | undefined) => stored?.key.sk === "STATE" && Number(stored.fields[row.format]) > 1;

/** Invariants 1 and 2: a version is one more, and names the one before; what has ended stays as it is. */
function checkRow(where: string, { write, before, now }: Change, found: string[]): void {
  if (write.kind === "put") {
    if (!namesAbsence(write.when)) found.push(`${where} is created without a condition`);
    if (now?.fields[row.recordVersion] !== 1) found.push(`${where} is created at another version than 1`);
    return;
  }
  if (before && !now && before.fields[row.live] !== undefined) found.push(`${where} is deleted while it is live`);
  if (!before || !now) return;
  const [from, to] = [before.fields, now.fields];
  if (Number(to[row.recordVersion]) !== Number(from[row.recordVersion]) + 1)
    found.push(`${where} goes from version ${from[row.recordVersion]} to ${to[row.recordVersion]}`);
  if (Number(to[row.transitionSeq]) < Number(from[row.transitionSeq])) found.push(`${where} goes back`);
  if (from[row.live] !== undefined) return;
  for (const name of [row.live, row.status, row.body, row.reason, row.nodes, row.tiny, row.endedAtMs])
    if (String(from[name]) !== String(to[name])) found.push(`${where} has ended, and its ${name} changes`);
}

/** Invariant 6: what is ended as stuck had as many strikes as it takes, and time enough. */
function checkEnd(stage: Stage, state: State, where: string, { write, before, now }: Change, found: string[]): void {
  if (!before || !now || before.fields[row.live] === undefined || now.fields[row.live] !== undefined) return;
  if (!String(now.fields[row.reason]).startsWith("stuck ")) return;
  const { strikesMax, stuckAfterMs } = limitsOf(stage);
  const strikes = state.records
    .map((id) => stage.contents.of(id))
    .find(({ key }) => key.pk === write.key.pk && key.sk.startsWith("STATE#STRIKES"));
  const standing = strikesFrom(strikes?.fields);
  if (!standing || standing.count < strikesMax || standing.seq !== Number(before.fields[row.transitionSeq]))
    found.push(`${where} is ended as stuck on ${standing?.count ?? 0} strikes of ${strikesMax}`);
  else if (state.nowMs - standing.firstAtMs < stuckAfterMs) found.push(`${where} is ended as stuck too soon`);
}

/** Strikes are counted one by one, and as far from each other as their spacing says. */
function checkStrikes(stage: Stage, state: State, where: string, { before, now }: Change, found: string[]): void {
  const [from, to] = [strikesFrom(before?.fields), strikesFrom(now?.fields)];
  if (!to || to.count <= (from?.count ?? 0)) return;
  if (to.count !== (from?.count ?? 0) + 1) found.push(`${where} go from ${from?.count ?? 0} to ${to.count}`);
  if (
    from &&
    from.seq === to.seq &&
    from.build === to.build &&
    state.nowMs - from.lastAtMs < limitsOf(stage).strikeSpacingMs
  )
    found.push(`${where} are counted twice within their spacing`);
}

const limitsOf = ({ scope }: Stage) => ({ ...defaultLimits, ...scope.limits });

const namesAbsence = (checks: readonly Check[]): boolean =>
  checks.some((check) =>
    check.kind === "any" ? check.of.some(namesAbsence) : check.kind === "absent" && check.path[0] === "pk",
  );

/** Invariant 3: an attempt ends once, and is claimed once, while the row wants it. */
function checkAttempt(stage: Stage, state: State, where: string, { before, now }: Change, found: string[]): void {
  const { contents } = stage;
  if (before && !now) {
    const owner = rowOf(contents, state, before);
    if (owner && isLive(owner)) found.push(`${where} is deleted, and its run is live`);
    return;
  }
  if (before && before.fields[at.outcome] !== undefined)
    for (const name of [at.outcome, at.token, at.output, at.payload, at.endedBy])
      if (String(before.fields[name]) !== String(now?.fields[name])) found.push(`${where} has ended, and ends again`);
  if (before && before.fields[at.token] !== now?.fields[at.token]) found.push(`${where} is claimed again`);
  const isLost = before?.fields[at.outcome] === undefined && now?.fields[at.outcome] === "lost";
  if (isLost && before && Number(before.fields[at.leaseUntilMs]) > state.nowMs)
    found.push(`${where} is closed as lost while its lease runs`);
  if (before !== undefined || !now || !isOpenClaim(now.fields)) return;
  const owner = rowOf(contents, state, now);
  // a claim held up for as long as its run took to end and to be purged: a known limit, told in docs/simulation.md
  const isLate = isPurging(stage, state) && !(owner && isLive(owner));
  if (!isLate && !(owner && entryOf(owner, now))) found.push(`${where} is claimed, and the row does not want it`);
}

/** Somebody purges, or has purged: what ended an attempt before its claim may be gone. */
const isPurging = ({ scope }: Stage, { isBegun }: State) =>
  isBegun[(scope.outside ?? []).findIndex(({ name }) => name === "purge")] === true;

/** A child that its parent has given up is never begun. */
function checkChild(contents: Contents, state: State, now: StoredText, found: string[]): void {
  const child = runOf(now);
  if (!child.hasParent || !isLive(child)) return;
  for (const id of state.records) {
    const stored = contents.of(id);
    const name = attemptNameFromSk(stored.key.sk);
    const parent = name && stored.fields[at.outcome] !== undefined ? rowOf(contents, state, stored) : undefined;
    if (name && parent && childRunId(parent, name) === child.runId)
      found.push(`${child.runId} begins, and ${placeInWords(stored.key)}, which it is, has ended`);
  }
}

function rowOf(contents: Contents, state: State, neighbour: StoredText): Run | undefined {
  const stored = state.records
    .map((id) => contents.of(id))
    .find(({ key }) => key.pk === neighbour.key.pk && key.sk === "STATE");
  const run = stored && runOf(stored);
  return run?.runUid === neighbour.fields[at.runUid] ? run : undefined;
}

function entryOf(run: Run, stored: StoredText): Active | undefined {
  const name = attemptNameFromSk(stored.key.sk);
  return run.active.find(
    (entry) => entry.node === name?.node && entry.index === name.index && entry.attempt === name.attempt,
  );
}

/** Invariant 7: only what the row has taken is removed from a mailbox, and numbers go on. */
function checkMail(contents: Contents, state: State, where: string, { before, now }: Change, found: string[]): void {
  if (!before || !now) return;
  const [from, to] = [mailboxFrom(before.fields), mailboxFrom(now.fields)];
  const run = rowOf(contents, state, now);
  if (!run) return;
  const kept = new Set(to.signals.map(({ seq }) => seq));
  for (const { seq, name } of from.signals)
    if (!kept.has(seq) && !isTaken(run.mail, seq)) found.push(`${where} loses signal ${name} ${seq}: nobody took it`);
  const texts = new Map(to.signals.map((signal, index) => [signal.seq, to.signalTexts[index]]));
  from.signals.forEach(({ seq }, index) => {
    if (kept.has(seq) && texts.get(seq) !== from.signalTexts[index]) found.push(`${where} renumbers its signals`);
  });
  const commands = new Set(to.commands.map(({ seq }) => seq));
  for (const { seq, kind } of from.commands)
    if (!commands.has(seq) && seq >= run.mail.commands) found.push(`${where} loses ${kind}: nobody took it`);
}

export const isTaken = (mail: MailCursor, seq: number) =>
  seq < mail.signals || ((mail.mask >>> (seq - mail.signals)) & 1) === 1;

/** A result that is recorded counts: the row never goes on to another attempt, nor gives the node up. */
function checkResults(contents: Contents, state: State, found: string[]): void {
  for (const id of state.records) {
    const stored = contents.of(id);
    if (stored.fields[at.outcome] !== "ok" || !stored.key.sk.startsWith("ATT#")) continue;
    const name = attemptNameFromSk(stored.key.sk);
    const run = rowOf(contents, state, stored);
    if (!run || !name) continue;
    const later = run.active.find(
      (entry) => entry.node === name.node && entry.index === name.index && entry.attempt > name.attempt,
    );
    if (later)
      found.push(`${placeInWords(stored.key)} is recorded ok, and the row goes on to attempt ${later.attempt}`);
    if (nodeState(run.nodes, name.node) === "failed")
      found.push(`${placeInWords(stored.key)} is recorded ok, and its node has failed`);
  }
}

/** Invariant 3: a step is never run by two workers whose claims both hold. */
function checkClaims(contents: Contents, state: State, found: string[]): void {
  const holders = new Map<string, number>();
  for (const { name, position } of state.running) {
    for (const { call } of position.waiting) {
      if (call.op !== "effect" || !isHeld(contents, state, call.effect, tokenPrefix(name))) continue;
      const { key } = call.effect;
      const other = holders.get(key);
      if (other !== undefined)
        found.push(`${call.effect.node} is run under two valid claims (attempts ${other} and ${call.effect.attempt})`);
      holders.set(key, call.effect.attempt);
    }
  }
}

/** Whether a process that runs a step has the right to: its claim, or the row's word for an inline one, and the lease still runs. */
function isHeld(contents: Contents, state: State, { runId, key }: Effect, prefix: string): boolean {
  const [, node = "", index = ""] = key.split("-");
  for (const id of state.records) {
    const stored = contents.of(id);
    if (stored.key.pk.split("#")[1] !== runId) continue;
    if (stored.key.sk === "STATE") {
      const run = runOf(stored);
      const isMine = (entry: Active) =>
        entry.state === "held" && entry.node === Number(node) && entry.index === Number(index);
      if (
        isLive(run) &&
        run.active.some((entry) => isMine(entry) && entry.token.startsWith(prefix) && entry.untilMs > state.nowMs)
      )
        return true;
    }
    const name = attemptNameFromSk(stored.key.sk);
    if (name?.node !== Number(node) || name.index !== Number(index)) continue;
    const { fields } = stored;
    const isOpen = fields[at.outcome] === undefined && Number(fields[at.leaseUntilMs]) > state.nowMs;
    if (isOpen && String(fields[at.token]).startsWith(prefix)) return true;
  }
  return false;
}
