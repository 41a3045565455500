import { axisStepMs, duration } from "./duration.ts";
import { type Canvas, createCanvas, paint, type Style, sized, type Terminal } from "./terminal.ts";

/** How a stretch of a row ended, or what it is while it lasts. What waited ends `arrived` (a timer, a signal) or with a decision. */
export type Mark =
  | "ok"
  | "failed"
  | "lost"
  | "timed-out"
  | "cancelled"
  | "skipped"
  | "running"
  | "waiting"
  | "arrived"
  | "approved"
  | "rejected";

export interface TimelineBar {
  readonly fromMs: number;
  /** Absent: it goes on. */
  readonly toMs?: number | undefined;
  readonly mark: Mark;
  /** Shown behind the bar where there is room: who decided, why it failed. */
  readonly label?: string | undefined;
}

/** One row: a node, or an attempt, an item, a compensation of it (`depth` 1). */
export interface TimelineRow {
  readonly name: string;
  readonly kind: string;
  readonly bars: readonly TimelineBar[];
  readonly depth?: number;
}

export interface Timeline {
  readonly title: string;
  readonly status: string;
  readonly fromMs: number;
  /** End of the run; absent while it lives. */
  readonly toMs?: number | undefined;
  /** The present, for what has no end. */
  readonly nowMs: number;
  readonly rows: readonly TimelineRow[];
}

/** Fill, end and colour of each mark. Every mark has an end of its own: the drawing reads without colours. */
const looks: Readonly<Record<Mark, { fill: string; end: string; style: Style; says: string }>> = {
  ok: { fill: "█", end: "✔", style: "green", says: "done" },
  failed: { fill: "█", end: "✘", style: "red", says: "failed" },
  lost: { fill: "▒", end: "†", style: "magenta", says: "worker lost" },
  "timed-out": { fill: "█", end: "⧗", style: "yellow", says: "timed out" },
  cancelled: { fill: "─", end: "⊘", style: "dim", says: "cancelled" },
  skipped: { fill: " ", end: "·", style: "dim", says: "skipped" },
  running: { fill: "▓", end: "▶", style: "cyan", says: "running" },
  waiting: { fill: "┄", end: "…", style: "blue", says: "waiting" },
  arrived: { fill: "┄", end: "◆", style: "blue", says: "arrived" },
  approved: { fill: "┄", end: "✔", style: "green", says: "approved" },
  rejected: { fill: "┄", end: "✘", style: "red", says: "rejected" },
};

/** One run over time, as lines of at most the terminal's width: a heading, an axis, a row per node and attempt, a legend. */
export function drawTimeline(timeline: Timeline, terminal: Terminal): string[] {
  const nameWidth = Math.min(
    Math.max(4, ...timeline.rows.map((row) => [...nameOf(row)].length)),
    Math.floor(terminal.width * 0.3),
  );
  const kindWidth = Math.max(4, ...timeline.rows.map((row) => row.kind.length));
  const gutter = nameWidth + kindWidth + 3;
  const scale = scaleOf(timeline, terminal.width - gutter - 1);
  const indent = " ".repeat(gutter);
  return [
    heading(timeline, terminal),
    "",
    indent + axisLabels(scale, terminal),
    indent + axisTicks(scale, terminal),
    ...timeline.rows.map((row) => {
      const name = sized(nameOf(row), nameWidth);
      const kind = paint(terminal, "dim", sized(row.kind, kindWidth));
      return `${paint(terminal, row.depth ? "dim" : "plain", name)} ${kind} ${drawn(row, scale, timeline, terminal)}`.trimEnd();
    }),
    "",
    legend(timeline, terminal),
  ];
}

/** Columns of a bar, the last one its end mark. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

interface Scale {
  readonly fromMs: number;
  readonly spanMs: number;
  readonly width: number;
  column(atMs: number): number;
}

function scaleOf({ fromMs, toMs, nowMs, rows }: Timeline, width: number): Scale {
  const last = Math.max(toMs ?? nowMs, ...rows.flatMap((row) => row.bars.map((bar) => bar.toMs ?? fromMs)));
  const spanMs = Math.max(1, last - fromMs);
  return {
    fromMs,
    spanMs,
    width,
    column: (atMs) => Math.min(width - 1, Math.max(0, Math.floor(((atMs - fromMs) / spanMs) * (width - 1)))),
  };
}

function heading({ title, status, fromMs, toMs, nowMs }: Timeline, terminal: Terminal): string {
  const style = status === "succeeded" ? "green" : /failed|terminated|cancelled/.test(status) ? "red" : "cyan";
  const took = toMs === undefined ? `for ${duration(nowMs - fromMs)}` : `in ${duration(toMs - fromMs)}`;
  const since = new Date(fromMs).toISOString().replace("T", " ").slice(0, 19);
  return `${paint(terminal, "bold", title)}  ${paint(terminal, style, status)} ${took}  ${paint(terminal, "dim", `since ${since} UTC`)}`;
}

function ticksOf(scale: Scale): number[] {
  const stepMs = axisStepMs(scale.spanMs, Math.max(1, Math.floor(scale.width / 14)));
  const ticks: number[] = [];
  for (let atMs = 0; atMs <= scale.spanMs; atMs += stepMs) ticks.push(atMs);
  return ticks;
}

function axisLabels(scale: Scale, terminal: Terminal): string {
  const canvas = createCanvas(terminal, scale.width);
  for (const atMs of ticksOf(scale)) {
    const text = atMs === 0 ? "0" : duration(atMs);
    const column = Math.min(scale.column(scale.fromMs + atMs), scale.width - text.length);
    if (canvas.isBlank(column - 1, column + text.length + 1)) canvas.put(column, text, "dim");
  }
  return canvas.toString();
}

function axisTicks(scale: Scale, terminal: Terminal): string {
  const canvas = createCanvas(terminal, scale.width);
  canvas.put(0, "─".repeat(scale.width), "dim");
  for (const atMs of ticksOf(scale)) canvas.put(scale.column(scale.fromMs + atMs), atMs === 0 ? "├" : "┼", "dim");
  return canvas.toString();
}

function drawn(row: TimelineRow, scale: Scale, timeline: Timeline, terminal: Terminal): string {
  const canvas = createCanvas(terminal, scale.width);
  const ends = row.bars.map((bar) => bar.toMs ?? timeline.toMs ?? timeline.nowMs);
  const columns = row.bars.map((bar, index) => drawBar(canvas, bar, scale, ends[index]!));
  // Labels last: a label never hides a bar, and is cut where there is no room.
  for (const [index, bar] of row.bars.entries()) {
    const text = bar.label ?? (bar.mark === "skipped" ? "skipped" : duration(ends[index]! - bar.fromMs));
    drawLabel(canvas, text, columns[index]!, scale.width, bar.label !== undefined);
  }
  return canvas.toString();
}

function drawBar(canvas: Canvas, bar: TimelineBar, scale: Scale, endMs: number): Stretch {
  const { fill, end, style } = looks[bar.mark];
  const from = scale.column(bar.fromMs);
  const to = Math.max(from, scale.column(endMs));
  canvas.put(from, fill.repeat(to - from), style);
  canvas.put(to, end, style);
  return { from, to };
}

/** Behind the bar, else before it; a label that somebody asked for is cut rather than left out. */
function drawLabel(canvas: Canvas, text: string, bar: Stretch, width: number, isWanted: boolean): void {
  const length = [...text].length;
  const behind = { at: bar.to + 2, room: width - bar.to - 2 };
  const before = { at: bar.from - length - 1, room: bar.from - 1 };
  if (behind.room >= length && canvas.isBlank(bar.to + 1, behind.at + length + 1)) canvas.put(behind.at, text, "dim");
  else if (before.at >= 0 && canvas.isBlank(before.at - 1, bar.from)) canvas.put(before.at, text, "dim");
  else if (isWanted && behind.room >= 8 && canvas.isBlank(bar.to + 1, width)) {
    canvas.put(behind.at, sized(text, behind.room), "dim");
  } else if (isWanted && before.room >= 8 && canvas.isBlank(0, bar.from)) {
    canvas.put(0, sized(text, before.room), "dim");
  }
}

function legend({ rows }: Timeline, terminal: Terminal): string {
  const used = new Set(rows.flatMap((row) => row.bars.map((bar) => bar.mark)));
  return (Object.keys(looks) as Mark[])
    .filter((mark) => used.has(mark))
    .map(
      (mark) => `${paint(terminal, looks[mark].style, looks[mark].fill.trim() + looks[mark].end)} ${looks[mark].says}`,
    )
    .join("   ");
}

const nameOf = (row: TimelineRow): string => `${row.depth ? `${"  ".repeat(row.depth - 1)}└ ` : ""}${row.name}`;
