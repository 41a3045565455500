/** One rule, and the production source without it. */
export interface Mutation {
  readonly id: string;
  /** The rule that is taken out, in one sentence. */
  readonly rule: string;
  readonly file: string;
  /** Text of the source: there exactly once. */
  readonly find: string;
  readonly replace: string;
  /** More of the same file, where one rule stands in two places. */
  readonly also?: readonly { readonly find: string; readonly replace: string }[];
  /** What must fail: the tests whose title holds this. */
  readonly test: { readonly file: string; readonly title: string };
}

const h01 = "test/protocol/h01-two-deciders-for-a-dead-lease.test.ts";
const h02 = "test/protocol/h02-gate-time-out-against-decision.test.ts";
const h04 = "test/protocol/h04-livelock.test.ts";
const h05 = "test/protocol/h05-unclear-commits.test.ts";
const h06 = "test/protocol/h06-end-of-a-child.test.ts";
const h07 = "test/protocol/h07-dead-claims.test.ts";
const h03 = "test/protocol/h03-strikes.test.ts";
const h08 = "test/protocol/h08-cancel-against-claim.test.ts";
const h09 = "test/protocol/h09-last-carrier.test.ts";
const h10 = "test/protocol/h10-own-writes.test.ts";
const h11 = "test/protocol/h11-mailbox-trim.test.ts";
const h12 = "test/protocol/h12-due.test.ts";
const h13 = "test/protocol/h13-hints.test.ts";
const h14 = "test/protocol/h14-force-fail-on-the-version-seen.test.ts";
const w01 = "test/protocol/w01-failed-sends.test.ts";
const w02 = "test/protocol/w02-receive-count.test.ts";
const w03 = "test/protocol/w03-strikes-that-stand.test.ts";
const w04 = "test/protocol/w04-append-against-an-opened-wait.test.ts";
const w05 = "test/protocol/w05-due-of-the-mailbox.test.ts";
const w06 = "test/protocol/w06-inline-fallback.test.ts";
const w07 = "test/protocol/w07-room-in-the-mailbox.test.ts";
const w08 = "test/protocol/w08-memory-of-the-watchdog.test.ts";
const fences = "test/protocol/fences.test.ts";

export const mutations: readonly Mutation[] = [
  {
    id: "H1",
    rule: "A dead lease ends on the attempt's record before the tick goes on.",
    file: "lib/core/nodes/step.ts",
    find: `  if (leaseUntilMs <= draft.nowMs) {
    draft.endings.push({
      kind: "lost",
      node: entry.node,
      index: entry.index,
      attempt: entry.attempt,
      token: record.token ?? "",
      leaseUntilMs,
    });
  } else`,
    replace: `  if (leaseUntilMs <= draft.nowMs) {
    takeOutcome(draft, draft.program.nodes[entry.node], entry, { kind: "lost", isUnclaimed: false });
  } else`,
    test: { file: h01, title: "H1: a result that is recorded while" },
  },
  {
    id: "H1 token",
    rule: "A result is recorded under the claim's token only, and only while there is no outcome.",
    file: "lib/engine/records/attempt.ts",
    find: `      { kind: "equals", path: [a.token], value: end.token },
      { kind: "absent", path: [a.outcome] },`,
    replace: `      { kind: "equals", path: [a.token], value: end.token },`,
    test: { file: h01, title: "H1: a worker whose attempt was closed" },
  },
  {
    id: "H1 lease equality",
    rule: "A lease is closed as lost only if it is still the one that was seen.",
    file: "lib/engine/records/attempt.ts",
    find: `      { kind: "equals", path: [a.leaseUntilMs], value: ending.leaseUntilMs },
`,
    replace: "",
    test: { file: h01, title: "H1: a heartbeat that comes between" },
  },
  {
    id: "H2",
    rule: "A gate's time-out is a decision on its record, so it cannot overrule a person.",
    file: "lib/core/nodes/gate.ts",
    find: `  draft.endings.push({ kind: "timed-out", node: entry.node, index: entry.index, attempt: entry.attempt });`,
    replace: `  takeDecision(draft, node, def, entry, { ...entry, outcome: { kind: "timed-out" } });`,
    test: { file: h02, title: "H2: a person who was answered" },
  },
  {
    id: "H2 winner",
    rule: "A decision is write-once: the second person gets the first one's.",
    file: "lib/engine/decide.ts",
    find: `  if (written.kind === "refused" && !isRepeat)`,
    replace: `  if (written.kind === "refused" && false)`,
    test: { file: h02, title: "H2: of two people" },
  },
  {
    id: "H4",
    rule: "Requeues count from zero again once the run has moved.",
    file: "lib/engine/requeue.ts",
    find: `const hasMoved = seen.owner.seq !== processing.requeuesAtSeq;`,
    replace: `const hasMoved = false;`,
    test: { file: h04, title: "H4: a run that takes signal after signal" },
  },
  {
    id: "H4 mail",
    rule: "Taking a command is progress.",
    file: "lib/core/commands.ts",
    find: `    transition(draft, { mail: { ...draft.run.mail, commands: command.seq + 1 } });`,
    replace: `    change(draft, { mail: { ...draft.run.mail, commands: command.seq + 1 } });`,
    test: { file: h04, title: "H4: a command that is taken is progress" },
  },
  {
    id: "H4 livelock",
    rule: "Requeues without progress end the run in the end.",
    file: "lib/engine/requeue.ts",
    find: `requeues - doubts > engine.limits.requeuesMax`,
    replace: `requeues - doubts > Number.POSITIVE_INFINITY`,
    test: { file: h04, title: "H4: commits that are refused again and again" },
  },
  {
    id: "H4 doubts",
    rule: "A commit without an answer is no evidence of a livelock.",
    file: "lib/engine/requeue.ts",
    find: `(options.isEvidence ? 0 : 1);
  if (options.isEvidence &&`,
    replace: `0;
  if (`,
    test: { file: h04, title: "H4: a table that answers no write" },
  },
  {
    id: "H5",
    rule: "After an unclear commit everything owed is performed.",
    file: "lib/engine/advance.ts",
    find: `        processing.isPerformAll = true;
        hasDoubt = true;`,
    replace: `        hasDoubt = true;`,
    test: { file: h05, title: "H5: after a commit whose reply was lost" },
  },
  {
    id: "H5 own commit",
    rule: "Before a refusal is called a conflict, the stored commit ids are compared with this one's.",
    file: "lib/engine/commit.ts",
    find: `  if (author !== "theirs") {`,
    replace: `  if (author === "never") {`,
    test: { file: h05, title: "H5: a commit that was repeated" },
  },
  {
    id: "H5 requeue",
    rule: "A requeue carries the flag that everything owed must be performed.",
    file: "lib/engine/requeue.ts",
    find: `isAll: processing.isPerformAll,`,
    replace: `isAll: false,`,
    test: { file: h05, title: "H5: a requeue carries on" },
  },
  {
    id: "H5 token",
    rule: "An inline holder knows itself by its token, not by its commit.",
    file: "lib/engine/inline.ts",
    find: `    if (!mine) return advanced;`,
    replace: `    if (!mine || !advanced.hasCommitted) return advanced;`,
    test: { file: h05, title: "H5: an inline holder knows itself" },
  },
  {
    id: "H6",
    rule: "Whoever receives a terminal run's message again does what the run owes.",
    file: "lib/engine/advance.ts",
    find: `  if (!isSettled(run) && processing.isPerformAll) {`,
    replace: `  if (false) {`,
    test: { file: h06, title: "H6: a child's end that was committed" },
  },
  {
    id: "H6 due",
    rule: "A terminal run that owes something keeps a due.",
    file: "lib/core/due.ts",
    find: `  if (isOwing(run)) {`,
    replace: `  if (false) {`,
    test: { file: h06, title: "H6: a terminal child keeps its due" },
  },
  {
    id: "H6 poll",
    rule: "A parent reads its child's row by itself now and then.",
    file: "lib/engine/children.ts",
    find: `  if (created.kind === "exists" && !isLive(created.run)) await notifyParent(engine, created.run, childProgram);`,
    replace: "",
    test: { file: h06, title: "H6: a parent reads its child's row" },
  },
  {
    id: "H6 tombstone",
    rule: "Cancelling a child that does not exist yet creates it cancelled.",
    file: "lib/engine/children.ts",
    find: `    await createTombstone(engine, parent, entry, runId);`,
    replace: `    await tellFailure(engine, parent, entry, { kind: "cancelled" });`,
    test: { file: h06, title: "H6: cancelling a child that does not exist" },
  },
  {
    id: "H7",
    rule: "An attempt is claimed at most once: a dead lease is closed, never taken over.",
    file: "lib/engine/records/attempt.ts",
    find: `    [a.startedAtMs]: claim.nowMs,
    [a.expiresAtS]: expiresAtS(run, claim.retentionMs),
  };
  return { kind: "put", key: attemptKey(run, id), fields, when: [{ kind: "absent", path: ["pk"] }] };`,
    replace: `    [a.startedAtMs]: claim.nowMs,
    [a.expiresAtS]: expiresAtS(run, claim.retentionMs),
  };
  const dead = [{ kind: "absent", path: [a.outcome] }, { kind: "atMost", path: [a.leaseUntilMs], value: claim.nowMs }];
  return { kind: "put", key: attemptKey(run, id), fields, when: [{ kind: "any", of: [[{ kind: "absent", path: ["pk"] }], dead] }] };`,
    test: { file: h07, title: "H7: a claim is never taken over" },
  },
  {
    id: "H3 (a)",
    rule: "A processing that ends normally removes its strike: a backlog is no evidence.",
    file: "lib/engine/process.ts",
    find: `    if (isAll && loaded) await removeStrikes(engine, loaded, loaded.strikes);`,
    replace: "",
    test: { file: h03, title: "H3 (a): a run whose task waits" },
  },
  {
    id: "H3 (a) spacing",
    rule: "At most one strike per spacing: duplicates of one message count once.",
    file: "lib/engine/strike.ts",
    find: `nowMs - standing.lastAtMs < engine.limits.strikeSpacingMs;`,
    replace: `nowMs < standing.lastAtMs;`,
    test: { file: h03, title: "H3 (a): duplicates of one message" },
  },
  {
    id: "H3 (b)",
    rule: "A look at a waiting run is no strike, however many there are.",
    file: "lib/engine/process.ts",
    find: `receiveCount > 1 ? await snapshot(engine, ref) : undefined;`,
    replace: `receiveCount > 1 || envelope.why === "watchdog" ? await snapshot(engine, ref) : undefined;`,
    also: [{ find: `    if (isAll && loaded) await removeStrikes(engine, loaded, loaded.strikes);`, replace: "" }],
    test: { file: h03, title: "H3 (b)" },
  },
  {
    id: "H3 (c)",
    rule: "Strikes are keyed by transition, not by version: a run that only re-arms its due is still stuck.",
    file: "lib/engine/strike.ts",
    find: `    seq: owner.seq,`,
    replace: `    seq: owner.recordVersion,`,
    also: [{ find: `strikes.seq === owner.seq`, replace: `strikes.seq === owner.recordVersion` }],
    test: { file: h03, title: "H3 (c)" },
  },
  {
    id: "H3 build",
    rule: "Strikes of another build do not count: a mended deploy tries first.",
    file: "lib/engine/strike.ts",
    find: ` && strikes.build === engine.build`,
    replace: "",
    test: { file: h03, title: "H3: strikes that stand from another build" },
  },
  {
    id: "H8",
    rule: "What is unclaimed is closed before the commit that gives it up.",
    file: "lib/core/ending.ts",
    find: `      if (!record) return close(draft, entry);`,
    replace: `      if (!record) return dropActive(draft, entry);`,
    test: { file: h08, title: "H8: a cancel closes the unclaimed attempt" },
  },
  {
    id: "H8 awaited",
    rule: "What is claimed and can be undone is awaited.",
    file: "lib/core/ending.ts",
    find: `const isAwaited = owner.compensation !== undefined && !options.isAtOnce;`,
    replace: `const isAwaited = false;`,
    test: { file: h08, title: "H8: a claim that came first is awaited" },
  },
  {
    id: "H9 recorded",
    rule: "A task whose outcome is recorded ticks before it is acknowledged.",
    file: "lib/engine/work.ts",
    find: `await later(asked, found.leaseUntilMs ?? 0) : await advance(engine, processing);`,
    replace: `await later(asked, found.leaseUntilMs ?? 0) : undefined;`,
    test: { file: h09, title: "H9: a task whose result is recorded" },
  },
  {
    id: "H9 lease",
    rule: "A task that meets somebody's live lease is sent again for its end.",
    file: "lib/engine/work.ts",
    find: `return isAlive ? await later(asked, found.leaseUntilMs ?? 0) :`,
    replace: `return isAlive ? undefined :`,
    test: { file: h09, title: "H9: a task that meets the live lease" },
  },
  {
    id: "H9 inline lease",
    rule: "Whoever meets somebody's live inline lease and knows of nobody else sends a look at its end.",
    file: "lib/engine/advance.ts",
    find: `      (processing.isPerformAll || isNamed(entry)),`,
    replace: `      isNamed(entry),`,
    test: { file: h09, title: "H9: a message that meets the live inline lease" },
  },
  {
    id: "H9 early look",
    rule: "A look at the end of an inline lease that comes early is sent again.",
    file: "lib/engine/advance.ts",
    find: `      (processing.isPerformAll || isNamed(entry)),`,
    replace: `      processing.isPerformAll,`,
    test: { file: h09, title: "H9: a look at the end of an inline lease" },
  },
  {
    id: "H9 timer",
    rule: "A timer that comes early is sent again for the rest.",
    file: "lib/engine/advance.ts",
    find: `  if (processing.why !== "timer") return [];
  return owed(`,
    replace: `  return [];
  return owed(`,
    test: { file: h09, title: "H9: a timer that comes early" },
  },
  {
    id: "H9 timer commits",
    rule: "The early timer is sent again also when its tick commits something else.",
    file: "lib/engine/advance.ts",
    find: `perform(engine, now.run, now.program, union(fresh, spare),`,
    replace: `perform(engine, now.run, now.program, fresh,`,
    test: { file: h09, title: "H9: an early timer is sent again also when" },
  },
  {
    id: "H9 merged",
    rule: "What only one message of a batch makes the run do is done.",
    file: "lib/engine/processing.ts",
    find: `      why: foremost(sum.why, each.why),`,
    replace: `      why: sum.why === each.why ? sum.why : "hand",`,
    test: { file: h09, title: "H9: a deploy's word that parked nodes" },
  },
  {
    id: "H9 failed sends",
    rule: "A message whose sends failed is handed back.",
    file: "lib/engine/messages.ts",
    find: `  if (failed?.kind !== "failed") return;`,
    replace: `  return;`,
    test: { file: h09, title: "H9: a message is handed back" },
  },
  {
    id: "H10 claim",
    rule: "A claim that is refused by its own success is this worker's.",
    file: "lib/engine/work.ts",
    find: `  if (claimed.kind === "refused" && claimed.now[attemptAttributes.token] !== token)`,
    replace: `  if (claimed.kind === "refused")`,
    test: { file: h10, title: "H10: a claim whose reply was lost" },
  },
  {
    id: "H10 record",
    rule: "A result that is refused by its own success is recorded.",
    file: "lib/engine/work.ts",
    find: `      return written.now[attemptAttributes.token] === token && written.now[attemptAttributes.endedBy] === token;`,
    replace: `      return false;`,
    test: { file: h10, title: "H10: a result whose reply was lost" },
  },
  {
    id: "H10 force-fail",
    rule: "Whoever force-fails knows its own commit, and does what the ended run owes.",
    file: "lib/engine/force-fail.ts",
    find: `const isMine = written.kind === "refused" && storedCommitIds(written.now).includes(commitId);`,
    replace: `const isMine = false;`,
    test: { file: h10, title: "H10: whoever force-fails a run" },
  },
  {
    id: "H10 strike",
    rule: "A strike that is refused by its own success is its writer's.",
    file: "lib/engine/strike.ts",
    find: `  if (written.kind !== "applied" && !isMine) return standing;`,
    replace: `  if (written.kind !== "applied") return standing;`,
    test: { file: h10, title: "H10: a strike whose reply was lost is removed before" },
  },
  {
    id: "H10 start",
    rule: "A creation that is refused by its own success is the caller's.",
    file: "lib/engine/start.ts",
    find: `    if (written.kind === "refused" && !storedCommitIds(written.now).includes(commitId))`,
    replace: `    if (written.kind === "refused")`,
    test: { file: h10, title: "H10: a decision and a start" },
  },
  {
    id: "H11",
    rule: "A trim is guarded by the mailbox's base, so that its repeat takes nothing.",
    file: "lib/engine/records/mail.ts",
    find: `      { kind: "equals", path: [a.signalBase], value: mailbox.signalBase },
`,
    replace: "",
    test: { file: h11, title: "H11: a trim whose reply was lost" },
  },
  {
    id: "H11 order",
    rule: "The mailbox is trimmed after the commit.",
    file: "lib/engine/advance.ts",
    find: `    const committed = await commit(engine, loaded.run, closed.run);`,
    replace: `    await tidy(engine, closed.run, loaded);
    const committed = await commit(engine, loaded.run, closed.run);`,
    test: { file: h11, title: "H11: the mailbox is trimmed after" },
  },
  {
    id: "H12",
    rule: "A due that is later than wanted is set.",
    file: "lib/core/due.ts",
    find: `stored.atMs > nowMs && stored.atMs <= wantedMs;`,
    replace: `stored.atMs > nowMs;`,
    test: { file: h12, title: "H12: a run that comes from a long wait" },
  },
  {
    id: "H12 early",
    rule: "A due that is early enough is left alone.",
    file: "lib/core/due.ts",
    find: `stored.atMs > nowMs && stored.atMs <= wantedMs;`,
    replace: `false;`,
    test: { file: h12, title: "H12: a due that is early enough stays" },
  },
  {
    id: "H13",
    rule: "A redelivered message loads every attempt in flight.",
    file: "lib/engine/processing.ts",
    find: `      isRedelivered || isWatchdog || isBare || envelope.isAll`,
    replace: `      isWatchdog || isBare || envelope.isAll`,
    test: { file: h13, title: "H13: a message that is received again" },
  },
  {
    id: "H13 mail",
    rule: "A tick sees the mailbox, whatever its message hints at.",
    file: "lib/engine/advance.ts",
    find: `    const inputs = await inputsOf(engine, loaded, {`,
    replace: `    const inputs = await inputsOf(engine, processing.hints.has("mail") ? loaded : { ...loaded, mailbox: undefined }, {`,
    test: { file: h13, title: "H13: a tick that opens a wait" },
  },
  {
    id: "H14",
    rule: "A force-fail holds for the version that was seen.",
    file: "lib/engine/force-fail.ts",
    find: `  return commitState(run, ended, engine.limits.retentionMs);`,
    replace: `  const write = commitState(run, ended, engine.limits.retentionMs);
  const sameSeq = { kind: "equals", path: [a.transitionSeq], value: run.transitionSeq };
  return { ...write, when: write.when.map((check) => (check.path[0] === a.recordVersion ? sameSeq : check)) };`,
    test: { file: h14, title: "H14: a run that somebody processed normally" },
  },
  {
    id: "H14 reason",
    rule: "The reason of a force-fail names the last fault.",
    file: "lib/engine/strike.ts",
    find: `  if (isTooSoon && (fault.code === "stuck" || standing.message === message)) return standing;`,
    replace: `  if (isTooSoon) return standing;`,
    test: { file: h14, title: "H14: a force-fail leaves the index" },
  },
  {
    id: "W1",
    rule: "A processing that a fault of the platform ends removes its strikes before it hands the message back.",
    file: "lib/engine/process.ts",
    find: `  if (!counted?.strikes || (await removeStrikes(engine, counted.seen, counted.strikes))) return "back";`,
    replace: `  return "back";`,
    test: { file: w01, title: "W1: sends that fail for long" },
  },
  {
    id: "W1 refused",
    rule: "If the strikes cannot be removed the message goes on as a new one.",
    file: "lib/engine/process.ts",
    find: `  if (!counted?.strikes || (await removeStrikes(engine, counted.seen, counted.strikes))) return "back";`,
    replace: `  if (counted?.strikes) await removeStrikes(engine, counted.seen, counted.strikes);
  return "back";`,
    test: { file: w01, title: "W1: if the table refuses even that" },
  },
  {
    id: "W2",
    rule: "A receipt first looks at what stands, then counts itself, then processes.",
    file: "lib/engine/process.ts",
    find: `      const standing = standingOf(engine, seen);
      if (
        standing &&
        isEnough(engine, standing, { isSpacingOver: true }) &&`,
    replace: `      const standing = await strike(engine, seen, { code: "stuck", message: "received again" });
      if (
        standing &&
        isEnough(engine, standing, { isSpacingOver: false }) &&`,
    test: { file: w02, title: "W2: deliveries that nobody processed" },
  },
  {
    id: "W2 standing",
    rule: "A receipt that finds enough strikes ends the run before it processes it.",
    file: "lib/engine/process.ts",
    find: `        isEnough(engine, standing, { isSpacingOver: true }) &&`,
    replace: `        false &&`,
    test: { file: w02, title: "W2: after strikesMax deaths" },
  },
  {
    id: "W3",
    rule: "Strikes of every fault count together.",
    file: "lib/engine/strike.ts",
    find: `    count: (standing?.count ?? 0) + (isTooSoon ? 0 : 1),`,
    replace: `    count: standing?.fault !== fault.code ? 1 : standing.count + (isTooSoon ? 0 : 1),`,
    also: [
      {
        find: `  if (isTooSoon && (fault.code === "stuck" || standing.message === message)) return standing;`,
        replace: `  if (isTooSoon) return standing;`,
      },
    ],
    test: { file: w03, title: "W3: throws and redeliveries" },
  },
  {
    id: "W3b",
    rule: "Strikes are removed only by a processing that had loaded everything.",
    file: "lib/engine/process.ts",
    find: `    if (isAll && loaded) await removeStrikes`,
    replace: `    if (loaded) await removeStrikes`,
    test: { file: w03, title: "W3b" },
  },
  {
    id: "W4",
    rule: "After a commit that opened a wait the mailbox is read once more (remote).",
    file: "lib/engine/advance.ts",
    find: `      if (!(await hasNews(engine, loaded.run, committed.run))) return`,
    replace: `      return`,
    test: { file: w04, title: "(after a remote step)" },
  },
  {
    id: "W4 inline",
    rule: "After a commit that opened a wait the mailbox is read once more (inline).",
    file: "lib/engine/advance.ts",
    find: `      if (!(await hasNews(engine, loaded.run, committed.run))) return`,
    replace: `      return`,
    test: { file: w04, title: "(after a inline step)" },
  },
  {
    id: "W5",
    rule: "The mailbox's due is removed by whoever has looked at everything, taken or left.",
    file: "lib/engine/records/mail.ts",
    find: `  const hasDue = options.isLookedAt && mailbox.dueAtMs !== undefined;`,
    replace: `  const hasDue = options.isLookedAt && mailbox.dueAtMs !== undefined && signals + commands > 0;`,
    test: { file: w05, title: "W5: a signal that nobody wants" },
  },
  {
    id: "W5 appended",
    rule: "The due stays if something was appended since the look.",
    file: "lib/engine/records/mail.ts",
    find: `        { kind: "equals", path: [a.signalNext], value: mailbox.signalNext },
        { kind: "equals", path: [a.commandNext], value: mailbox.commandNext },`,
    replace: "",
    test: { file: w05, title: "W5: a due stays if something" },
  },
  {
    id: "W5b answer",
    rule: "After an append the caller looks at the run again and says so if it has ended.",
    file: "lib/engine/mailbox.ts",
    find: `  await lookAgain(engine, run, lane, appended.seq);`,
    replace: "",
    test: { file: w05, title: "W5b: a signal that lost against" },
  },
  {
    id: "W5b derived",
    rule: "What an ended run has not taken is undelivered, sealed or not.",
    file: "lib/engine/mailbox.ts",
    find: `  return isLive(run) || !mailbox ? [] : untaken(mailbox, run.mail);`,
    replace: `  return isLive(run) || !mailbox?.isSealed ? [] : untaken(mailbox, run.mail);`,
    test: { file: w05, title: "W5b: a signal that lost against" },
  },
  {
    id: "W5b seal",
    rule: "Whoever finds mail on an ended run seals it and removes its due.",
    file: "lib/engine/tidy.ts",
    find: `  await engine.store.write(sealMailbox(run));`,
    replace: "",
    test: { file: w05, title: "W5b: whoever finds mail" },
  },
  {
    id: "W6",
    rule: "An inline lease's end goes to the attempt's record first, and the record says who won.",
    file: "lib/core/nodes/step.ts",
    find: `  if (!isMine && entry.untilMs <= draft.nowMs)
    draft.endings.push({ kind: "inline-lost", node: entry.node, index: entry.index, attempt: entry.attempt });`,
    replace: `  if (!isMine && entry.untilMs <= draft.nowMs)
    takeOutcome(draft, draft.program.nodes[entry.node], entry, { kind: "lost", isUnclaimed: false });`,
    test: { file: w06, title: "W6: the result of a holder" },
  },
  {
    id: "W6 record",
    rule: "A holder that lost all its commits writes its result down as an attempt.",
    file: "lib/engine/requeue.ts",
    find: `    await engine.store.write(
      endUnclaimed(`,
    replace: `    if (hints.length > 99) await engine.store.write(
      endUnclaimed(`,
    test: { file: w06, title: "W6: the result of a holder" },
  },
  {
    id: "W6 hint",
    rule: "A holder that lost all its commits requeues with the hint of its result.",
    file: "lib/engine/requeue.ts",
    find: `    hints.push(attemptName(result.node, result.index, result.attempt));`,
    replace: "",
    test: { file: w06, title: "W6: the requeued message carries the hint" },
  },
  {
    id: "W7",
    rule: "Commands are trimmed, whatever signal stands before them.",
    file: "lib/engine/records/mail.ts",
    find: `  const commands = Math.min(run.mail.commands - mailbox.commandBase, mailbox.commands.length);`,
    replace: `  const commands = signals <= 0 && mailbox.signals.length > 0 ? 0 : Math.min(run.mail.commands - mailbox.commandBase, mailbox.commands.length);`,
    test: { file: w07, title: "W7: commands have room of their own" },
  },
  {
    id: "W7 room",
    rule: "The bounds of the mailbox are the signals' alone.",
    file: "lib/engine/records/mail.ts",
    find: `    entry.lane === "commands"
      ? []`,
    replace: `    entry.lane === "none"
      ? []`,
    test: { file: w07, title: "W7: a cancel finds room" },
  },
  {
    id: "W7 mask",
    rule: "A signal is taken by who waits for it, not in the order of arrival.",
    file: "lib/core/nodes/signal.ts",
    find: `    (each) => each.name === def.signal && !isTaken(draft.run.mail, each.seq),`,
    replace: `    (each) => each.name === def.signal && each.seq === draft.run.mail.signals,`,
    test: { file: w07, title: "W7: an unwanted signal stands before nothing" },
  },
  {
    id: "W7 head",
    rule: "A full mailbox whose head nobody waits for gives it up.",
    file: "lib/core/tick.ts",
    find: `  giveUpHead(draft);
`,
    replace: "",
    test: { file: w07, title: "W7: a full mailbox whose oldest signal" },
  },
  {
    id: "W8",
    rule: "Strikes are removed as attributes; the watchdog's memory beside them stays.",
    file: "lib/engine/records/strikes.ts",
    find: `    edits: strikeNames.map((name): Edit => ({ kind: "remove", path: [name] })),`,
    replace: `    edits: Object.values(a).map((name): Edit => ({ kind: "remove", path: [name] })),`,
    test: { file: w08, title: "W8: strikes are removed without" },
  },
  {
    id: "W8 interval",
    rule: "What is overdue is told again after an interval, not once per due value.",
    file: "lib/engine/watch.ts",
    find: `  if (before && isSame && nowMs < before.atMs + before.intervalMs) return false;`,
    replace: `  if (before && isSame) return false;`,
    test: { file: w08, title: "W8: what is overdue is told again" },
  },
  {
    id: "W8 memory",
    rule: "What was told within the interval is not told again.",
    file: "lib/engine/watch.ts",
    find: `  if (before && isSame && nowMs < before.atMs + before.intervalMs) return false;`,
    replace: "",
    test: { file: w08, title: "W8: what is overdue is told again" },
  },
  {
    id: "version",
    rule: "A commit holds for the version that was read.",
    file: "lib/engine/records/state.ts",
    find: `    { kind: "equals", path: [a.recordVersion], value: seen.recordVersion },
    { kind: "equals", path: [a.runUid], value: seen.runUid },
    { kind: "exists", path: [a.live] },`,
    replace: `    { kind: "equals", path: [a.runUid], value: seen.runUid },
    { kind: "exists", path: [a.live] },`,
    test: { file: fences, title: "version: two processings" },
  },
  {
    id: "live",
    rule: "A commit holds for a live run only.",
    file: "lib/engine/records/state.ts",
    find: `    { kind: "equals", path: [a.runUid], value: seen.runUid },
    { kind: "exists", path: [a.live] },`,
    replace: `    { kind: "equals", path: [a.runUid], value: seen.runUid },`,
    test: { file: fences, title: "live: a commit on a run" },
  },
  {
    id: "uid of a commit",
    rule: "A commit holds for this run only, not for one that took its place.",
    file: "lib/engine/records/state.ts",
    find: `    { kind: "equals", path: [a.runUid], value: seen.runUid },
    { kind: "exists", path: [a.live] },`,
    replace: `    { kind: "exists", path: [a.live] },`,
    test: { file: fences, title: "uid: a commit meant for a purged run" },
  },
  {
    id: "uid of a message",
    rule: "A message that names another run is acknowledged.",
    file: "lib/engine/advance.ts",
    find: ` || (processing.runUid !== undefined && seen.owner.runUid !== processing.runUid)) return undefined;`,
    replace: `) return undefined;`,
    test: { file: fences, title: "uid: a message that names a purged run" },
  },
  {
    id: "uid of a task",
    rule: "A worker claims only for the run that its task names.",
    file: "lib/engine/work.ts",
    find: `envelope.runUid === undefined || envelope.runUid === runUid;`,
    replace: `true;`,
    test: { file: fences, title: "uid: a task of a purged run" },
  },
  {
    id: "uid of mail",
    rule: "A mailbox takes entries of its own run only.",
    file: "lib/engine/records/mail.ts",
    find: `      { kind: "equals", path: [a.runUid], value: run.runUid },
      { kind: "absent", path: [a.sealed] },`,
    replace: `      { kind: "absent", path: [a.sealed] },`,
    test: { file: fences, title: "uid: a mailbox takes entries" },
  },
  {
    id: "consistent load",
    rule: "The row and its neighbours are read consistently.",
    file: "lib/engine/load.ts",
    find: `    prefix: statePrefix,
    isConsistent: true,`,
    replace: `    prefix: statePrefix,
    isConsistent: false,`,
    test: { file: fences, title: "consistent: a wake-up sees the signal" },
  },
  {
    id: "consistent attempts",
    rule: "Attempts are read consistently.",
    file: "lib/engine/load.ts",
    find: `await engine.store.read(keys, { isConsistent: true })`,
    replace: `await engine.store.read(keys, { isConsistent: false })`,
    test: { file: fences, title: "consistent: a tick sees the result" },
  },
  {
    id: "consistent second look",
    rule: "The second look at the mailbox is consistent.",
    file: "lib/engine/advance.ts",
    find: `engine.store.read([mailKey(now)], { isConsistent: true });`,
    replace: `engine.store.read([mailKey(now)], { isConsistent: false });`,
    test: { file: fences, title: "consistent: the second look" },
  },
  {
    id: "consistent on the wire",
    rule: "The adapter asks DynamoDB for consistent reads.",
    file: "lib/aws/dynamodb-store.ts",
    find: `        ConsistentRead: isConsistent,`,
    replace: `        ConsistentRead: false,`,
    test: { file: "test/aws/dynamodb-store.test.ts", title: "every load before a guarded write is consistent" },
  },
  {
    id: "Failed[]",
    rule: "Entries of a batch that the queue did not accept are sent again, or reported.",
    file: "lib/aws/sqs-queue.ts",
    find: `      open = open.filter(({ index }) => !results.has(index));`,
    replace: `      for (const { index } of open) if (!results.has(index)) results.set(index, { kind: "sent" });
      open = [];`,
    test: { file: "test/aws/sqs-queue.test.ts", title: "sends again what failed" },
  },
  {
    id: "jitter of requeues",
    rule: "Requeues are spread.",
    file: "lib/engine/requeue.ts",
    find: `  return 1 + Math.floor(fraction * (spread + 1));`,
    replace: `  return 1 + spread;`,
    test: { file: fences, title: "jitter: requeues are spread" },
  },
  {
    id: "jitter of commits",
    rule: "Losers of a commit wait for a random part of their window.",
    file: "lib/guard/windows.ts",
    find: `Math.floor(random.fraction() * (windowMs + 1));`,
    replace: `windowMs;`,
    test: { file: fences, title: "jitter: losers of a commit" },
  },
];
