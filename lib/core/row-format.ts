import { ByteReader, ByteWriter, bytesToHex, hexToBytes, utf8 } from "./bytes.ts";
import { Fault, type FaultCode, faults } from "./faults.ts";
import { hash53 } from "./hash.ts";
import { duePartition, runsPartition } from "./keys.ts";
import { readBody, writeBody } from "./row-body.ts";
import { readTiny, writeTiny } from "./row-tiny.ts";
import { type Due, isLive, type Phase, type Run, type RunStatus, statusOf, terminalPhases } from "./run.ts";

/**
 * The row's attributes. Names are short because they are paid for in every commit; this is the one place that knows them.
 * `recordVersion` and `transitionSeq` can be read without decoding the rest: a row that nobody can decode can still be ended.
 */
export const rowAttributes = {
  format: "f",
  runUid: "u",
  recordVersion: "v",
  transitionSeq: "t",
  /** Present while the run is live: what conditions test. */
  live: "l",
  status: "s",
  /** Present if a parent waits for the end. */
  hasParent: "w",
  /** Definition hash and input hash, 16 bytes each. */
  hashes: "h",
  /** The last four commit ids, 8 bytes each, newest first. */
  commitIds: "c",
  checksum: "k",
  /** Two bits a node. */
  nodes: "a",
  /** Everything in flight, cursors, facts, budgets. */
  body: "n",
  /** Tiny outputs. */
  tiny: "y",
  /** Code and text of a failure. */
  reason: "r",
  endedAtMs: "e",
  /** Keys of the index `due`. */
  duePartition: "q",
  dueAtMs: "d",
  /** Keys of the index `runs`. */
  runsPartition: "p",
  createdAtMs: "o",
  /** TTL, epoch seconds; on a row only from its end. */
  expiresAtS: "x",
} as const;

const rowFormat = 1;

/** A stored row: flat, numbers, texts and bytes only. */
export type Row = { readonly [name: string]: string | number | Uint8Array };

const a = rowAttributes;

/** The row of a run, all attributes but its key and `expiresAtS`. Attributes without content are absent. */
export function encodeRun(run: Run): Row {
  const body = new ByteWriter();
  writeBody(body, run);
  const fields: Record<string, string | number | Uint8Array> = {
    [a.format]: rowFormat,
    [a.runUid]: run.runUid,
    [a.recordVersion]: run.recordVersion,
    [a.transitionSeq]: run.transitionSeq,
    [a.status]: statusOf(run),
    [a.hashes]: hexToBytes(run.definitionHash + run.inputHash),
    [a.commitIds]: hexToBytes(run.commitIds.join("")),
    [a.body]: body.done(),
    [a.runsPartition]: runsPartition(run.tenant, run.workflow, run.runUid),
    [a.createdAtMs]: run.createdAtMs,
  };
  if (isLive(run)) fields[a.live] = 1;
  if (run.hasParent) fields[a.hasParent] = 1;
  if (run.nodes.length > 0) fields[a.nodes] = run.nodes;
  if (run.tiny.length > 0) fields[a.tiny] = writeTiny(run);
  if (run.reason) fields[a.reason] = `${run.reason.code} ${run.reason.message}`;
  if (run.endedAtMs !== undefined) fields[a.endedAtMs] = run.endedAtMs;
  Object.assign(fields, dueFields(run));
  fields[a.checksum] = checksumOf(fields);
  return fields;
}

/** Keys of the index `due`, or none. */
export function dueFields(run: Pick<Run, "due" | "runUid" | "tenant">): Row {
  const { due, runUid, tenant } = run;
  if (!due) return {};
  return { [a.duePartition]: partitionOfDue(due, tenant, runUid), [a.dueAtMs]: due.atMs };
}

function partitionOfDue(due: Due, tenant: string, runUid: string): string {
  if (due.kind === "at") return duePartition.live(runUid);
  return due.kind === "parked" ? duePartition.parked(runUid) : duePartition.endedBadly(tenant, runUid);
}

/** Reads a row back. Throws `newer-format` for a row of a later version, `bad-row` for what is damaged. */
export function decodeRun(key: { readonly pk: string }, row: { readonly [name: string]: unknown }): Run {
  const format = row[a.format];
  if (typeof format === "number" && format > rowFormat)
    throw new Fault("newer-format", `the row has format ${format}; this build reads ${rowFormat}`);
  if (format !== rowFormat)
    throw new Fault("bad-row", `the row has no format that this build knows: ${String(format)}`);
  if (!sameBytes(checksumOf(row), row[a.checksum])) throw new Fault("bad-row", "the row's checksum does not fit");
  try {
    return decoded(key.pk, row);
  } catch (error) {
    throw new Fault(
      "bad-row",
      `the row cannot be decoded: ${error instanceof Error ? error.message : String(error)}`,
      {},
      { cause: error },
    );
  }
}

function decoded(pk: string, row: { readonly [name: string]: unknown }): Run {
  const [tenant = "", runId = ""] = pk.split("#");
  const hashes = bytesToHex(bytesOf(row, a.hashes));
  const status = textOf(row, a.status) as RunStatus;
  const createdAtMs = numberOf(row, a.createdAtMs);
  const body = readBody(new ByteReader(bytesOf(row, a.body)), createdAtMs);
  const phase = (terminalPhases as readonly string[]).includes(status) ? (status as Phase) : body.phase;
  const reason = row[a.reason];
  const tiny = row[a.tiny];
  return {
    ...body,
    phase,
    tenant,
    runId,
    runUid: textOf(row, a.runUid),
    workflow: textOf(row, a.runsPartition).split("#")[1] ?? "",
    definitionHash: hashes.slice(0, 32),
    inputHash: hashes.slice(32),
    createdAtMs,
    recordVersion: numberOf(row, a.recordVersion),
    transitionSeq: numberOf(row, a.transitionSeq),
    hasParent: row[a.hasParent] !== undefined,
    reason: typeof reason === "string" ? reasonFrom(reason) : undefined,
    nodes: row[a.nodes] === undefined ? new Uint8Array() : bytesOf(row, a.nodes),
    tiny: tiny === undefined ? [] : readTiny(bytesOf(row, a.tiny), createdAtMs),
    commitIds: (bytesToHex(bytesOf(row, a.commitIds)).match(/.{16}/g) ?? []) as readonly string[],
    due: dueFrom(row),
    endedAtMs: row[a.endedAtMs] === undefined ? undefined : numberOf(row, a.endedAtMs),
  };
}

function dueFrom(row: { readonly [name: string]: unknown }): Due | undefined {
  const partition = row[a.duePartition];
  if (typeof partition !== "string") return undefined;
  const atMs = numberOf(row, a.dueAtMs);
  if (partition.startsWith("B")) return { kind: "ended-badly", atMs };
  return { kind: partition.startsWith("P") ? "parked" : "at", atMs };
}

function reasonFrom(text: string): { code: FaultCode; message: string } {
  const space = text.indexOf(" ");
  const code = text.slice(0, space);
  return { code: code in faults ? (code as FaultCode) : "bad-row", message: text.slice(space + 1) };
}

/** 53 bits over everything that a commit sets, without what the store counts up itself and what settling changes. */
export function checksumOf(row: { readonly [name: string]: unknown }): Uint8Array {
  const writer = new ByteWriter();
  for (const name of [
    a.runUid,
    a.transitionSeq,
    a.status,
    a.hashes,
    a.commitIds,
    a.nodes,
    a.body,
    a.tiny,
    a.reason,
    a.runsPartition,
    a.createdAtMs,
    a.endedAtMs,
  ]) {
    const value = row[name];
    if (value === undefined) continue;
    writer.raw(utf8(name));
    writer.block(value instanceof Uint8Array ? value : utf8(String(value)));
  }
  const hash = hash53(writer.done());
  const bytes = new Uint8Array(7);
  let rest = hash;
  for (let at = 6; at >= 0; at--) {
    bytes[at] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return bytes;
}

function sameBytes(expected: Uint8Array, stored: unknown): boolean {
  return (
    stored instanceof Uint8Array &&
    stored.length === expected.length &&
    expected.every((byte, at) => byte === stored[at])
  );
}

function bytesOf(row: { readonly [name: string]: unknown }, name: string): Uint8Array {
  const value = row[name];
  if (!(value instanceof Uint8Array)) throw new TypeError(`attribute ${name} is not binary`);
  return value;
}

function numberOf(row: { readonly [name: string]: unknown }, name: string): number {
  const value = row[name];
  if (typeof value !== "number") throw new TypeError(`attribute ${name} is not a number`);
  return value;
}

function textOf(row: { readonly [name: string]: unknown }, name: string): string {
  const value = row[name];
  if (typeof value !== "string") throw new TypeError(`attribute ${name} is not a text`);
  return value;
}
