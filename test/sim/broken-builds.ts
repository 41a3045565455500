/** A build that somebody broke: one place of the source, and what stands there instead. */
export interface BrokenBuild {
  /** What no longer holds, in one sentence. */
  readonly what: string;
  /** The first that saw it, under the profile `mixed`. */
  readonly seed: number;
  readonly file: string;
  /** Text of the source: there exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** Mistakes of the everyday kind, beside the protocol's rules in `test/mutations/table.ts`: the simulation finds each of them by itself. */
export const brokenBuilds: readonly BrokenBuild[] = [
  {
    what: "A map has one item more in flight than it may.",
    seed: 1,
    file: "lib/core/nodes/map.ts",
    find: `inFlight >= room ||`,
    replace: `inFlight > room ||`,
  },
  {
    what: "A map tolerates one failure less than it says.",
    seed: 34,
    file: "lib/core/nodes/map.ts",
    find: `frame.failed > toleratedOf(def, frame.total)`,
    replace: `frame.failed >= Math.max(1, toleratedOf(def, frame.total))`,
  },
  {
    what: "What must not be tried again is.",
    seed: 9,
    file: "lib/core/nodes/step.ts",
    find: `!faults[cause.code].isRetried || tries`,
    replace: `tries`,
  },
  {
    what: "A step has one try more than it may.",
    seed: 4,
    file: "lib/core/nodes/step.ts",
    find: `tries >= retry.attempts`,
    replace: `tries > retry.attempts`,
  },
  {
    what: "A sleep is too short.",
    seed: 3,
    file: "lib/core/nodes/sleep.ts",
    find: `draft.nowMs + (def.forMs ?? 0)`,
    replace: `draft.nowMs + Math.round((def.forMs ?? 0) * 0.9)`,
  },
  {
    what: "A sleep is over before its instant.",
    seed: 4,
    file: "lib/core/nodes/sleep.ts",
    find: `entry.untilMs > draft.nowMs) return;`,
    replace: `entry.untilMs > draft.nowMs + 60_000) return;`,
  },
  {
    what: "The oldest is undone first.",
    seed: 9,
    file: "lib/core/ending.ts",
    find: `for (let position = program.visibleCount - 1; position >= 0; position--)`,
    replace: `for (let position = 0; position < program.visibleCount; position++)`,
  },
  {
    what: "The newest signal is taken first.",
    seed: 86,
    file: "lib/core/nodes/signal.ts",
    find: `draft.inputs.mail.signals.find(
    (each) => each.name === def.signal`,
    replace: `draft.inputs.mail.signals.findLast(
    (each) => each.name === def.signal`,
  },
  {
    what: "A signal of any name is taken.",
    seed: 1,
    file: "lib/core/nodes/signal.ts",
    find: `each.name === def.signal && !isTaken`,
    replace: `!isTaken`,
  },
  {
    what: "A rejection approves.",
    seed: 9,
    file: "lib/core/nodes/gate.ts",
    find: `if (outcome?.kind === "decided") return outcome.decision;`,
    replace: `if (outcome?.kind === "decided") return { ...outcome.decision, approved: true };`,
  },
  {
    what: "A gate's time-out counts from the run's start.",
    seed: 14,
    file: "lib/core/nodes/gate.ts",
    find: `0 : draft.nowMs + def.timeoutMs`,
    replace: `0 : draft.run.createdAtMs + def.timeoutMs`,
  },
  {
    what: "A cancel is taken, and nothing comes of it.",
    seed: 6,
    file: "lib/core/commands.ts",
    find: `} else if (command.kind === "cancel") cancel(draft, command);`,
    replace: `} else if (command.kind === "cancel") change(draft, { isPaused: false });`,
  },
  {
    what: "A resume does not.",
    seed: 10,
    file: "lib/core/commands.ts",
    find: `isPaused: command.kind === "pause"`,
    replace: `isPaused: true`,
  },
  {
    what: "Workers claim for a paused run.",
    seed: 56,
    file: "lib/engine/work.ts",
    find: `isLive(run) && !run.isPaused && (`,
    replace: `isLive(run) && (`,
  },
  {
    what: "A due is an hour late.",
    seed: 1,
    file: "lib/core/due.ts",
    find: `return Math.max(wanted, nowMs + 1);`,
    replace: `return Math.max(wanted, nowMs + 1) + 3_600_000;`,
  },
  {
    what: "Leases have no slack.",
    seed: 1,
    file: "lib/core/nodes/lease.ts",
    find: `(body.heartbeatMs ?? body.timeoutMs) + limits.clockSlackMs`,
    replace: `body.heartbeatMs ?? body.timeoutMs`,
  },
  {
    what: "A deadline is passed over.",
    seed: 12,
    file: "lib/core/tick.ts",
    find: `if (nowMs >= run.deadlineAtMs) {`,
    replace: `if (nowMs >= run.deadlineAtMs + 3_600_000) {`,
  },
  {
    what: "Items of a map share a key.",
    seed: 1,
    file: "lib/engine/handler.ts",
    find: `-\${entry.index}\`,`,
    replace: `-0\`,`,
  },
  {
    what: "Every try has a key of its own.",
    seed: 1,
    file: "lib/engine/handler.ts",
    find: `-\${entry.index}\`,`,
    replace: `-\${entry.index}-\${entry.attempt}\`,`,
  },
  {
    what: "Children of one map are one child.",
    seed: 9,
    file: "lib/engine/child-id.ts",
    find: "attemptName(entry.node, entry.index, entry.attempt)",
    replace: "attemptName(entry.node, 0, entry.attempt)",
  },
  {
    what: "A purge leaves outputs behind.",
    seed: 9,
    file: "lib/core/keys.ts",
    find: `  \`OUT#\${uid8(runUid)}#\`,\n`,
    replace: "",
  },
  {
    what: "What a batch hands back is acknowledged.",
    seed: 3,
    file: "lib/aws/batch.ts",
    find: `for (const id of unknown.length > 0 ? ids : handBack) failed.add(id);`,
    replace: `for (const id of unknown.length > 0 ? ids : []) failed.add(id);`,
  },
  {
    what: "One message that is handed back takes its batch with it.",
    seed: 83,
    file: "lib/aws/batch.ts",
    find: `for (const id of unknown.length > 0 ? ids : handBack) failed.add(id);`,
    replace: `for (const id of handBack.length > 0 ? ids : handBack) failed.add(id);`,
  },
  {
    what: "A message is counted as received once.",
    seed: 7,
    file: "lib/aws/batch.ts",
    find: `    receiveCount,
    ...(Number`,
    replace: `    receiveCount: 1,
    ...(Number`,
  },
  {
    what: "A run succeeds before its last node.",
    seed: 1,
    file: "lib/core/tick.ts",
    find: `  if (draft.maps.length > 0 || draft.active.some((entry) => entry.state !== "unwanted")) return;
  for (let position = 0; position < draft.program.visibleCount; position++) {`,
    replace: `  for (let position = 0; position < draft.program.visibleCount - 1; position++) {`,
  },
  {
    what: "A failed node is nobody's failure.",
    seed: 8,
    file: "lib/core/nodes/settle.ts",
    find: `  if (!isData) failRun(draft, fault, node);`,
    replace: ``,
  },
  {
    what: "A repeat does not pause.",
    seed: 3,
    file: "lib/core/nodes/repeat.ts",
    find: `return pauseMs(def, entry.index + 1);`,
    replace: `return 0;`,
  },
  {
    what: "A child's end tells nobody if it failed.",
    seed: 9,
    file: "lib/core/owed.ts",
    find: `run.hasParent ? [{ kind: "notice"`,
    replace: `run.hasParent && run.phase === "succeeded" ? [{ kind: "notice"`,
  },
  {
    what: "Children of a run that has ended live on.",
    seed: 102,
    file: "lib/core/owed.ts",
    find: `      return [{ kind: "cancel-child", key: \`cancel/\${name}/\${isLive(run)}\`, entry }];`,
    replace: `      return [];`,
  },
  {
    what: "A mailbox forgets what it was told of once.",
    seed: 46,
    file: "lib/core/mail.ts",
    find: `while (mask & 1) {`,
    replace: `while (mask) {`,
  },
];
