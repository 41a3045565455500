/** What drawing needs to know of the terminal: its width, and whether it takes colours. */
export interface Terminal {
  /** Columns. */
  readonly width: number;
  readonly isTty: boolean;
  readonly hasColour: boolean;
}

/** The part of `process.stdout` that says so. */
interface Stream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** The part of `process.env` that says so. */
interface Env {
  readonly NO_COLOR?: string | undefined;
  readonly TERM?: string | undefined;
}

/**
 * Colours only on a terminal, and never against `NO_COLOR` (https://no-color.org: present and not empty). A width of 100 where
 * there is none: in a file or a pipe.
 */
export function terminalOf(stream: Stream, env: Env): Terminal {
  const isTty = stream.isTTY === true;
  const width = Math.max(40, stream.columns ?? 100);
  return { width, isTty, hasColour: isTty && !env.NO_COLOR && env.TERM !== "dumb" };
}

const codes = {
  plain: "",
  bold: "1",
  dim: "2",
  red: "31",
  green: "32",
  yellow: "33",
  blue: "34",
  magenta: "35",
  cyan: "36",
} as const;

export type Style = keyof typeof codes;

/** Text in a style, or as it is where the terminal takes none. */
export function paint(terminal: Terminal, style: Style, text: string): string {
  if (!terminal.hasColour || style === "plain" || text === "") return text;
  return `\u001b[${codes[style]}m${text}\u001b[0m`;
}

/** A line as cells of one column each, so that later bars draw over earlier ones and styles never count as width. */
export interface Canvas {
  /** Writes from a column on; what lies outside of the line is cut. */
  put(column: number, text: string, style?: Style): void;
  /** Whether these columns are still blank. */
  isBlank(from: number, to: number): boolean;
  toString(): string;
}

/** An empty line of this many columns. Every character is taken as one column wide: names are plain text. */
export function createCanvas(terminal: Terminal, width: number): Canvas {
  const cells: { char: string; style: Style }[] = Array.from({ length: width }, () => ({ char: " ", style: "plain" }));
  return {
    put: (column, text, style = "plain") => {
      for (const [index, char] of [...text].entries()) {
        const at = column + index;
        if (at >= 0 && at < width) cells[at] = { char, style };
      }
    },
    isBlank: (from, to) => cells.slice(Math.max(0, from), to).every(({ char }) => char === " "),
    toString: () => {
      let line = "";
      for (let from = 0, to = 0; from < width; from = to) {
        const { style } = cells[from]!;
        while (to < width && cells[to]!.style === style) to++;
        const text = cells
          .slice(from, to)
          .map(({ char }) => char)
          .join("");
        line += text.trim() === "" ? text : paint(terminal, style, text);
      }
      return line.trimEnd();
    },
  };
}

/** Cut to a width with an ellipsis, or filled up to it. */
export function sized(text: string, width: number): string {
  const chars = [...text];
  if (chars.length > width) return `${chars.slice(0, Math.max(0, width - 1)).join("")}…`;
  return text + " ".repeat(width - chars.length);
}
