import type { AttemptTimeline, NodeTimeline, RunTimeline } from "../core/timeline.ts";
import type { Mark, Timeline, TimelineBar, TimelineRow } from "./timeline.ts";

/**
 * A run as `drawTimeline` takes it: a row per node that has begun or was skipped, its attempts as bars on it; a row of its own for an
 * attempt that has something to say, and for each item of a map while they are few.
 */
export function drawable(run: RunTimeline): Timeline {
  return {
    title: `${run.workflow} ${run.runId}`,
    status: run.status,
    fromMs: run.fromMs,
    toMs: run.toMs,
    nowMs: run.nowMs,
    rows: run.nodes.filter((node) => node.fromMs !== undefined).flatMap(rowsOf),
  };
}

function rowsOf(node: NodeTimeline): readonly TimelineRow[] {
  const kind = node.undoes === undefined ? node.kind : "undo";
  if (node.items) return [mapRow(node), ...(node.items.total > 1 ? itemRows(node) : [])];
  const bars = node.state === "skipped" ? [skipped(node)] : node.attempts.map((attempt) => barOf(attempt, node));
  return [{ name: node.name, kind, bars }];
}

const skipped = ({ fromMs = 0 }: NodeTimeline): TimelineBar => ({ fromMs, toMs: fromMs, mark: "skipped" });

function mapRow(node: NodeTimeline): TimelineRow {
  const { fromMs = 0, toMs } = node;
  const marks = { open: "running", done: "ok", failed: "failed", skipped: "skipped", pending: "cancelled" } as const;
  return { name: node.name, kind: node.kind, bars: [{ fromMs, toMs, mark: marks[node.state], label: summary(node) }] };
}

function summary({ items }: NodeTimeline): string {
  if (!items) return "";
  const { done, total, failed, retries, inFlight } = items;
  return [
    `${done} of ${total} items`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(retries > 0 ? [`${retries} tried again`] : []),
    ...(inFlight > 0 ? [`${inFlight} in flight`] : []),
  ].join(", ");
}

/** At most so many items of a map get a row; what is left out is said. */
const itemRowsMax = 8;

function itemRows(node: NodeTimeline): readonly TimelineRow[] {
  const indexes = [...new Set(node.attempts.map(({ index }) => index))];
  return indexes.slice(0, itemRowsMax).map((index): TimelineRow => {
    const attempts = node.attempts.filter((attempt) => attempt.index === index);
    const [{ slice, childRunId } = {}] = attempts;
    const name = slice
      ? `items ${slice.from} to ${slice.from + slice.count - 1}`
      : `${childRunId ? "run" : "item"} ${index}`;
    return { name, kind: "", depth: 1, bars: attempts.map((attempt) => barOf(attempt, { kind: node.kind, attempts })) };
  });
}

/** Only the last bar of a row, or one that stands alone, has the room for words. */
function barOf(attempt: AttemptTimeline, row: Pick<NodeTimeline, "kind" | "attempts">): TimelineBar {
  const isLast = attempt === row.attempts.at(-1);
  const label = labelOf(attempt) ?? (isLast && attempt.attempt > 1 ? `attempt ${attempt.attempt}` : undefined);
  return {
    fromMs: attempt.fromMs,
    toMs: attempt.toMs,
    mark: markOf(attempt, row.kind),
    ...(label !== undefined && { label }),
  };
}

function labelOf({ state, fault, decision, childRunId }: AttemptTimeline): string | undefined {
  if (decision?.timedOut) return "nobody decided in time";
  if (decision) return [decision.by && `by ${decision.by}`, decision.comment].filter(Boolean).join(": ");
  if (state === "parked") return "parked: waits for a deploy";
  if (state === "left") return "not awaited";
  // which run it was stands in its fault; here the row says it
  return fault?.message.replace(`child run ${childRunId} `, "");
}

function markOf({ state, decision }: AttemptTimeline, kind: NodeTimeline["kind"]): Mark {
  if (state === "ok" && (kind === "signal" || kind === "sleep")) return "arrived";
  if (state === "timed-out") return "timed-out";
  if (decision) return decision.approved ? "approved" : "rejected";
  const marks = {
    queued: "waiting",
    running: "running",
    waiting: "waiting",
    parked: "waiting",
    left: "cancelled",
    ok: "ok",
    failed: "failed",
    lost: "lost",
    cancelled: "cancelled",
    "never-claimed": "failed",
    decided: "arrived",
  } as const satisfies Record<Exclude<AttemptTimeline["state"], "timed-out">, Mark>;
  return marks[state];
}
