import { rowAttributes } from "../../core/row-format.ts";
import type { Key, Write } from "../../ports.ts";

const count = "n";
const keptS = 86_400;

/** One counter a minute, for all processes: nobody holds a lock on the right to end runs. */
const counterKey = (nowMs: number): Key => ({ pk: "#WATCH", sk: `FORCE-FAILS#${Math.floor(nowMs / 60_000)}` });

/** One more in this minute, if it is not one too many. */
export function countForceFail(nowMs: number, max: number): Write {
  return {
    kind: "edit",
    key: counterKey(nowMs),
    edits: [{ kind: "add", path: [count], by: 1 }],
    when: [{ kind: "under", path: [count], value: max }],
  };
}

/** The first in this minute. */
export function openForceFails(nowMs: number): Write {
  return {
    kind: "put",
    key: counterKey(nowMs),
    fields: { [count]: 1, [rowAttributes.expiresAtS]: Math.ceil(nowMs / 1000) + keptS },
    when: [{ kind: "absent", path: ["pk"] }],
  };
}
