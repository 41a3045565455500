import { rowAttributes as a, decodeRun } from "../../lib/core/row-format.ts";
import type { Run } from "../../lib/core/run.ts";
import type { Fields, Key, Write } from "../../lib/ports.ts";
import type { Process } from "./process.ts";

/** A change of one record, as the store made it. */
export interface Changed {
  readonly atMs: number;
  readonly write: Write;
  readonly before: Fields | undefined;
  readonly now: Fields | undefined;
  /** Who asked for it; nobody where a simulation sets something up. */
  readonly by: Process | undefined;
}

/** A change of a run's row, read. */
export interface Committed extends Changed {
  readonly was: Run | undefined;
  readonly is: Run | undefined;
}

/** A row as any build reads it: one that a build ahead wrote has the next format. */
function readRow(key: Key, fields: Fields): Run {
  return decodeRun({ pk: key.pk }, { ...fields, [a.format]: 1 });
}

/** A change of a row, read; `undefined` for its neighbours. */
export function committed(change: Changed, last: ReadonlyMap<string, Run>): Committed | undefined {
  const { key } = change.write;
  if (key.sk !== "STATE") return undefined;
  const was = change.before && (last.get(key.pk) ?? readRow(key, change.before));
  return { ...change, was, is: change.now && readRow(key, change.now) };
}
