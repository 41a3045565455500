import { attemptAttributes as a, outcomeFrom } from "./attempt-format.ts";
import type { FaultData } from "./faults.ts";
import type { Outcome } from "./inputs.ts";
import { decisionOf } from "./nodes/gate.ts";
import { childBodyOf, type ProgramNode } from "./program.ts";
import { type Active, isLive, type MapFrame, nodeState, type Run, type TinyOutput } from "./run.ts";
import { cutOf, isWide, leftFault, rangeOf, reportOf } from "./slices.ts";
import type { AttemptTimeline, ItemsTimeline, NodeTimeline } from "./timeline.ts";

/** An attempt's record as it was read, under its name. */
export interface AttemptRecord {
  readonly node: number;
  readonly index: number;
  readonly attempt: number;
  readonly fields: { readonly [name: string]: unknown };
}

/** What the story of one node is put together from. */
export interface NodeSources {
  readonly run: Run;
  readonly node: ProgramNode;
  readonly records: readonly AttemptRecord[];
  /** Outputs and faults of inline attempts, and signals that were taken. */
  readonly tiny: readonly TinyOutput[];
  readonly active: readonly Active[];
  /** When everything that the node waited for had ended. */
  readonly readyAtMs: number;
  readonly nowMs: number;
  readonly childRunId: (id: Pick<Active, "node" | "index" | "attempt">) => string;
}

/** All attempts of a node that left a trace, in order of index and attempt. */
export function attemptsOf(sources: NodeSources): readonly AttemptTimeline[] {
  const found = new Map<string, AttemptTimeline>();
  // the later source knows more: an attempt in flight, its record, what the row holds of an inline one
  for (const entry of sources.active) put(found, inFlight(sources, entry));
  const size = sliceSizeOf(sources);
  for (const record of sources.records)
    put(found, size === undefined ? recorded(sources, record) : recordedSlice(sources, record, size));
  for (const output of sources.tiny) if (output.attempt > 0) put(found, inline(output));
  return [...found.values()].sort((one, other) => one.index - other.index || one.attempt - other.attempt);
}

const put = (found: Map<string, AttemptTimeline>, each: AttemptTimeline) =>
  void found.set(`${each.index}/${each.attempt}`, each);

function inFlight({ run, nowMs, node, childRunId }: NodeSources, entry: Active): AttemptTimeline {
  const { index, attempt, state } = entry;
  const common = { index, attempt, fromMs: Math.min(entry.sinceMs, nowMs) };
  const child = {
    ...((childBodyOf(node.def) || isWide(node.def)) && { childRunId: childRunId(entry) }),
    ...sliceInFlight(run, node, index),
  };
  switch (state) {
    case "task":
      return { ...common, state: "queued", ...(entry.sinceMs > nowMs && { untilMs: entry.sinceMs }) };
    case "parked":
      return { ...common, state: "parked" };
    case "sleep":
    case "signal":
    case "gate":
      return { ...common, state: "waiting", ...(entry.untilMs > 0 && { untilMs: entry.untilMs }) };
    default:
      return { ...common, state: "running", ...child };
  }
}

function recorded(sources: NodeSources, { index, attempt, fields, node: position }: AttemptRecord): AttemptTimeline {
  const { run, node } = sources;
  const outcome = outcomeFrom(fields);
  const started = fields[a.startedAtMs];
  const ended = fields[a.endedAtMs];
  const lastEndMs = sources.records
    .filter((each) => each.index === index && each.attempt < attempt)
    .reduce((last, each) => Math.max(last, Number(each.fields[a.endedAtMs] ?? 0)), sources.readyAtMs);
  const fault = outcome && faultOf(outcome);
  const decision =
    outcome && node.def.kind === "gate" && decisionOf(node.def, { node: position, index, attempt, outcome });
  return {
    index,
    attempt,
    state: outcome?.kind ?? (isLive(run) ? "running" : "left"),
    fromMs: typeof started === "number" ? started : lastEndMs,
    ...(typeof ended === "number" && { toMs: ended }),
    ...(fault && { fault }),
    ...(decision && { decision }),
    ...(childBodyOf(node.def) && {
      childRunId: sources.childRunId({ node: position, index, attempt }),
    }),
  };
}

function sliceInFlight({ maps }: Run, { def, position }: ProgramNode, index: number): Pick<AttemptTimeline, "slice"> {
  const frame = maps.find(({ node }) => node === position);
  if (!isWide(def) || !frame) return {};
  const { from, to } = rangeOf(cutOf(def.concurrency, frame.total), frame.total, index);
  return { slice: { from, count: to - from } };
}

/** How many items a slice of a wide map has: by the row while it is in progress, by the largest of its slices afterwards. */
function sliceSizeOf({ run, node, records }: NodeSources): number | undefined {
  if (!isWide(node.def)) return undefined;
  const frame = run.maps.find((each) => each.node === node.position);
  if (frame) return cutOf(node.def.concurrency, frame.total).size;
  return records.reduce((most, { fields }) => {
    const outcome = outcomeFrom(fields);
    return Math.max(most, outcome ? reportOf(outcome).count : 0);
  }, 0);
}

/** A slice as its notice has it: it has failed if it left anything undone. */
function recordedSlice(
  sources: NodeSources,
  { index, attempt, fields, node }: AttemptRecord,
  size: number,
): AttemptTimeline {
  const outcome = outcomeFrom(fields);
  const report = outcome && reportOf(outcome);
  const toMs = Number(fields[a.endedAtMs] ?? 0);
  const isWhole = report?.done === report?.count;
  return {
    index,
    attempt,
    state: outcome?.kind !== "ok" ? (outcome?.kind ?? "running") : isWhole ? "ok" : "failed",
    fromMs: Number(fields[a.startedAtMs] ?? toMs),
    toMs,
    ...(report && !isWhole && { fault: leftFault(report) }),
    childRunId: sources.childRunId({ node, index, attempt }),
    ...(report && report.count > 0 && { slice: { from: index * size, count: report.count, done: report.done } }),
  };
}

function faultOf(outcome: Outcome): FaultData | undefined {
  return outcome.kind === "failed" ? outcome.fault : undefined;
}

function inline({ kind, text, attempt, startedAtMs, endedAtMs }: TinyOutput): AttemptTimeline {
  const common = { index: 0, attempt, fromMs: startedAtMs, toMs: endedAtMs };
  if (kind !== "fault") return { ...common, state: "ok" };
  const fault = JSON.parse(text) as FaultData;
  return { ...common, state: fault.code === "timed-out" ? "timed-out" : "failed", fault };
}

/** Waits that ended without a message: a timer, a time-out that is data, whatever a run that ended took with it. */
export function untraced(sources: NodeSources, before: readonly NodeTimeline[]): readonly AttemptTimeline[] {
  const { run, node, readyAtMs } = sources;
  const { def, deps } = node;
  if (def.kind !== "sleep" && def.kind !== "signal") return [];
  const wait = { index: 0, attempt: 1, fromMs: readyAtMs };
  const untilMs = readyAtMs + ((def.kind === "sleep" ? def.forMs : def.timeoutMs) ?? 0);
  const state = nodeState(run.nodes, node.position);
  if (state === "done") return [{ ...wait, state: def.kind === "sleep" ? "ok" : "timed-out", toMs: untilMs }];
  if (state === "failed") return [{ ...wait, state: "timed-out", toMs: untilMs }];
  const wasOpen = state === "pending" && deps.every((dep) => ["done", "skipped"].includes(before[dep]?.state ?? ""));
  if (!wasOpen || run.endedAtMs === undefined || readyAtMs >= run.endedAtMs) return [];
  return [{ ...wait, state: "cancelled", toMs: run.endedAtMs }];
}

/** Sums up a map: from the row while it is in progress, from its records afterwards. */
export function itemsOf(sources: NodeSources, attempts: readonly AttemptTimeline[]): ItemsTimeline {
  const frame = sources.run.maps.find((each) => each.node === sources.node.position);
  if (isWide(sources.node.def)) return itemsOfSlices(frame, attempts);
  const isSlice = sources.node.items?.kind === "slice";
  const last = new Map(attempts.map((each) => [each.index, each.state]));
  const done = [...last.values()].filter((state) => state === "ok").length;
  return {
    total: frame ? totalOf(frame, sources.node) : isSlice ? last.size : Math.max(-1, ...last.keys()) + 1,
    done: frame?.done ?? done,
    failed: frame?.failed ?? last.size - done,
    inFlight: sources.active.length,
    retries: attempts.length - last.size,
  };
}

/** Of the items that a slice has handed out, or is to: those of others are no part of it. */
function totalOf({ total, next }: MapFrame, { items }: ProgramNode): number {
  if (items?.kind !== "slice") return total;
  const cut = cutOf(items.concurrency, total);
  const { from, to } = rangeOf(cut, total, Math.floor(Math.max(0, next - 1) / cut.size));
  return to - from;
}

/** Of a wide map items are in flight as soon as they are with a slice. */
function itemsOfSlices(frame: MapFrame | undefined, attempts: readonly AttemptTimeline[]): ItemsTimeline {
  const sum = (of: (slice: { readonly count: number; readonly done?: number }) => number) =>
    attempts.reduce((all, { slice }) => all + (slice ? of(slice) : 0), 0);
  const total = frame?.total ?? sum(({ count }) => count);
  const done = frame?.done ?? sum(({ done = 0 }) => done);
  const failed = frame?.failed ?? total - done;
  return { total, done, failed, inFlight: frame ? frame.next - done - failed : 0, retries: 0 };
}

/** Whether an attempt of an item says more than "done at once". */
export function hasStory(attempt: AttemptTimeline, all: readonly AttemptTimeline[]): boolean {
  return attempt.state !== "ok" || all.some((each) => each.index === attempt.index && each.attempt !== attempt.attempt);
}
