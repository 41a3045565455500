import { attemptAttributes, attemptFrom } from "../core/attempt-format.ts";
import { Fault } from "../core/faults.ts";
import type { Attempt, Inputs } from "../core/inputs.ts";
import { attemptName, partitionOf, sk, statePrefix } from "../core/keys.ts";
import { type Mailbox, mailboxFrom, mailOf } from "../core/mail-format.ts";
import { nodeAt, type Program, stepBodyOf } from "../core/program.ts";
import { decodeRun, rowAttributes } from "../core/row-format.ts";
import { type Active, isLive, type Run } from "../core/run.ts";
import type { Fields, Key } from "../ports.ts";
import { programFor } from "./definitions.ts";
import type { Engine, RunRef } from "./engine.ts";
import { attemptKey } from "./records/attempt.ts";
import { type Sent, type StrikeOwner, type Strikes, sentFrom, strikesFrom } from "./records/strikes.ts";

/** The row and what stands beside it in one partition, read consistently with one Query. */
export interface Snapshot {
  readonly row: Fields;
  /** What can be read even if the row cannot: whom strikes belong to, and which version they were counted at. */
  readonly owner: StrikeOwner & { readonly recordVersion: number; readonly seq: number; readonly isLive: boolean };
  readonly mailbox: Mailbox | undefined;
  readonly strikes: Strikes | undefined;
  readonly sent: Sent | undefined;
  readonly hasStrikesRecord: boolean;
}

/** Everything that a tick needs, from one instant on: the row first, its neighbours after it. */
export interface Loaded extends Snapshot {
  readonly run: Run;
  readonly program: Program;
  readonly attempts: ReadonlyMap<string, Attempt | undefined>;
  /** Records that were seen with a due of their own. */
  readonly dues: readonly { readonly key: Key; readonly dueAtMs: number; readonly name: string }[];
  /** All that could be looked at was looked at. */
  readonly isAll: boolean;
}

/** Reads the row's partition. Expired rows count as absent. */
export async function snapshot(engine: Engine, ref: RunRef): Promise<Snapshot | undefined> {
  const { items } = await engine.store.list({
    pk: partitionOf(ref.tenant, ref.runId),
    prefix: statePrefix,
    isConsistent: true,
  });
  const row = items.find((item) => item.sk === sk.state);
  if (!row || isExpired(row, engine.clock.nowMs())) return undefined;
  const runUid = String(row[rowAttributes.runUid]);
  const mail = items.find((item) => item.sk === sk.mail(runUid));
  const strikes = items.find((item) => item.sk === sk.strikes(runUid));
  return {
    row,
    owner: {
      tenant: ref.tenant,
      runId: ref.runId,
      runUid,
      recordVersion: Number(row[rowAttributes.recordVersion]),
      seq: Number(row[rowAttributes.transitionSeq]),
      isLive: row[rowAttributes.live] !== undefined,
    },
    mailbox: mail && mailboxFrom(mail),
    strikes: strikesFrom(strikes),
    sent: sentFrom(strikes),
    hasStrikesRecord: strikes !== undefined,
  };
}

/** TTL collects within days: code decides by the instant. */
export function isExpired(row: Fields, nowMs: number): boolean {
  const expires = row[rowAttributes.expiresAtS];
  return typeof expires === "number" && expires * 1000 <= nowMs;
}

/** Decodes a snapshot and reads the attempts that matter: the hinted ones, or all in flight. */
export async function load(
  engine: Engine,
  seen: Snapshot,
  want: { readonly hints: ReadonlySet<string>; readonly isAll: boolean },
): Promise<Loaded> {
  const run = decodeRun({ pk: partitionOf(seen.owner.tenant, seen.owner.runId) }, seen.row);
  const program = await programFor(engine, run.definitionHash);
  const isAll = want.isAll || isOverdue(run, engine.clock.nowMs()) || hasCommand(run, seen.mailbox);
  const wanted = run.active.filter(
    (entry) => hasRecord(entry) && (isAll || want.hints.has(attemptName(entry.node, entry.index, entry.attempt))),
  );
  const records = await readAttempts(engine, run, wanted);
  return { ...seen, run, program, isAll, ...records };
}

const isOverdue = (run: Run, nowMs: number) => run.due?.kind === "at" && run.due.atMs <= nowMs;

/** A command may end attempts: what they are must be known. */
const hasCommand = (run: Run, mailbox: Mailbox | undefined) =>
  isLive(run) && (mailbox?.commands.some((command) => command.seq >= run.mail.commands) ?? false);

const hasRecord = (entry: Active) => entry.state !== "sleep" && entry.state !== "signal" && entry.state !== "parked";

/** Attempt records of entries in flight; those that are not there are known to be absent. */
async function readAttempts(
  engine: Engine,
  run: Run,
  entries: readonly Active[],
): Promise<Pick<Loaded, "attempts" | "dues">> {
  const keys = entries.map((entry) => attemptKey(run, entry));
  const records = keys.length > 0 ? await engine.store.read(keys, { isConsistent: true }) : [];
  const attempts = new Map<string, Attempt | undefined>();
  const dues: { key: Key; dueAtMs: number; name: string }[] = [];
  entries.forEach((entry, at) => {
    const record = records[at];
    const name = attemptName(entry.node, entry.index, entry.attempt);
    attempts.set(name, record && attemptFrom(entry, record));
    const due = record?.[attemptAttributes.dueAtMs];
    if (typeof due === "number") dues.push({ key: keys[at] as Key, dueAtMs: due, name });
  });
  return { attempts, dues };
}

/** The tick's inputs from what was loaded. Queues are asked only where a task would be sent again. */
export async function inputsOf(
  engine: Engine,
  loaded: Loaded,
  more: Pick<Inputs, "parks" | "isUnpark"> & { readonly held?: Inputs["held"] },
): Promise<Inputs> {
  return {
    attempts: loaded.attempts,
    mail: mailOf(loaded.mailbox, loaded.run.mail),
    parks: more.parks,
    isUnpark: more.isUnpark,
    behind: await groupsBehind(engine, loaded),
    ...(more.held && { held: more.held }),
  };
}

async function groupsBehind(engine: Engine, loaded: Loaded): Promise<ReadonlySet<string>> {
  const nowMs = engine.clock.nowMs();
  const groups = new Set<string>();
  for (const entry of loaded.run.active) {
    const isUnclaimed =
      entry.state === "task" &&
      loaded.attempts.has(attemptName(entry.node, entry.index, entry.attempt)) &&
      !loaded.attempts.get(attemptName(entry.node, entry.index, entry.attempt));
    if (isUnclaimed && entry.untilMs <= nowMs)
      groups.add(stepBodyOf(nodeAt(loaded.program, entry.node).def)?.group ?? "default");
  }
  const behind = new Set<string>();
  for (const group of groups) if (await engine.queue.isBehind(`task:${group}`)) behind.add(group);
  return behind;
}

/** A run that is asked for by a person or a program: its row as it stands. Throws `run-not-found`. */
export async function loadRun(engine: Engine, ref: RunRef): Promise<Loaded> {
  const seen = await snapshot(engine, ref);
  if (!seen) throw new Fault("run-not-found", `there is no run "${ref.runId}" of tenant "${ref.tenant}"`);
  return await load(engine, seen, { hints: new Set(), isAll: false });
}
