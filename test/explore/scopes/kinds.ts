import { attemptAttributes as at } from "../../../lib/core/attempt-format.ts";
import type { ExternalNode, MapNode, RepeatNode } from "../../../lib/core/definition.ts";
import { tokenText } from "../../../lib/engine/completion-token.ts";
import type { Engine } from "../../../lib/engine/engine.ts";
import { complete } from "../../../lib/engine/external.ts";
import { ref, stepBody } from "../../core/fixture.ts";
import { refOf } from "../../engine/raw.ts";
import type { End, Outside, Scope } from "../scope.ts";
import type { StoredText } from "../state.ts";
import { byHand, flow, retry, step, yields } from "./parts.ts";

const items: MapNode = {
  kind: "map",
  name: "m",
  items: ref("$input", "list"),
  body: stepBody({ retry }),
  concurrency: 1,
};

const { kind: _, ...work } = stepBody({ retry, input: { last: ref("$last") } });

const again: RepeatNode = {
  ...work,
  kind: "repeat",
  name: "p",
  until: { $: ["gt", ref("p"), 1] },
  limit: 3,
  everyMs: 1000,
  factor: 1,
  longestMs: 1000,
};

const elsewhere: ExternalNode = {
  ...work,
  kind: "external",
  name: "e",
  input: { n: ref("$input", "n") },
  retry: { ...retry, attempts: 1 },
  completeWithinMs: 60_000,
};

const attemptsOf = (records: readonly StoredText[]) => records.filter(({ key }) => key.sk.startsWith("ATT#"));

/** Somebody who has the token of the attempt that runs, and completes it. */
const completes = (name: string, output: number): Outside => ({
  name,
  isReady: (records) => attemptsOf(records).some(({ fields }) => fields[at.token] !== undefined),
  call: async (engine: Engine) => {
    const { items: found } = await engine.store.list({ pk: "default#r", prefix: "ATT#", isConsistent: true });
    const [attempt] = found;
    const run = { ...refOf("r"), runUid: String(attempt?.[at.runUid]) };
    const token = tokenText(run, { node: 0, index: 0, attempt: 1 }, String(attempt?.[at.token]));
    return await complete(engine, token, output);
  },
});

/** Who was told "yes" is whose output counts; nobody else was told so; nobody was where the time ran out. */
function oneCompletion({ status, output, answers }: End): string | undefined {
  const told = Object.entries(answers).filter(([, answer]) => answer === "ok");
  if (told.length > 1) return "two were told that they completed it";
  const [winner] = told;
  if (winner && output !== Number(winner[0]))
    return `${winner[0]} was told "yes", and the run comes to ${status} ${output}`;
  return !winner && status === "succeeded" && answers["7"] !== undefined && answers["8"] !== undefined
    ? "nobody was told that they completed it"
    : undefined;
}

/** Nodes of other kinds than steps. */
export const kinds: readonly Scope[] = [
  {
    name: "two-at-once",
    about: "Two steps in flight at once and one behind both, with two workers, a wake-up and one death.",
    not: "More than two in flight.",
    definitions: [flow([step("a", ["$input"]), step("b", ["$input"]), step("c", ["a", "b"])], "c")],
    faults: { crash: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(5),
  },
  {
    name: "fan-out",
    about: "A step, and two behind it that begin with one commit.",
    not: "Deaths: in two-at-once.",
    definitions: [flow([step("a", ["$input"]), step("b", ["a"]), step("c", ["a"])], "c")],
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(3),
  },
  {
    name: "map-one-by-one",
    about: "A map of two items, one at a time, with a wake-up that looks at everything, and one death.",
    not: "Items in flight together: two steps are, in two-at-once; slices; failures that are tolerated.",
    definitions: [flow([items], "m")],
    input: { list: [1, 2] },
    messages: (uid) => [byHand(uid, 1)],
    faults: { crash: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields([2, 3]),
  },
  {
    name: "repeat",
    about: "A step that is repeated once after a pause, with a wake-up, one death, and a timer that comes early.",
    not: "A limit that is reached.",
    definitions: [flow([again], "p")],
    messages: (uid) => [byHand(uid, 1)],
    faults: { crash: 1, early: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "external",
    about: "Two who complete what a handler began, with different outputs, against the end of its time.",
    not: "Heartbeats from outside; failures from outside; deaths: in external-death.",
    definitions: [flow([elsewhere], "e")],
    outside: [completes("7", 7), completes("8", 8)],
    ends: ["succeeded", "failed"],
    isWrong: oneCompletion,
  },
  {
    name: "external-death",
    about: "Somebody who completes what a handler began, against the end of its time, and one death, theirs included.",
    not: "Two who complete.",
    definitions: [flow([elsewhere], "e")],
    outside: [completes("7", 7)],
    faults: { crash: 1 },
    ends: ["succeeded", "failed"],
    isWrong: oneCompletion,
  },
];
