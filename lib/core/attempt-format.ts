import { ByteReader, ByteWriter } from "./bytes.ts";
import { type FaultCode, faults } from "./faults.ts";
import type { Attempt, Decision, Facts, Outcome } from "./inputs.ts";
import type { Json } from "./json.ts";
import { readFacts, writeFacts } from "./row-body.ts";

/** Attributes of an attempt's record: a claim, then one end. A gate's decision and a child's notice are such ends too. */
export const attemptAttributes = {
  runUid: "u",
  token: "k",
  leaseUntilMs: "w",
  // not "o" or "p": those are keys of an index
  outcome: "v",
  /** Who wrote the end: compared before anything is called a conflict. */
  endedBy: "b",
  facts: "f",
  /** Output as JSON text. */
  output: "r",
  /** Or the token that names it beside the record. */
  payload: "z",
  faultCode: "c",
  faultMessage: "m",
  afterMs: "a",
  isUnclaimed: "n",
  decision: "g",
  startedAtMs: "s",
  endedAtMs: "e",
  duePartition: "q",
  dueAtMs: "d",
  expiresAtS: "x",
} as const;

const a = attemptAttributes;

/** An end as it is stored. */
export function outcomeFields(outcome: Outcome): { readonly [name: string]: string | number | Uint8Array } {
  const fields: Record<string, string | number | Uint8Array> = { [a.outcome]: outcome.kind };
  if (outcome.kind === "ok" && outcome.facts.size > 0) fields[a.facts] = factBytes(outcome.facts);
  if (outcome.kind === "failed") {
    fields[a.faultCode] = outcome.fault.code;
    fields[a.faultMessage] = outcome.fault.message.slice(0, 1024);
    if (outcome.afterMs !== undefined) fields[a.afterMs] = outcome.afterMs;
  }
  if (outcome.kind === "lost" && outcome.isUnclaimed) fields[a.isUnclaimed] = 1;
  if (outcome.kind === "decided") fields[a.decision] = JSON.stringify(outcome.decision);
  return fields;
}

/** An attempt as a tick reads it. */
export function attemptFrom(
  name: Pick<Attempt, "node" | "index" | "attempt">,
  record: { readonly [name: string]: unknown },
): Attempt {
  const token = record[a.token];
  const leaseUntilMs = record[a.leaseUntilMs];
  const outcome = outcomeFrom(record);
  return {
    node: name.node,
    index: name.index,
    attempt: name.attempt,
    ...(typeof token === "string" && { token }),
    ...(typeof leaseUntilMs === "number" && { leaseUntilMs }),
    ...(outcome && { outcome }),
  };
}

export function outcomeFrom(record: { readonly [name: string]: unknown }): Outcome | undefined {
  const kind = record[a.outcome];
  switch (kind) {
    case undefined:
      return undefined;
    case "ok":
      return { kind, facts: factsFrom(record[a.facts]) };
    case "failed": {
      const code = String(record[a.faultCode]);
      const afterMs = record[a.afterMs];
      return {
        kind,
        fault: {
          code: code in faults ? (code as FaultCode) : "handler-failed",
          message: String(record[a.faultMessage] ?? ""),
        },
        ...(typeof afterMs === "number" && { afterMs }),
      };
    }
    case "lost":
      return { kind, isUnclaimed: record[a.isUnclaimed] !== undefined };
    case "decided":
      return { kind, decision: JSON.parse(String(record[a.decision])) as Decision & Json };
    case "timed-out":
    case "never-claimed":
      return { kind };
    default:
      return { kind: "cancelled" };
  }
}

export function factBytes(facts: Facts): Uint8Array {
  const out = new ByteWriter();
  writeFacts(out, facts);
  return out.done();
}

export function factsFrom(bytes: unknown): Facts {
  return bytes instanceof Uint8Array ? readFacts(new ByteReader(bytes)) : new Map();
}

/** `node/index/attempt` taken apart. */
export function attemptNameFrom(text: string): Pick<Attempt, "node" | "index" | "attempt"> | undefined {
  const match = /^(\d{1,4})\/(\d{1,7})\/(\d{1,3})$/.exec(text);
  return match ? { node: Number(match[1]), index: Number(match[2]), attempt: Number(match[3]) } : undefined;
}

/** The same from a record's sort key. */
export function attemptNameFromSk(text: string): Pick<Attempt, "node" | "index" | "attempt"> | undefined {
  const match = /^ATT#[^#]+#(\d{4})#(\d{7})#(\d{3})$/.exec(text);
  return match ? { node: Number(match[1]), index: Number(match[2]), attempt: Number(match[3]) } : undefined;
}
