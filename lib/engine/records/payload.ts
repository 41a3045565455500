import { partitionOf } from "../../core/keys.ts";
import type { Fields, Key, Write } from "../../ports.ts";

/** Attributes of a payload beside its record: JSON text, or bytes, or the name of what the payload store has. */
export const payloadAttributes = {
  runUid: "u",
  text: "r",
  bytes: "y",
  stored: "s",
  items: "l",
  expiresAtS: "x",
} as const;

export function payloadKey(run: { readonly tenant: string; readonly runId: string }, sk: string): Key {
  return { pk: partitionOf(run.tenant, run.runId), sk };
}

/** Write-once: who comes second finds the first one's. */
export function putPayload(key: Key, fields: Fields): Write {
  return { kind: "put", key, fields, when: [{ kind: "absent", path: ["pk"] }] };
}

/** Deletes a neighbour of a terminal run that is being purged. */
export function deleteNeighbour(key: Key): Write {
  return { kind: "delete", key, when: [{ kind: "exists", path: ["pk"] }] };
}
