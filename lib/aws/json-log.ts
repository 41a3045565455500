import type { Log } from "../ports.ts";

const levels = ["debug", "info", "warn", "error"] as const;

export interface JsonLogOptions {
  /** Takes one line without its end; on Lambda `(line) => process.stdout.write(line + "\n")`: `console` would add a prefix. */
  readonly print: (line: string) => void;
  readonly nowMs: () => number;
  /** Less than this is not written; `info` unless given. */
  readonly minimum?: (typeof levels)[number];
  /** Fields of every line: which function, which build. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** One JSON object a line: `time`, `level`, `event`, then the fields. Errors are written with their causes. Never throws. */
export function createJsonLog({ print, nowMs, minimum = "info", fields: always = {} }: JsonLogOptions): Log {
  return {
    write(level, event, fields) {
      if (levels.indexOf(level) < levels.indexOf(minimum)) return;
      const line = { time: new Date(nowMs()).toISOString(), level, event, ...always, ...fields };
      try {
        print(JSON.stringify(line, legible));
      } catch {
        // Something circular: the event is worth more than its fields.
        print(JSON.stringify({ time: line.time, level, event, unprintable: Object.keys(fields) }));
      }
    },
  };
}

function legible(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  // What an error carries beside its text: a code, details, a request id.
  return { ...value, name, message, stack, ...(cause === undefined ? {} : { cause }) };
}
