import { rowAttributes as row } from "../../../lib/core/row-format.ts";
import type { Engine } from "../../../lib/engine/engine.ts";
import { purge } from "../../../lib/engine/purge.ts";
import type { Edit } from "../../../lib/ports.ts";
import { refOf } from "../../engine/raw.ts";
import type { Outside, Scope } from "../scope.ts";
import type { StoredText } from "../state.ts";
import { byHand, commands, flow, oneStep, sends, starts, step, twoSteps, waitFor, yields } from "./parts.ts";

const key = { pk: "default#r", sk: "STATE" };

/** Writes the row as it stands, with an edit, unless somebody else was faster. */
async function touch({ store }: Engine, edit: (version: number) => readonly Edit[]): Promise<boolean> {
  const [stored] = await store.read([key], { isConsistent: true });
  if (stored?.[row.live] === undefined) return true;
  const version = Number(stored[row.recordVersion]);
  const edits: readonly Edit[] = [{ kind: "add", path: [row.recordVersion], by: 1 }, ...edit(version)];
  const when = [{ kind: "equals", path: [row.recordVersion], value: version } as const];
  return (await store.write({ kind: "edit", key, edits, when })).kind === "applied";
}

const touches = (name: string, edit: () => readonly Edit[], more: Partial<Outside> = {}): Outside => ({
  name,
  ...more,
  call: async (engine) => {
    while (!(await touch(engine, edit))) {}
  },
});

const isThere = (records: readonly StoredText[]) =>
  records.find((each) => each.key.pk === key.pk && each.key.sk === key.sk);

/** Rows that are damaged, hot, of another build, or gone. */
export const rough: readonly Scope[] = [
  {
    name: "damaged-row",
    about:
      "A row that is damaged at any time, so that every processing of it throws: the run is ended on enough strikes, spaced, and no sooner.",
    not: "Damage beyond its checksum.",
    definitions: [oneStep],
    outside: [touches("damage", () => [{ kind: "set", path: [row.checksum], value: new Uint8Array(7) }])],
    limits: { strikesMax: 2, strikeSpacingMs: 60_000, stuckAfterMs: 60_000 },
    slots: 1,
    isRough: true,
    ends: ["failed", "succeeded"],
    isWrong: ({ answers, status, output }) =>
      answers["damage"] === undefined && (status !== "succeeded" || output !== 2) ? `it came to ${status}` : undefined,
  },
  {
    name: "newer-row",
    about: "A row that a newer build has written, met by functions of the older one until the deploy is done.",
    not: "What the newer build does to it; messages of a newer format.",
    definitions: [twoSteps],
    messages: (uid) => [byHand(uid, 1)],
    outside: [
      touches("newer", () => [{ kind: "set", path: [row.format], value: 2 }], { byMs: 0 }),
      touches("deploy", () => [{ kind: "set", path: [row.format], value: 1 }], { after: "newer", byMs: 180_000 }),
    ],
    limits: { strikesMax: 1, strikeSpacingMs: 0, stuckAfterMs: 0 },
    slots: 1,
    ends: ["succeeded"],
    isWrong: yields(3),
  },
  {
    name: "two-builds",
    about:
      "Two builds at work until a deploy is done, the older of which lacks a step's handler: what it parks goes on with the newer one, and costs no try.",
    not: "Other graphs; inputs that do not fit any more.",
    definitions: [flow([step("a", ["$input"]), step("b", ["a"], { handler: "new@1" })], "b")],
    lacks: "new@1",
    faults: { duplicate: 1 },
    outside: [{ name: "deploy", byMs: 300_000, call: async () => undefined }],
    ends: ["succeeded"],
    isWrong: yields(3),
  },
  {
    name: "livelock",
    about:
      "Somebody who writes the row again and again, and a wake-up that loses each of its tries: no more requeues than there may be.",
    not: "Progress in between: in hot-run.",
    definitions: [oneStep],
    messages: (uid) => [byHand(uid, 1)],
    outside: [1, 2, 3].map((n) => touches(`touch ${n}`, () => [], n > 1 ? { after: `touch ${n - 1}` } : {})),
    limits: { commitWindowsMs: [0], requeuesMax: 1 },
    isRough: true,
    hasWatchdog: false,
    ends: ["succeeded", "failed"],
    isWrong: ({ answers, status, output }) =>
      (status === "failed" && answers["touch 3"] === undefined) || (status === "succeeded" && output !== 2)
        ? `it came to ${status}`
        : undefined,
  },
  {
    name: "hot-run",
    about: "Two signals that move a run while a wake-up loses each of its tries: whoever moves is never ended.",
    not: "Deaths.",
    definitions: [
      flow([waitFor("go", "x"), waitFor("go", "y", { after: ["x"] }), waitFor("go", "z", { after: ["y"] })], "z"),
    ],
    messages: (uid) => [byHand(uid, 1)],
    outside: [sends("go", 1), sends("go", 2, "signal 1")],
    limits: { commitWindowsMs: [0], requeuesMax: 1 },
    hasWatchdog: false,
    ends: ["running"],
  },
  {
    name: "purged-and-restarted",
    about:
      "A run that is terminated, purged and started again by its id, while its worker, its wake-ups and its commands are still on their way.",
    not: "A claim that is held up for as long as its run takes to end and to be purged, which no record refuses.",
    definitions: [oneStep],
    messages: (uid) => [byHand(uid, 1)],
    outside: [
      commands("terminate"),
      {
        name: "purge",
        after: "terminate",
        isReady: (records) => isThere(records)?.fields[row.live] === undefined,
        call: (engine) => purge(engine, refOf("r")),
      },
      { ...starts("restart", 5), after: "purge" },
    ],
    hasWatchdog: false,
    isLong: true,
    ends: ["succeeded", "terminated"],
    isWrong: ({ answers, status, output }) =>
      answers["restart"]?.startsWith("ok") && (status !== "succeeded" || output !== 6)
        ? `what was started again comes to ${status} ${output}`
        : undefined,
  },
];
