import { adder } from "../../sim/flows.ts";
import type { ExploredHandler } from "../process.ts";
import type { Scope } from "../scope.ts";
import { flow, inline, oneStep, sends, step, waitFor, yields } from "./parts.ts";

/** Says that it is alive before it does what it does. */
const beating: ExploredHandler = async (input, context, effect) => {
  await context.heartbeat();
  await effect();
  return await adder(input as never, context);
};

/** Time that goes on while somebody is in the middle of something. */
export const leases: readonly Scope[] = [
  {
    name: "late-result",
    about:
      "A worker that is slower than its lease: its result against the lease's end, its own message received again, and the next attempt.",
    not: "Two slow workers; deaths.",
    definitions: [oneStep],
    faults: { slow: 2 },
    visibilityMs: 40_000,
    isLong: true,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "dead-worker-and-zombie",
    about: "A worker that dies or is slower than its lease, three functions at a time.",
    not: "More than one of either.",
    definitions: [oneStep],
    faults: { slow: 1, crash: 1 },
    slots: 3,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "late-heartbeat",
    about: "A heartbeat against whoever finds that the lease has run out.",
    not: "Several heartbeats.",
    definitions: [flow([step("a", ["$input"], { timeoutMs: 200_000, heartbeatMs: 20_000 })], "a")],
    handler: beating,
    faults: { slow: 2 },
    visibilityMs: 30_000,
    slots: 2,
    isLong: true,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "watchdog-against-slow-commit",
    about: "A commit that takes so long that the watchdog looks in the middle of it.",
    not: "A watchdog that dies.",
    definitions: [oneStep],
    faults: { slow: 1 },
    isWatchdogAnytime: true,
    slots: 2,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "inline-early-look",
    about: "An inline holder that dies, and a look at its lease's end that comes early once; there is no watchdog.",
    not: "Leases longer than a message can wait.",
    definitions: [flow([inline("a", ["$input"])], "a")],
    faults: { crash: 1, early: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "inline-zombie",
    about: "An inline holder that is slower than its lease: its commit against whoever closes its attempt.",
    not: "Two slow holders.",
    definitions: [flow([inline("a", ["$input"])], "a")],
    faults: { slow: 2 },
    visibilityMs: 40_000,
    isLong: true,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "inline-holder-loses-commits",
    about:
      "An inline holder that loses its only try of a commit to a signal, and whose lease runs out: its result must count.",
    not: "More than one try of a commit.",
    definitions: [flow([inline("a", ["$input"]), waitFor("go")], "a")],
    outside: [sends("go", 1)],
    limits: { commitWindowsMs: [0] },
    faults: { slow: 1 },
    visibilityMs: 40_000,
    isLong: true,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "inline-holder-lost-request",
    about:
      "An inline holder that loses its only try of a commit to a signal, and one request, also of writing its result down.",
    not: "Time that goes on meanwhile: in inline-holder-loses-commits.",
    definitions: [flow([inline("a", ["$input"]), waitFor("go")], "a")],
    outside: [sends("go", 1)],
    limits: { commitWindowsMs: [0] },
    faults: { lostRequest: 1 },
    ends: ["succeeded", "running"],
    isWrong: yields(2),
  },
];
