import { itemBytes } from "../ports/item-size.ts";
import type { Fields, Key } from "../ports.ts";

/**
 * What DynamoDB charges on demand, in units, by its published rules.
 * Sources: DynamoDB Developer Guide, "DynamoDB read and write operations" (capacity consumption), "Global secondary indexes" (index
 * updates), "Write request units" and "Read request units".
 */

const keysOfIndexes = [
  ["q", "d"],
  ["p", "o"],
] as const;

/** A write of one record: a kilobyte or part of one, of the larger of what was and what is; of what was if a condition failed. */
export function writeUnits(key: Key, before: Fields | undefined, now: Fields | undefined): number {
  const bytes = Math.max(
    ...[before, now].map((fields) => (fields ? itemBytes({ ...fields, pk: key.pk, sk: key.sk }) : 0)),
  );
  return Math.max(1, Math.ceil(bytes / 1024));
}

/** What that change costs in both keys-only indexes: to appear 1, to go 1, to move 2, otherwise nothing. Entries are far below 1 KB. */
export function indexUnits(before: Fields | undefined, now: Fields | undefined): number {
  return keysOfIndexes.reduce((sum, names) => {
    const [was, is] = [before, now].map((fields) => entryOf(fields, names));
    if (was === is) return sum;
    return sum + (was === undefined ? 0 : 1) + (is === undefined ? 0 : 1);
  }, 0);
}

function entryOf(fields: Fields | undefined, [partition, sort]: readonly [string, string]): string | undefined {
  if (fields?.[partition] === undefined || fields[sort] === undefined) return undefined;
  return JSON.stringify([fields[partition], fields[sort]]);
}

/** A read of so many bytes at once: 4 KB or part of that, at least one; half of it if it need not be consistent. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (isConsistent ? 1 : 0.5);
}

/** Bytes of a record for reading; nothing for one that is not there. */
export function bytesOf(key: Key, fields: Fields | undefined): number {
  return fields ? itemBytes({ ...fields, pk: key.pk, sk: key.sk }) : 0;
}
