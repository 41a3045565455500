import type { AttemptTimeline, NodeTimeline, RunTimeline } from "./timeline.ts";

/**
 * A run's timeline as text: a line about the run, and one for each node, with its attempts and their times since the start. The same
 * run gives the same text on every machine, so it can be compared with one that was kept.
 */
export function timelineText(timeline: RunTimeline): string {
  const since = (ms: number) => `+${spanText(ms - timeline.fromMs)}`;
  const { workflow, status, toMs, reason, isUncompensated, nodes } = timeline;
  const about = [
    `${workflow}: ${status}`,
    ...(toMs === undefined ? [] : [`after ${spanText(toMs - timeline.fromMs)}`]),
    ...(reason ? [`(${reason.code}: ${reason.message})`] : []),
    ...(isUncompensated ? ["uncompensated"] : []),
  ].join(" ");
  const width = Math.max(0, ...nodes.map(({ name }) => name.length));
  const lines = nodes.map((node) => `  ${node.name.padEnd(width)}  ${nodeText(node, since)}`.trimEnd());
  return [about, ...lines].join("\n");
}

function nodeText(node: NodeTimeline, since: (ms: number) => string): string {
  const { state, attempts, items, hidden } = node;
  const many = new Set(attempts.map(({ index }) => index)).size > 1 || hidden > 0;
  const parts = attempts.map((each) => attemptText(each, many, since));
  const sum = items && `${items.done} of ${items.total} done${items.failed > 0 ? `, ${items.failed} failed` : ""}`;
  return [state.padEnd(7), ...(sum ? [`${sum};`] : []), parts.join(", ")].filter(Boolean).join(" ");
}

function attemptText(attempt: AttemptTimeline, isItem: boolean, since: (ms: number) => string): string {
  const { index, fromMs, toMs, state, fault, decision, slice } = attempt;
  const item = slice ? `${slice.from}..${slice.from + slice.count - 1}` : index;
  const span = toMs === undefined || toMs === fromMs ? since(fromMs) : `${since(fromMs)}..${since(toMs)}`;
  const said =
    decision && ` ${decision.approved ? "yes" : "no"}${decision.by === undefined ? "" : ` by ${decision.by}`}`;
  return `${isItem ? `[${item}] ` : ""}${state}${said ?? ""} ${span}${fault ? ` (${fault.code}: ${fault.message})` : ""}`;
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;

/** An exact span: `0s`, `1d 2h`, `3m 20s 5ms`. */
function spanText(ms: number): string {
  let left = Math.abs(Math.round(ms));
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return `${ms < 0 ? "-" : ""}${parts.join(" ") || "0s"}`;
}
