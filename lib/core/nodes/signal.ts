import type { SignalNode } from "../definition.ts";
import { addActive, type Draft, dropActive, node as nodeOf, transition } from "../draft.ts";
import { factsOf, outputOf } from "../facts.ts";
import type { Facts, Signal } from "../inputs.ts";
import { isTaken, take } from "../mail.ts";
import type { ProgramNode } from "../program.ts";
import type { Active } from "../run.ts";
import { nodeDone, nodeFailed, nodeYielded } from "./settle.ts";

export function openSignal(draft: Draft, node: ProgramNode, def: SignalNode): void {
  const untilMs = def.timeoutMs === undefined ? 0 : draft.nowMs + def.timeoutMs;
  addActive(draft, {
    node: node.position,
    index: 0,
    attempt: 1,
    state: "signal",
    sinceMs: draft.nowMs,
    untilMs,
    sends: 1,
    lost: 0,
    token: "",
  });
}

/** The oldest signal of that name that nobody took; after its instant, without one, the time-out. */
export function examineSignal(draft: Draft, node: ProgramNode, def: SignalNode, entry: Active): void {
  const signal = draft.inputs.mail.signals.find(
    (each) => each.name === def.signal && !isTaken(draft.run.mail, each.seq),
  );
  if (signal) return takeSignal(draft, node, entry, signal);
  if (draft.run.isPaused || entry.untilMs === 0 || entry.untilMs > draft.nowMs) return;
  dropActive(draft, entry);
  if (def.onTimeout === "continue") return nodeYielded(draft, node, undefined);
  nodeFailed(draft, node, { code: "timed-out", message: `no signal "${def.signal}" came within ${def.timeoutMs} ms` });
}

function takeSignal(draft: Draft, node: ProgramNode, entry: Active, signal: Signal): void {
  const { payload } = signal;
  transition(draft, { mail: take(draft.run.mail, signal.seq) });
  draft.tiny = [
    ...draft.tiny,
    {
      node: node.position,
      kind: payload.kind,
      text: payload.kind === "value" ? JSON.stringify(payload.value) : payload.token,
      attempt: entry.attempt,
      startedAtMs: entry.sinceMs,
      endedAtMs: draft.nowMs,
    },
  ];
  dropActive(draft, entry);
  nodeDone(
    draft,
    node,
    payload.kind === "value"
      ? factsOf(draft.program, node.position, outputOf(node.def, payload.value))
      : ownFacts(draft, node, payload.facts),
  );
}

/** Whoever sent it did not know which node would take it, and worked the facts of all that could out: the others' are not true of it. */
const ownFacts = ({ program }: Draft, { position }: ProgramNode, facts: Facts): Facts =>
  new Map([...facts].filter(([number]) => program.facts[number]?.source === position));

/** A full mailbox whose oldest signal nobody waits for gives that one up, so that the others can come. */
export function giveUpHead(draft: Draft): void {
  const head = draft.inputs.mail.signals.find((signal) => !isTaken(draft.run.mail, signal.seq));
  if (!draft.inputs.mail.isFull || !head || head.seq !== draft.run.mail.signals) return;
  // what was taken in this tick makes room by itself
  if (draft.run.mail.signals > draft.base.mail.signals) return;
  if (draft.active.some((entry) => entry.state === "signal" && isNamed(draft, entry, head.name))) return;
  draft.notes.undelivered += 1;
  transition(draft, { mail: take(draft.run.mail, head.seq) });
}

const isNamed = (draft: Draft, entry: Active, name: string) => {
  const { def } = nodeOf(draft, entry.node);
  return def.kind === "signal" && def.signal === name;
};
