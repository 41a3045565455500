import type { NodeDef } from "../../../lib/core/definition.ts";
import { ref } from "../../core/fixture.ts";
import { definitionOf, hashOf } from "../../engine/raw.ts";
import type { Scope } from "../scope.ts";
import { commands, flow, inline, step, waitFor, yields } from "./parts.ts";

const kid = definitionOf("kid", [inline("k", ["$input"])], ref("k"));
const parent = flow(
  [{ kind: "child", name: "c", workflow: "kid", definition: hashOf(kid), input: { n: ref("$input", "n") } } as NodeDef],
  "c",
);

const waiting = definitionOf("kid", [waitFor("go")], ref("go"));
const waitingParent = flow(
  [{ kind: "child", name: "c", workflow: "kid", definition: hashOf(waiting), input: {} } as NodeDef],
  "c",
);

const lateParent = flow(
  [
    step("a", ["$input"]),
    { kind: "child", name: "c", workflow: "kid", definition: hashOf(kid), input: { n: ref("a") } } as NodeDef,
  ],
  "c",
);

/** Runs that wait for runs. */
export const children: readonly Scope[] = [
  {
    name: "child-end",
    about: "A child that ends, and one death anywhere between its start and its parent's end; there is no watchdog.",
    not: "Two children; slices of wide maps.",
    definitions: [parent, kid],
    faults: { crash: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "child-end-late",
    about:
      "The same with messages that come back late or are lost: the watchdog and the parent's own look must heal it.",
    not: "Both at once.",
    definitions: [parent, kid],
    faults: { crash: 1, lostMessage: 1 },
    comesBack: ["late"],
    ends: ["succeeded"],
    isWrong: yields(2),
  },
  {
    name: "child-against-cancel",
    about: "A parent that is cancelled while its child starts, runs or ends.",
    not: "Grandchildren; deaths: in child-against-cancel-death.",
    definitions: [parent, kid],
    outside: [commands("cancel")],
    hasWatchdog: false,
    ends: ["succeeded", "cancelled"],
    isWrong: yields(2),
  },
  {
    name: "waiting-child-against-cancel",
    about:
      "A parent that is cancelled while its child starts or waits for somebody, with a call that the platform refuses: the child is told.",
    not: "Deaths; lost requests.",
    definitions: [waitingParent, waiting],
    // whoever gets no answer asks again, by the same id
    outside: [
      { ...commands("cancel"), byMs: 0 },
      { ...commands("cancel", "cancel"), name: "cancel again", byMs: 0 },
    ],
    faults: { throttle: 1 },
    slots: 1,
    ends: ["cancelled"],
  },
  {
    name: "child-lost-reply",
    about: "A child whose creation or end gets no reply.",
    not: "Two lost replies.",
    definitions: [lateParent, kid],
    faults: { lostReply: 1, repeat: 1 },
    hasWatchdog: false,
    ends: ["succeeded"],
    isWrong: yields(3),
  },
  {
    name: "child-start-death",
    about:
      "A worker that starts a child, and one death anywhere: a child that was created and not dispatched is found by its own due.",
    not: "Lost replies: in child-lost-reply.",
    definitions: [lateParent, kid],
    faults: { crash: 1 },
    ends: ["succeeded"],
    isWrong: yields(3),
  },
  {
    name: "child-start-against-cancel",
    about: "A parent that is cancelled while a worker starts its child: it runs and is told to stop, or never begins.",
    not: "Deaths; three functions at a time.",
    definitions: [lateParent, kid],
    outside: [commands("cancel")],
    isLong: true,
    hasWatchdog: false,
    ends: ["succeeded", "cancelled"],
    isWrong: yields(3),
  },
  {
    name: "waiting-child-start",
    about:
      "A parent that is cancelled while a worker starts a child that waits for somebody: it is told to stop, or never begins.",
    not: "Deaths; three functions at a time.",
    definitions: [
      flow(
        [
          step("a", ["$input"]),
          { kind: "child", name: "c", workflow: "kid", definition: hashOf(waiting), input: { n: ref("a") } } as NodeDef,
        ],
        "c",
      ),
      waiting,
    ],
    outside: [{ ...commands("cancel"), byMs: 0 }],
    hasWatchdog: false,
    ends: ["cancelled"],
  },
  {
    name: "child-against-cancel-death",
    about: "A parent that is cancelled while its child starts, runs or ends, and one death.",
    not: "Grandchildren.",
    definitions: [parent, kid],
    outside: [commands("cancel")],
    faults: { crash: 1 },
    isLong: true,
    hasWatchdog: false,
    ends: ["succeeded", "cancelled"],
    isWrong: yields(2),
  },
];
