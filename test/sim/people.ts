import type { CommandKind } from "../../lib/core/inputs.ts";
import type { Json } from "../../lib/core/json.ts";
import { isTaken } from "../../lib/core/mail.ts";
import { type Active, isLive, type Run } from "../../lib/core/run.ts";
import { command, signal } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { beat, complete, fail } from "../../lib/engine/external.ts";
import { type Clients, isFinal } from "./clients.ts";
import type { World } from "./world.ts";

const minuteMs = 60_000;

/** A signal that somebody sent, and what was answered. */
export interface SentSignal {
  readonly runId: string;
  readonly runUid: string;
  readonly name: string;
  readonly id: string;
  readonly payload: Json;
  /** Its number in the mailbox, if it was acknowledged. */
  seq: number | undefined;
  ackedAtMs: number | undefined;
}

/** A decision that somebody made, and what was answered. */
export interface SentDecision {
  readonly runId: string;
  readonly runUid: string;
  readonly gate: string;
  readonly attempt: number;
  readonly by: string;
  readonly approved: boolean;
  answer: "won" | "lost" | "other" | undefined;
  winner: unknown;
}

/** A command that somebody gave. */
export interface SentCommand {
  readonly runId: string;
  readonly kind: CommandKind;
  isAcknowledged: boolean;
}

/** What people did to runs, and what they were told. */
export interface Record {
  readonly signals: SentSignal[];
  readonly decisions: SentDecision[];
  readonly commands: SentCommand[];
  /** Runs that were given less time than the others, by id. */
  readonly deadlines: Map<string, number>;
}

export interface People {
  readonly record: Record;
  /** Sends a signal now; asks again until there is an answer. */
  signal(run: Run, name: string, id: string): Promise<unknown>;
  command(runId: string, kind: CommandKind, id: string): Promise<void>;
}

const refOf = (runId: string) => ({ tenant: "default", runId });

/** People see what waits for them, and answer: gates (several at once), signals, what goes on outside. */
export function createPeople(
  world: World,
  clients: Clients,
  nameOf: (run: Run, node: number) => NodeName | undefined,
): People {
  const { choices } = world;
  const record: Record = { signals: [], decisions: [], commands: [], deadlines: new Map() };
  const known = new Set<string>();

  /** Whoever asks again and again may meet the next run of that id in the end. */
  const isStill = (run: Run) => world.rows.get(`${run.tenant}#${run.runId}`)?.runUid === run.runUid;

  /** The run as it is now, if such a wait for a signal is open in it. */
  function waits(run: Run, isMeant: (now: Run, entry: Active) => boolean): Run | undefined {
    const now = world.rows.get(`${run.tenant}#${run.runId}`);
    if (now?.runUid !== run.runUid || !isLive(now)) return undefined;
    return now.active.some((entry) => entry.state === "signal" && isMeant(now, entry)) ? now : undefined;
  }

  /** For a wait that nothing else ends: another one may have taken the signal that was meant for it, and then there is one more. */
  async function sendUntilTaken(run: Run, { node, attempt }: Active, name: string, id: string): Promise<void> {
    const waiting = () => waits(run, (_, entry) => entry.node === node && entry.attempt === attempt);
    for (let again = 0; ; again++) {
      const { seq } = await sendSignal(run, name, again === 0 ? id : `${id}+${again}`);
      if (seq === undefined) return;
      for (let now = waiting(); !now || !isTaken(now.mail, seq); now = waiting()) {
        if (!now) return;
        await world.timeline.sleep(10 * minuteMs);
      }
    }
  }

  async function sendSignal(run: Run, name: string, id: string): Promise<SentSignal> {
    const random = choices.random(`payload ${id}`);
    const payload: Json = random.chance(0.15) ? { n: random.integer(100), text: "y".repeat(400) } : random.integer(100);
    const sent: SentSignal = {
      runId: run.runId,
      runUid: run.runUid,
      name,
      id,
      payload,
      seq: undefined,
      ackedAtMs: undefined,
    };
    record.signals.push(sent);
    const isAwaited = () => waits(run, (now, entry) => nameOf(now, entry.node)?.signal === name) !== undefined;
    const answer = await clients.insist(
      `signal ${run.runId} ${id}`,
      (engine) => signal(engine, refOf(run.runId), { signal: name, payload, id }),
      // a run waits for it, and a build that has not heard of it is rolled out, or back
      (code) => isFinal(code) && !(isAwaited() && (code === "bad-input" || code === "unknown-workflow")),
    );
    if (answer.kind !== "ok" || !isStill(run)) return sent;
    sent.seq = answer.value.seq;
    sent.ackedAtMs = answer.atMs;
    world.count("signals acknowledged");
    return sent;
  }

  const sendOnce = (run: Run, _: Active, name: string, id: string) => sendSignal(run, name, id);

  async function decides(run: Run, gate: string, attempt: number, by: string): Promise<void> {
    const approved = choices.random(`decision ${by}`).chance(0.7);
    const sent: SentDecision = {
      runId: run.runId,
      runUid: run.runUid,
      gate,
      attempt,
      by,
      approved,
      answer: undefined,
      winner: undefined,
    };
    record.decisions.push(sent);
    const answer = await clients.insist(`decide ${by}`, (engine) =>
      decide(engine, refOf(run.runId), { gate, approved, by, id: by }),
    );
    if (!isStill(run)) sent.answer = "other";
    else if (answer.kind === "ok") sent.answer = "won";
    else if (answer.kind === "fault") {
      sent.answer = answer.fault.code === "gate-decided" ? "lost" : "other";
      sent.winner = answer.fault.details["winner"];
    }
    world.count(`decisions ${sent.answer}`);
  }

  async function commands(runId: string, kind: CommandKind, id: string): Promise<void> {
    const sent: SentCommand = { runId, kind, isAcknowledged: false };
    record.commands.push(sent);
    const answer = await clients.insist(`${kind} ${runId}`, (engine) =>
      command(engine, refOf(runId), { kind, by: "ann", id }),
    );
    sent.isAcknowledged = answer.kind === "ok";
    world.count(`commands ${kind}`);
  }

  /** A wait that has opened: somebody comes, at the latest where nothing else would end it. */
  function see(run: Run, entry: Active): void {
    const place = `${run.runUid}/${entry.node}/${entry.attempt}`;
    const found = nameOf(run, entry.node);
    if (!found || known.has(place)) return;
    known.add(place);
    const random = choices.random(`people ${place}`);
    const isNeeded = entry.untilMs === 0;
    for (let who = 0; who < 3; who++) {
      const [isDrawn, afterMs] = [random.chance(0.5), Math.round(10 ** (2 + random.fraction() * (isNeeded ? 4 : 5)))];
      if (!(isNeeded && who === 0) && !choices.takes(`${entry.state} ${place} by ${who}`, isDrawn)) continue;
      clients.later(afterMs, () =>
        entry.state === "gate"
          ? decides(run, found.node, entry.attempt, `${place}-${who}`.replaceAll("/", "."))
          : (isNeeded && who === 0 ? sendUntilTaken : sendOnce)(run, entry, found.signal ?? "", `${place}-${who}`),
      );
    }
  }

  world.onChange.push(({ write }) => {
    const run = write.key.sk === "STATE" ? world.rows.get(write.key.pk) : undefined;
    if (!run || !isLive(run)) return;
    for (const entry of run.active) if (entry.state === "gate" || entry.state === "signal") see(run, entry);
  });

  world.onBegun.push((token, value) => {
    const random = choices.random(`outside ${token}`);
    const [ends, afterMs, beatMs] = [random.integer(10), Math.round(1000 + random.fraction() * 90 * minuteMs), 40_000];
    for (let atMs = beatMs; atMs < Math.min(afterMs, 10 * minuteMs); atMs += beatMs)
      clients.later(atMs, () => clients.ask(`beat ${token}`, (engine) => beat(engine, token)));
    if (ends === 0) return;
    clients.later(afterMs, () =>
      clients.insist(
        `complete ${token}`,
        (engine) =>
          ends === 1 ? fail(engine, token, { message: "it did not work outside" }) : complete(engine, token, value),
        isFinal,
      ),
    );
  });
  return { record, signal: sendSignal, command: commands };
}

/** What people call a node. */
export interface NodeName {
  readonly node: string;
  readonly signal: string | undefined;
}
