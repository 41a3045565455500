import { attemptNameFrom } from "./attempt-format.ts";
import { Fault } from "./faults.ts";
import { isJsonObject } from "./json.ts";
import { attemptName, idRule, isId } from "./keys.ts";

const envelopeFormat = 1;

/**
 * What a message says, version 1. Wake-ups are written by hand too: `{"runId":"x"}` is one, and means "look at everything".
 * A message is a hint and never the truth; ids only, never payloads.
 */
export interface Envelope {
  readonly tenant: string;
  readonly runId: string;
  /** If it names a run that was replaced since, the message is acknowledged. */
  readonly runUid?: string;
  /** What may have changed: `mail`, or an attempt as `node/index/attempt`. None: look at everything. */
  readonly hints: readonly string[];
  /** Perform everything that is owed, not the difference: nobody knows what was sent. */
  readonly isAll: boolean;
  readonly why: Why;
  /** Requeues without progress, and the transition at which they were counted. */
  readonly requeues: number;
  readonly requeuesAtSeq: number;
  /** Of these requeues, those without a clear conflict (no answer of the table, no time left): no evidence of a livelock. */
  readonly doubts?: number;
  /** First sending of what this message stands for; its age is a metric. */
  readonly firstAtMs?: number;
  /** A watchdog's: the record that is overdue. */
  readonly sk?: string;
  /** A task: the attempt that a worker is asked for. */
  readonly task?: { readonly node: number; readonly index: number; readonly attempt: number; readonly sends: number };
}

export const whys = ["hint", "timer", "watchdog", "unpark", "hand"] as const;
export type Why = (typeof whys)[number];

/** The message's body. Fields with their default are left out. */
export function envelopeText(envelope: Envelope): string {
  const { tenant, runId, runUid, hints, isAll, why, requeues, requeuesAtSeq, doubts, firstAtMs, sk, task } = envelope;
  return JSON.stringify({
    format: envelopeFormat,
    ...(tenant !== "default" && { tenant }),
    runId,
    ...(runUid !== undefined && { uid: runUid }),
    ...(hints.length > 0 && { hints }),
    ...(isAll && { all: true }),
    why,
    ...(requeues > 0 && { n: requeues, seq: requeuesAtSeq }),
    ...(doubts !== undefined && doubts > 0 && { doubts }),
    ...(firstAtMs !== undefined && { at: firstAtMs }),
    ...(sk !== undefined && { sk }),
    ...(task && { task: `${attemptName(task.node, task.index, task.attempt)}`, sends: task.sends }),
  });
}

/**
 * Reads a body. Throws `bad-envelope` with what is wrong, `newer-format` for a later version. Unknown fields are ignored: the
 * next version may add some.
 */
export function envelopeFrom(body: string): Envelope {
  const json = parsed(body);
  if (!isJsonObject(json)) throw bad('the body is not an object; the least is {"runId":"..."}');
  const {
    format,
    tenant = "default",
    runId,
    uid,
    hints = [],
    all,
    why,
    n = 0,
    seq = 0,
    doubts,
    at,
    sk,
    task,
    sends = 1,
  } = json;
  if (typeof format === "number" && format > envelopeFormat)
    throw new Fault("newer-format", `the message has format ${format}; this build reads ${envelopeFormat}`);
  if (format !== undefined && format !== envelopeFormat) throw bad(`format ${JSON.stringify(format)} is unknown`);
  if (!isId(runId)) throw bad(`runId must be ${idRule}, not ${JSON.stringify(runId)}`);
  if (!isId(tenant)) throw bad(`tenant must be ${idRule}, not ${JSON.stringify(tenant)}`);
  if (!Array.isArray(hints) || hints.some((hint) => typeof hint !== "string"))
    throw bad("hints must be a list of texts");
  if (!isCount(n) || !isCount(seq) || !isCount(sends)) throw bad("n, seq and sends must be whole numbers from 0");
  const named = typeof task === "string" ? attemptNameFrom(task) : undefined;
  if (task !== undefined && !named) throw bad(`task must be "node/index/attempt", not ${JSON.stringify(task)}`);
  return {
    tenant,
    runId,
    ...(typeof uid === "string" && { runUid: uid }),
    hints: hints as readonly string[],
    isAll: all === true,
    why: whys.find((each) => each === why) ?? "hand",
    requeues: n,
    requeuesAtSeq: seq,
    ...(isCount(doubts) && { doubts }),
    ...(isCount(at) && { firstAtMs: at }),
    ...(typeof sk === "string" && { sk }),
    ...(named && { task: { ...named, sends } }),
  };
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const bad = (message: string) => new Fault("bad-envelope", message);

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw bad(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
