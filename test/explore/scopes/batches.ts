import type { Scope } from "../scope.ts";
import { byHand, flow, oneStep, sends, step, waitFor, yields } from "./parts.ts";

/** Wake-ups that one function receives together. */
export const batches: readonly Scope[] = [
  {
    name: "batch-of-one-run",
    about: "A signal's wake-up and one that looks at everything, one by one or in one batch, and one death.",
    not: "Batches of three; two batches at once.",
    definitions: [flow([step("a", ["$input"]), waitFor("go")], "go")],
    messages: (uid) => [byHand(uid, 1)],
    outside: [sends("go", 5)],
    batch: 2,
    slots: 1,
    faults: { crash: 1 },
    ends: ["succeeded", "running"],
    isWrong: yields(5),
  },
  {
    name: "batch-of-two-runs",
    about: "Wake-ups of two runs, one by one or in one batch, with two replies or requests that are lost or refused.",
    not: "Deaths: in batch-neighbour.",
    definitions: [oneStep],
    others: { s: "succeeded" },
    messages: (uid, other) => [byHand(uid, 1), byHand(other ?? "", 2, "s")],
    batch: 2,
    slots: 1,
    faults: { lostReply: 1, throttle: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "batch-neighbour",
    about:
      "Two runs whose wake-ups come in one batch, and one of whose commits kills who makes it: that run is ended, with a reason, and its neighbour never.",
    not: "Ten messages a batch.",
    definitions: [oneStep],
    others: { s: "failed" },
    messages: (uid, other) => [byHand(uid, 1), byHand(other ?? "", 2, "s")],
    batch: 2,
    slots: 1,
    limits: { strikesMax: 2, strikeSpacingMs: 0, stuckAfterMs: 0 },
    kills: ({ op, ...call }) =>
      op === "write" &&
      "write" in call &&
      call.write.kind === "edit" &&
      call.write.key.pk === "default#s" &&
      call.write.key.sk === "STATE" &&
      call.write.edits.some((edit) => edit.kind === "set" && edit.path[0] === "s" && edit.value !== "failed"),
    isRough: true,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
];
