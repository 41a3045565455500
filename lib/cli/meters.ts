import { paint, sized, type Terminal } from "./terminal.ts";

/** One figure: `value` with thousands separated, `per` what it comes to per run or per step, `note` what it means. */
export interface Meter {
  readonly name: string;
  readonly value: number;
  readonly unit?: string;
  readonly per?: string;
  readonly note?: string;
}

/** Figures under headings, in columns: names left, numbers right. Lines are cut to the terminal's width. */
export function drawMeters(
  groups: readonly { readonly title: string; readonly meters: readonly Meter[] }[],
  terminal: Terminal,
): string[] {
  const meters = groups.flatMap((group) => group.meters);
  const width = (text: (meter: Meter) => string) => Math.max(0, ...meters.map((meter) => [...text(meter)].length));
  const [names, values, units, pers] = [width((meter) => meter.name), width(figureOf), width(unitOf), width(perOf)];
  const lines = groups.flatMap(({ title, meters: rows }) => [
    "",
    paint(terminal, "bold", title),
    ...rows.map((meter) => {
      const noteWidth = Math.max(0, terminal.width - names - values - units - pers - 8);
      const note = meter.note ? sized(meter.note, Math.min(noteWidth, [...meter.note].length)) : "";
      const columns = [sized(meter.name, names), figureOf(meter).padStart(values), sized(unitOf(meter), units)];
      return `  ${[...columns, paint(terminal, "cyan", sized(perOf(meter), pers)), paint(terminal, "dim", note)].join(" ")}`.trimEnd();
    }),
  ]);
  return lines.slice(1);
}

const unitOf = (meter: Meter): string => meter.unit ?? "";
const perOf = (meter: Meter): string => meter.per ?? "";
/** Thousands apart, at most two decimals, the same in every locale. */
function figureOf({ value }: Meter): string {
  const [whole = "", fraction] = String(Number(value.toFixed(2))).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
