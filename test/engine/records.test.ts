import { expect, test } from "vitest";
import type { Outcome } from "../../lib/core/inputs.ts";
import { type Mailbox, mailboxFrom } from "../../lib/core/mail-format.ts";
import {
  claimAttempt,
  closeAttempt,
  dropDue,
  endUnclaimed,
  extendLease,
  recordAttempt,
} from "../../lib/engine/records/attempt.ts";
import { putWaking } from "../../lib/engine/records/build.ts";
import { countForceFail, openForceFails } from "../../lib/engine/records/force-fails.ts";
import { appendMail, openMailbox, sealMailbox, trimMail } from "../../lib/engine/records/mail.ts";
import { deleteNeighbour, putPayload } from "../../lib/engine/records/payload.ts";
import { commitState, createState, purgeState, settleState } from "../../lib/engine/records/state.ts";
import { clearStrikes, putSent, putStrikes } from "../../lib/engine/records/strikes.ts";
import type { Check, Edit, Write } from "../../lib/ports.ts";
import { freshRun, programWith, stepNode } from "../core/fixture.ts";

/** A condition or a change as a line, so that one that goes missing is seen. */
const said = (each: Check | Edit): string => {
  if (each.kind === "any") return `any of (${each.of.map((all) => all.map(said).join(" and ")).join(" | ")})`;
  const { kind, path, ...rest } = each;
  return [kind, path.join("."), ...Object.values(rest).map((value) => JSON.stringify(value))].join(" ");
};
const when = (write: Write | undefined) => write?.when.map(said);
const changes = (write: Write | undefined) => (write?.kind === "edit" ? write.edits.map(said) : write?.kind);

const run = { ...freshRun(programWith([stepNode("a")])), runUid: "uid", recordVersion: 7 };
const ended = { ...run, phase: "failed", endedAtMs: 5 } as const;
const id = { node: 0, index: 0, attempt: 1 };
const retentionMs = 1000;
const outcome: Outcome = { kind: "lost", isUnclaimed: false };
const seen = { seq: 3, build: "b", count: 2, firstAtMs: 1, lastAtMs: 9, fault: "stuck", message: "" } as const;
const sent = { dueAtMs: 1, atMs: 2, intervalMs: 3 };
const signal = { lane: "signals", text: "äb", idHash: "s1" } as const;
const command = { lane: "commands", text: "c", idHash: "c1" } as const;
const mailbox: Mailbox = mailboxFrom({
  ...{ u: "uid", e: ['{"n":"a","a":1}', '{"n":"b","a":1}'], b: 10, t: 12, y: 30 },
  ...{ ce: ['{"c":"pause"}'], cb: 4, ct: 5, i: { s0: 10, old: 1 }, d: 99 },
});
const taken = { ...run, mail: { signals: 11, mask: 0, commands: 5 } };

// Every conditional statement of the engine. What a line of these keeps from happening is told where the rule has its test; here it is
// only seen that none goes missing.
test("each write of the engine names all of its conditions (W13)", () => {
  const guard = ["equals v 7", 'equals u "uid"', "exists l"];
  const terminal = ["equals v 7", 'equals u "uid"', "absent l"];
  const first = ["absent pk"];
  const all: readonly (readonly [string, Write | undefined, readonly string[]])[] = [
    ["creation", createState(run, 5000, 1), ["any of (absent pk | exists x and atMost x 5)"]],
    ["commit", commitState(run, { ...run, recordVersion: 99 }, 1), guard],
    ["settle", settleState(ended), terminal],
    ["purge", purgeState(ended), terminal],
    ["claim", claimAttempt(run, id, { token: "t", leaseUntilMs: 9, nowMs: 1, retentionMs }), first],
    ["result", recordAttempt(run, id, { token: "t", outcome, nowMs: 1 }), ['equals k "t"', "absent v"]],
    ["heartbeat", extendLease(run, id, { token: "t", untilMs: 9 }), ['equals k "t"', "absent v", "under w 9"]],
    ["end without a claim", endUnclaimed(run, id, { outcome, by: "b", nowMs: 1, retentionMs }), first],
    [
      "dead lease",
      closeAttempt(run, { ...id, kind: "lost", token: "t", leaseUntilMs: 9 }, { by: "b", nowMs: 1, retentionMs }),
      ['equals k "t"', "equals w 9", "absent v"],
    ],
    ["time-out", closeAttempt(run, { ...id, kind: "timed-out" }, { by: "b", nowMs: 1, retentionMs }), first],
    ["a due that is done with", dropDue({ pk: "p", sk: "s" }, 9), ["equals d 9"]],
    ["first mail", openMailbox(run, signal, { dueAtMs: 9, retentionMs }), first],
    [
      "signal",
      appendMail(run, signal, { dueAtMs: 9 }),
      ['equals u "uid"', "absent z", "absent i.s1", 'sized e "under" 32', "atMost y 8189"],
    ],
    ["command", appendMail(run, command, { dueAtMs: 9 }), ['equals u "uid"', "absent z", "absent i.c1"]],
    [
      "trim of all that was looked at",
      trimMail(taken, mailbox, { isLookedAt: true }),
      ['equals u "uid"', "equals b 10", "equals cb 4", "equals t 12", "equals ct 5"],
    ],
    ["trim", trimMail(taken, mailbox, { isLookedAt: false }), ['equals u "uid"', "equals b 10", "equals cb 4"]],
    ["seal", sealMailbox(run), ['equals u "uid"']],
    ["first strike", putStrikes(run, seen, undefined, false, 1), first],
    ["strike beside a memory", putStrikes(run, seen, undefined, true, 1), ['equals u "uid"', "absent n"]],
    ["strike", putStrikes(run, seen, seen, true, 1), ['equals u "uid"', "equals n 2", "equals a 9", "equals s 3"]],
    ["strikes removed", clearStrikes(run, seen), ['equals u "uid"', "equals n 2", "equals a 9", "equals s 3"]],
    ["first memory of the watchdog", putSent(run, sent, false, 1), first],
    ["memory of the watchdog", putSent(run, sent, true, 1), ['equals u "uid"']],
    ["payload", putPayload({ pk: "p", sk: "s" }, {}), first],
    ["purged neighbour", deleteNeighbour({ pk: "p", sk: "s" }), ["exists pk"]],
    ["force-fail counted", countForceFail(1, 8), ["under n 8"]],
    ["first force-fail of a minute", openForceFails(1), first],
    ["first waking", putWaking({ build: "b", shards: 0, rounds: 0, roundAtMs: 0 }, undefined), first],
    [
      "waking",
      putWaking(
        { build: "b", shards: 1, rounds: 0, roundAtMs: 0 },
        { build: "b", shards: 0, rounds: 0, roundAtMs: 0, after: "k" },
      ),
      ['equals b "b"', "equals n 0", 'equals k "k"'],
    ],
  ];
  for (const [what, write, conditions] of all) expect(when(write), what).toEqual(conditions);
});

test("the store counts the version up, in every write on the row but its creation", () => {
  for (const write of [commitState(run, run, 1), settleState(ended)]) expect(changes(write)?.[0]).toBe("add v 1");
});

test("a commit sets or removes every attribute of the row, and never what creation fixed", () => {
  const touched = changes(commitState(run, ended, 1)) as readonly string[];
  const names = touched.map((line) => line.split(" ")[1]).toSorted();
  expect(names).toEqual([..."acdeklnqrstvxy"]);
});

test("an append takes the next number for its id, and is due unless something is already", () => {
  expect(changes(appendMail(run, signal, { dueAtMs: 9 }))).toEqual([
    'append e ["äb"]',
    'copy i.s1 ["t"]',
    "add t 1",
    "add y 3",
    expect.stringMatching(/^setIfAbsent q "D\d\d"$/),
    "setIfAbsent d 9",
  ]);
  expect(changes(appendMail(run, command, { dueAtMs: 9 }))?.slice(0, 4)).toEqual([
    'append ce ["c"]',
    'copy i.c1 ["ct"]',
    "add ct 1",
    "add y 0",
  ]);
});

test("a trim removes by number what was dealt with, in both lanes, and forgets old ids", () => {
  expect(changes(trimMail(taken, mailbox, { isLookedAt: true }))).toEqual([
    "set b 11",
    "add y -15",
    "remove e.0",
    "set cb 5",
    "remove ce.0",
    "remove q",
    "remove d",
  ]);
  expect(trimMail({ ...run, mail: { signals: 10, mask: 0, commands: 4 } }, mailbox, { isLookedAt: false })).toBe(
    undefined,
  );
});
