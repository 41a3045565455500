import type { Attempt } from "../core/inputs.ts";
import { attemptName } from "../core/keys.ts";
import type { Owed } from "../core/owed.ts";
import { nodeAt, type Program } from "../core/program.ts";
import type { Active, Run } from "../core/run.ts";
import type { RunEvent } from "../core/run-events.ts";
import { isWide } from "../core/slices.ts";
import type { Message } from "../ports.ts";
import { cancelChild, notifyParent, startChild } from "./children.ts";
import type { Engine } from "./engine.ts";
import { inTurns } from "./in-turns.ts";
import { send, taskMessage, wakeUp } from "./messages.ts";
import { publish } from "./publish.ts";
import { readerOf } from "./resolve.ts";
import { holdSlice, startSlices } from "./slices.ts";

/**
 * Does what a committed state owes: sends tasks and timers, starts and cancels children, tells the parent, publishes. Everything
 * here may be done twice. Throws a transient fault if something could not be done: the message that asked for it is handed back.
 * False: all but an event, which a message of its own carries on; a run that has ended is not settled then.
 */
export async function perform(
  engine: Engine,
  run: Run,
  program: Program,
  owed: readonly Owed[],
  attempts: ReadonlyMap<string, Attempt | undefined> = new Map(),
): Promise<boolean> {
  const messages: Message[] = [];
  const starts: Active[] = [];
  const pauses: Active[] = [];
  const events: RunEvent[] = [];
  for (const each of owed) {
    switch (each.kind) {
      case "task":
        // a claimed attempt has its worker: a second message would only wait for its lease
        if (!attempts.get(attemptName(each.entry.node, each.entry.index, each.entry.attempt)))
          messages.push(taskMessage(run, each));
        break;
      case "timer":
        messages.push(timerMessage(run, each));
        break;
      case "start-child":
        starts.push(each.entry);
        break;
      case "cancel-child":
        await cancelChild(engine, run, each.entry);
        break;
      case "pause-slice":
        pauses.push(each.entry);
        break;
      case "notice":
        await notifyParent(engine, run, program);
        break;
      case "event":
        events.push(each.event);
    }
  }
  await send(engine, messages);
  await inTurns(pauses, async (entry) => await holdSlice(engine, run, entry, "pause"));
  await startAll(engine, run, program, starts);
  return await publish(engine, run, events);
}

async function startAll(engine: Engine, run: Run, program: Program, entries: readonly Active[]): Promise<void> {
  const reader = readerOf(engine, run, program);
  const isSlice = (entry: Active) => isWide(nodeAt(program, entry.node).def);
  await inTurns(
    entries.filter((entry) => !isSlice(entry)),
    async (entry) => await startChild(reader, entry),
  );
  await startSlices(reader, entries.filter(isSlice));
}

function timerMessage(run: Run, owed: Extract<Owed, { kind: "timer" }>): Message {
  const { node, index, attempt, untilMs } = owed.entry;
  const name = attemptName(node, index, attempt);
  return wakeUp(run, { why: "timer", hints: [name] }, owed.delayMs, `${run.runUid}:${name}:timer-${untilMs}`);
}
