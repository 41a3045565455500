import type { Scope } from "../scope.ts";
import { byHand, flow, inline, oneStep, sends, starts, step, twoSteps, waitFor, yields } from "./parts.ts";

/** Wake-ups, workers and inline holders among themselves. */
export const steps: readonly Scope[] = [
  {
    name: "two-wake-ups",
    about:
      "Two wake-ups that say nothing, and workers, on a run of two steps; one of them may die, and there is no watchdog to heal it.",
    not: "Three functions at a time; two deaths; messages that come back late.",
    definitions: [twoSteps],
    messages: (uid) => [byHand(uid, 1), byHand(uid, 2)],
    faults: { crash: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(3),
  },
  {
    name: "one-step-late",
    about: "One step whose worker may die twice, its message coming back at once or after the watchdog has looked.",
    not: "More than one step; a watchdog that looks in the middle of a processing.",
    definitions: [oneStep],
    messages: (uid) => [byHand(uid, 1)],
    faults: { crash: 2 },
    comesBack: ["at once", "late"],
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "three-at-a-time",
    about: "Three functions at a time on a run of two steps: a worker and two wake-ups that look at everything.",
    not: "Deaths.",
    definitions: [twoSteps],
    messages: (uid) => [byHand(uid, 1), byHand(uid, 2)],
    slots: 3,
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(3),
  },
  {
    name: "two-starts",
    about: "Two who start one run by the same id, and a third with another input, one of whom dies.",
    not: "Inputs that are too big for the row.",
    definitions: [oneStep],
    isStartedLater: true,
    outside: [starts("one"), starts("two"), starts("other", 2)],
    faults: { crash: 1 },
    slots: 1,
    ends: ["succeeded"],
    isWrong: ({ answers, output }) => {
      const isOther = answers["other"]?.startsWith("ok");
      const isSame = answers["one"]?.startsWith("ok") || answers["two"]?.startsWith("ok");
      if (isOther && isSame) return "two inputs were taken for one run";
      if ((isOther && output !== 3) || (isSame && output !== 2)) return `the output is ${output}`;
      return undefined;
    },
  },
  {
    name: "inline-signal",
    about: "A chain of an inline step, a wait and an inline step, with a signal at any time, and one death.",
    not: "Steps that share a commit; a holder whose time is over.",
    definitions: [
      flow([inline("a", ["$input"]), waitFor("go", "go", { after: ["a"] }), inline("b", ["a", "go"])], "b"),
    ],
    outside: [sends("go", 5)],
    faults: { crash: 1 },
    hasWatchdog: false,
    ends: ["succeeded", "running"],
    isWrong: yields(8),
  },
  {
    name: "remote-then-inline",
    about:
      "A queued step before an inline one, a wait beside them, and one death: whoever comes again looks at the lease of the dead.",
    not: "Two deaths.",
    definitions: [flow([step("a", ["$input"]), inline("b", ["a"]), waitFor("go")], "b")],
    outside: [sends("go", 5)],
    faults: { crash: 1 },
    slots: 1,
    hasWatchdog: false,
    ends: ["succeeded", "running"],
    isWrong: yields(3),
  },
  {
    name: "inline-chain",
    about:
      "Two inline steps whose holder may die twice, with a wake-up beside it; leases run out, there is no watchdog.",
    not: "Long leases; heartbeats.",
    definitions: [flow([inline("a", ["$input"]), inline("b", ["a"])], "b")],
    messages: (uid) => [byHand(uid, 1)],
    faults: { crash: 2 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(3),
  },
  {
    name: "inline-then-remote",
    about: "An inline step before a queued one, with a message that is delivered twice, and one death.",
    not: "Groups of their own.",
    definitions: [flow([inline("a", ["$input"]), step("b", ["a"])], "b")],
    faults: { crash: 1, duplicate: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(3),
  },
];
