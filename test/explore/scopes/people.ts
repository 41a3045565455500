import { ref } from "../../core/fixture.ts";
import type { End, Outside, Scope } from "../scope.ts";
import { commands, decides, flow, sends, step, waitFor, yields } from "./parts.ts";

/** Ann rejects, bob approves, and so does the time-out. */
const gated = flow(
  [
    { kind: "gate", name: "g", timeoutMs: 60_000, onTimeout: "approve", onReject: "continue" },
    step("yes", ["g"], { when: ref("g", "approved") }),
    step("no", ["g"], { when: { $: ["not", ref("g", "approved")] } }),
  ],
  "g",
);

const untimed = flow(
  [
    { kind: "gate", name: "g", onReject: "continue" },
    step("no", ["g"], { when: { $: ["not", ref("g", "approved")] } }),
  ],
  "g",
);

/** Ann once more, by the id of her first decision. */
const again: Outside = { ...decides("ann", false), name: "ann again", after: "ann" };

/** Whoever was told "yes" was heeded, and nobody else was told so. */
function oneWinner({ answers, effects, status }: End): string | undefined {
  const winners = Object.entries(answers).filter(([who, answer]) => who !== "cancel" && answer?.startsWith("ok"));
  if (winners.length > 1) return `two were told that they decided: ${winners.map(([who]) => who).join(", ")}`;
  const [winner] = winners;
  const isHeeded = effects.has(winner?.[0] === "ann" ? "no" : "yes");
  if (winner && status === "succeeded" && !isHeeded) return `${winner[0]} was told "yes", and something else was done`;
  return effects.has("yes") && effects.has("no") ? "both ways were taken" : undefined;
}

/** Where ann's decision was heeded she was told so by her last call, and where she was told so it was heeded. */
function heeded({ answers, effects }: End): string | undefined {
  const told = Object.values(answers);
  const isYes = told.some((answer) => answer?.startsWith("ok"));
  if (isYes && !effects.has("no")) return 'ann was told "yes", and nothing was done';
  if (answers["ann"] === "ok" && answers["ann again"] === "ok") return "ann decided twice";
  return told.includes("gate-decided") ? "ann decided, and was told that somebody else did" : undefined;
}

/** What was done is undone, if the run was cancelled, and nothing else is. */
function undone({ status, effects, isCalm }: End): string | undefined {
  const [did, undid] = [effects.get("a") ?? 0, effects.get("a.undo") ?? 0];
  if (status === "succeeded" && undid > 0) return "a was undone, and all was well";
  // what a worker did before it died without a word, nobody knows
  if (status === "cancelled" && did > 0 && undid === 0 && isCalm) return "a was done, and not undone";
  return undefined;
}

/** People at their gates, and people who change their minds. */
export const people: readonly Scope[] = [
  {
    name: "gate",
    about: "Two people and a time-out at one gate, with a step behind it.",
    not: "Votes; a gate whose time-out is longer than a message can wait; deaths: in gate-death.",
    definitions: [gated],
    outside: [decides("ann", false), decides("bob", true)],
    ends: ["succeeded"],
    isWrong: oneWinner,
  },
  {
    name: "gate-death",
    about: "A person and a time-out at one gate, with a step behind it, and one death anywhere, the person's included.",
    not: "Two people who die.",
    definitions: [gated],
    outside: [decides("ann", false)],
    faults: { crash: 1 },
    ends: ["succeeded"],
    isWrong: oneWinner,
  },
  {
    name: "gate-alone",
    about: "A person at a gate, and no watchdog: the decision's own wake-up must be enough.",
    not: "Deaths.",
    definitions: [untimed],
    outside: [decides("ann", false)],
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: heeded,
  },
  {
    name: "gate-then-wait",
    about:
      "A person at a gate of a run that goes on waiting, and one death: what was decided is not looked at for ever.",
    not: "Time-outs.",
    definitions: [flow([{ kind: "gate", name: "g" }, waitFor("go", "go", { after: ["g"] })], "go")],
    outside: [decides("ann", true)],
    faults: { crash: 1 },
    ends: ["running"],
  },
  {
    name: "gate-lost-timer",
    about: "A gate that only its time-out decides, and messages that are lost: the watchdog finds it in time.",
    not: "People.",
    definitions: [gated],
    faults: { lostMessage: 2 },
    ends: ["succeeded"],
    isWrong: ({ effects }) => (effects.has("yes") ? undefined : "what the time-out decided was not done"),
  },
  {
    name: "gate-lost-reply",
    about:
      "A person at a gate whose decision, or anybody's commit, gets no reply, and who decides once more by the same id.",
    not: "Time-outs; two people; requests that are lost: in gate-lost-request.",
    definitions: [untimed],
    outside: [decides("ann", false), again],
    faults: { lostReply: 1 },
    slots: 1,
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: heeded,
  },
  {
    name: "gate-lost-request",
    about: "A person at a gate whose request is lost, and who decides once more by the same id.",
    not: "Time-outs; two people.",
    definitions: [untimed],
    outside: [decides("ann", false), again],
    faults: { lostRequest: 1 },
    slots: 1,
    hasWatchdog: false,
    // she may have been told to try again twice
    ends: ["succeeded", "running"],
    isWrong: heeded,
  },
  {
    name: "gate-terminate",
    about: 'A person at a gate of a run that somebody terminates: whoever was told "yes" was in time.',
    not: "Cancels, which are heeded in order; steps behind the gate.",
    definitions: [flow([{ kind: "gate", name: "g", onReject: "continue" }], "g")],
    outside: [decides("ann", true), commands("terminate")],
    hasWatchdog: false,
    ends: ["succeeded", "terminated"],
    isWrong: ({ answers, status }) =>
      status === "terminated" && answers["ann"]?.startsWith("ok") && !answers["terminate"]?.startsWith("ok")
        ? "ann was told yes, and nobody terminated it"
        : undefined,
  },
  {
    name: "gate-early-timer",
    about:
      "A gate that only its time-out decides, whose timer comes early once, and a signal taken beside it, without a watchdog.",
    not: "Clocks that step back.",
    definitions: [flow([{ kind: "gate", name: "g", timeoutMs: 60_000, onTimeout: "approve" }, waitFor("go")], "go")],
    outside: [sends("go", 5)],
    faults: { early: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(5),
  },
  {
    name: "cancel",
    about: "A cancel against the claim and the result of a step that can be undone, and one death.",
    not: "Several steps in flight; a compensation that fails.",
    definitions: [flow([step("a", ["$input"]), step("a.undo", ["a"], { compensates: "a" })], "a")],
    outside: [commands("cancel")],
    faults: { crash: 1 },
    isLong: true,
    hasWatchdog: false,
    ends: ["succeeded", "cancelled"],
    isWrong: undone,
  },
  {
    name: "cancel-two",
    about: "A cancel against a run of two steps, the first of which can be undone.",
    not: "Deaths: in cancel.",
    definitions: [flow([step("a", ["$input"]), step("b", ["a"]), step("a.undo", ["a"], { compensates: "a" })], "b")],
    outside: [commands("cancel")],
    hasWatchdog: false,
    ends: ["succeeded", "cancelled"],
    isWrong: undone,
  },
  {
    name: "cancel-and-terminate",
    about: "A cancel and a terminate of one run at once, against its worker.",
    not: "Deaths; two functions at a time.",
    definitions: [flow([step("a", ["$input"]), step("a.undo", ["a"], { compensates: "a" })], "a")],
    outside: [commands("cancel"), commands("terminate")],
    slots: 1,
    hasWatchdog: false,
    ends: ["succeeded", "cancelled", "terminated"],
  },
];
