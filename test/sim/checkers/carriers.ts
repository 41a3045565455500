import { attemptAttributes, attemptFrom } from "../../../lib/core/attempt-format.ts";
import { partitionOf, sk } from "../../../lib/core/keys.ts";
import { fixed } from "../../../lib/core/limits.ts";
import { isTaken } from "../../../lib/core/mail.ts";
import { mailboxFrom } from "../../../lib/core/mail-format.ts";
import { type Active, isLive, isSettled, type Run } from "../../../lib/core/run.ts";
import { childRunId } from "../../../lib/engine/child-id.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * "Never acknowledge the last carrier": in the profile `carried` no accepted message is lost, and the watchdog looks only when nothing
 * else moves any more. What it would find then must be for it alone: long timers. Anything that a message should have brought about is
 * a carrier that somebody acknowledged too early, which everywhere else the watchdog makes good for.
 */
export function carriers({ world, programs }: Scene): Checker {
  if (!world.profile.isCarried) return {};
  const apartMs = 2 * world.profile.skewMs + 1000;
  world.onWatch.push(() => {
    for (const run of world.rows.values()) {
      const what = lacking(run);
      if (what !== undefined) world.violate(4, `${run.runId}: nobody carries it on (${what})`);
    }
  });

  function lacking(run: Run): string | undefined {
    // whoever created a child and died is followed by whoever finds it there: the child's own due sends what it owes
    if (run.hasParent && run.recordVersion === 1) return undefined;
    // all was told, and only the settling did not come through: nothing hangs on it
    const isUnknown = world.troubles.has(`${partitionOf(run.tenant, run.runId)} STATE`);
    if (!isLive(run)) return isSettled(run) || isUnknown ? undefined : "it has ended, and owes something";
    const mail = mailWanted(run);
    if (mail !== undefined) return mail;
    if (run.isParked) return undefined;
    if (run.active.length === 0) return "nothing is in flight";
    for (const entry of run.active) {
      const what = lackingFor(run, entry);
      if (what !== undefined) return `${entry.node}/${entry.index}/${entry.attempt} ${entry.state}: ${what}`;
    }
    return undefined;
  }

  function mailWanted(run: Run): string | undefined {
    const record = world.store.peek({ pk: partitionOf(run.tenant, run.runId), sk: sk.mail(run.runUid) });
    if (!record) return undefined;
    const box = mailboxFrom(record);
    if (box.commands.some((each) => each.seq >= run.mail.commands)) return "a command is in its mailbox";
    const program = programs.get(run.definitionHash);
    for (const { state, node } of run.active) {
      const def = program?.nodes[node]?.def;
      if (state !== "signal" || def?.kind !== "signal") continue;
      const stands = box.signals.find((each) => each.name === def.signal && !isTaken(run.mail, each.seq));
      if (stands) return `signal ${stands.seq} is in its mailbox, and node ${node} waits for it`;
    }
    return undefined;
  }

  function lackingFor(run: Run, entry: Active): string | undefined {
    const nowMs = world.timeline.nowMs() - apartMs;
    const key = {
      pk: partitionOf(run.tenant, run.runId),
      sk: sk.attempt(run.runUid, entry.node, entry.index, entry.attempt),
    };
    const record = world.store.peek(key);
    const hasDue = record?.[attemptAttributes.dueAtMs] !== undefined;
    if (record?.[attemptAttributes.outcome] !== undefined && entry.state !== "unwanted" && !hasDue)
      return "its record has an end, and the row does not know";
    if (run.isPaused) return undefined;
    // a creator that died: see above, whatever else has come to the child since
    if (run.hasParent && !record && entry.attempt === 1 && entry.sinceMs === run.createdAtMs) return undefined;
    const def = programs.get(run.definitionHash)?.nodes[entry.node]?.def;
    switch (entry.state) {
      case "task": {
        if (hasDue) return undefined;
        if (!record) return entry.sinceMs <= nowMs ? "nobody has its task" : undefined;
        const { leaseUntilMs = 0 } = attemptFrom(entry, record);
        return leaseUntilMs <= nowMs && def?.kind !== "external" ? "its lease is over" : undefined;
      }
      case "held":
        return entry.untilMs <= nowMs ? "its inline lease is over" : undefined;
      case "child": {
        const child = world.rows.get(partitionOf(run.tenant, childRunId(run, entry)));
        return child && isLive(child) ? undefined : "its child has ended, or was never there";
      }
      case "sleep":
      case "signal":
      case "gate": {
        const isShort = entry.untilMs - entry.sinceMs <= fixed.delayMsMax;
        return entry.untilMs > 0 && entry.untilMs <= nowMs && isShort ? "its timer is over" : undefined;
      }
      default:
        return undefined;
    }
  }
  return {};
}
