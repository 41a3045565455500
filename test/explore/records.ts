import { attemptAttributes as at } from "../../lib/core/attempt-format.ts";
import { checksumOf, decodeRun, rowAttributes as row } from "../../lib/core/row-format.ts";
import type { Run } from "../../lib/core/run.ts";
import type { Fields } from "../../lib/ports.ts";
import type { StoredText } from "./state.ts";

const runs = new WeakMap<StoredText, Run>();

/** A row as a run. The codec is the engine's; what is asked of it is not. */
export function runOf(stored: StoredText): Run {
  const known = runs.get(stored);
  if (known) return known;
  const run = decodeRun({ pk: stored.key.pk }, mended(stored.fields));
  runs.set(stored, run);
  return run;
}

/** What a scope damages, or says is of a newer format, is read as if it were not. */
function mended(fields: Fields): Fields {
  const isDamaged = String(fields[row.checksum]) !== String(checksumOf(fields));
  const isNewer = Number(fields[row.format]) > 1;
  return isDamaged || isNewer ? { ...fields, [row.format]: 1, [row.checksum]: checksumOf(fields) } : fields;
}

/** Whether an attempt's record is a claim that has not ended. */
export const isOpenClaim = (fields: Fields) => fields[at.token] !== undefined && fields[at.outcome] === undefined;
