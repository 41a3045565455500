import type { Log } from "../ports.ts";

/** From what only a search for a cause needs to what somebody must look at. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface JsonLogOptions {
  /** Takes one line without its end; on Lambda `(line) => process.stdout.write(line + "\n")`: `console` would add a prefix. */
  readonly print: (line: string) => void;
  readonly nowMs: () => number;
  /** Less than this is not written; `info` unless given. */
  readonly minimum?: LogLevel;
  /** Fields of every line, asked for at each: which function, which build, which invocation. */
  readonly fields?: () => Readonly<Record<string, unknown>>;
}

/** One JSON object a line: `time`, `level`, `event`, then the fields. Errors are written with their causes. Never throws. */
export function createJsonLog({ print, nowMs, minimum = "info", fields: always = () => ({}) }: JsonLogOptions): Log {
  return {
    write(level, event, fields) {
      if (logLevels.indexOf(level) < logLevels.indexOf(minimum)) return;
      const line = { time: new Date(nowMs()).toISOString(), level, event, ...always(), ...fields };
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
