import { duration } from "./duration.ts";
import { paint, type Style, sized, type Terminal } from "./terminal.ts";

/** How many runs of a workflow have each status. Unknown statuses count as live. */
export interface WorkflowProgress {
  readonly workflow: string;
  readonly counts: Readonly<Record<string, number>>;
}

/** Segments of a bar from left to right; each has a character of its own, so that the bar reads without colours. */
const segments: readonly { readonly status: string; readonly char: string; readonly style: Style }[] = [
  { status: "succeeded", char: "█", style: "green" },
  { status: "failed", char: "▓", style: "red" },
  { status: "terminated", char: "▓", style: "red" },
  { status: "cancelled", char: "▒", style: "yellow" },
  { status: "compensating", char: "▚", style: "magenta" },
  { status: "cancelling", char: "▚", style: "yellow" },
  { status: "paused", char: "┄", style: "blue" },
  { status: "parked", char: "┄", style: "magenta" },
  { status: "running", char: "░", style: "cyan" },
];
const ended = new Set(["succeeded", "failed", "terminated", "cancelled"]);

/**
 * Progress of many runs: a bar per workflow with its counts by status, and a sum. On a terminal the caller draws it over the last
 * one (`redraw`); elsewhere one plain line per workflow, to be printed now and then.
 */
export function drawProgress(progress: readonly WorkflowProgress[], elapsedMs: number, terminal: Terminal): string[] {
  const all = progress.map(({ counts }) => sumOf(counts));
  const done = progress.map(({ counts }) => sumOf(counts, (status) => ended.has(status)));
  const totals = { all: all.reduce((a, b) => a + b, 0), done: done.reduce((a, b) => a + b, 0) };
  const sum = `${totals.done} of ${totals.all} runs have ended after ${duration(elapsedMs)}`;
  if (!terminal.isTty) {
    const lines = progress.map(
      ({ workflow, counts }, index) =>
        `${workflow}: ${done[index]}/${all[index]} ended (${spelled(counts).join(", ")})`,
    );
    return [...lines, sum];
  }
  const nameWidth = Math.min(Math.max(...progress.map(({ workflow }) => workflow.length), 1), 24);
  const countWidth = Math.max(...all.map((count) => `${count}`.length), 1) * 2 + 1;
  const barWidth = Math.max(10, Math.min(40, terminal.width - nameWidth - countWidth - 58));
  return [
    ...progress.map(({ workflow, counts }, index) => {
      const name = paint(terminal, "bold", sized(workflow, nameWidth));
      const count = `${done[index]}/${all[index]}`.padStart(countWidth);
      const room = terminal.width - nameWidth - barWidth - countWidth - 5;
      return `${name} ${bar(counts, barWidth, terminal)} ${count}  ${spelledWithin(counts, room, terminal)}`.trimEnd();
    }),
    paint(terminal, "dim", sum),
  ];
}

/** What to write so that these lines replace the ones drawn before: cursor up, each line cleared, the rest of the old ones too. */
export function redraw(lines: readonly string[], linesBefore: number): string {
  const up = linesBefore > 0 ? `\u001b[${linesBefore}A` : "";
  return `${up}${lines.map((line) => `\u001b[2K${line}\n`).join("")}\u001b[0J`;
}

/** Shares of the whole, as columns that add up to the width: what exists is never rounded away. */
function bar(counts: Readonly<Record<string, number>>, width: number, terminal: Terminal): string {
  const total = sumOf(counts);
  if (total === 0) return " ".repeat(width);
  const shown = known(counts).map(({ status, count }) => ({ ...lookOf(status), count }));
  const columns = shown.map(({ count }) => Math.max(1, Math.floor((count / total) * width)));
  for (let rest = width - columns.reduce((a, b) => a + b, 0); rest !== 0; rest -= Math.sign(rest)) {
    const most = columns.indexOf(Math.max(...columns));
    columns[most] = columns[most]! + Math.sign(rest);
  }
  return shown.map(({ char, style }, index) => paint(terminal, style, char.repeat(columns[index]!))).join("");
}

function spelled(counts: Readonly<Record<string, number>>): string[] {
  return known(counts).map(({ status, count }) => `${count} ${status}`);
}

function spelledWithin(counts: Readonly<Record<string, number>>, room: number, terminal: Terminal): string {
  const parts: string[] = [];
  let used = 0;
  for (const { status, count } of known(counts)) {
    const { char, style } = lookOf(status);
    const text = `${count} ${status}`;
    used += text.length + 3;
    if (used > room) break;
    parts.push(`${paint(terminal, style, char)} ${text}`);
  }
  return parts.join(" ");
}

function known(counts: Readonly<Record<string, number>>): { status: string; count: number }[] {
  const order = segments.map(({ status }) => status);
  const others = Object.keys(counts).filter((status) => !order.includes(status));
  return [...order, ...others]
    .map((status) => ({ status, count: counts[status] ?? 0 }))
    .filter(({ count }) => count > 0);
}

const lookOf = (status: string) => segments.find((segment) => segment.status === status) ?? segments.at(-1)!;
const sumOf = (counts: Readonly<Record<string, number>>, wanted: (status: string) => boolean = () => true): number =>
  Object.entries(counts).reduce((sum, [status, count]) => sum + (wanted(status) ? count : 0), 0);
