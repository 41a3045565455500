import { attemptAttributes as at, outcomeFrom } from "../../../lib/core/attempt-format.ts";
import { faults } from "../../../lib/core/faults.ts";
import { partitionOf, sk } from "../../../lib/core/keys.ts";
import { fixed } from "../../../lib/core/limits.ts";
import { mailboxFrom } from "../../../lib/core/mail-format.ts";
import { type Program, stepBodyOf } from "../../../lib/core/program.ts";
import { type Active, isLive, nodeState, type Run } from "../../../lib/core/run.ts";
import type { Changed, Committed } from "../journal.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * What a commit may do: have as many in flight as a map allows; try again only what may be, as often as it may be; undo the newest first;
 * begin nothing once the run's end has begun, or while it is paused; and do what people commanded.
 */
export function doings({ world, programs }: Scene): Checker {
  const pausedSince = new Map<string, number>();
  const place = ({ node, index }: Active) => `${node}/${index}`;

  function recordOf(run: Run, { node, index, attempt }: Pick<Active, "node" | "index" | "attempt">) {
    return world.store.peek({
      pk: partitionOf(run.tenant, run.runId),
      sk: sk.attempt(run.runUid, node, index, attempt),
    });
  }

  function checkWidth(where: string, is: Run, program: Program): void {
    if (is.active.length > fixed.activeMax) world.violate(9, `${where}: ${is.active.length} are in flight`);
    for (const { node } of is.maps) {
      const def = program.nodes[node]?.def;
      const width = is.active.filter((each) => each.node === node).length;
      if (def?.kind === "map" && width > def.concurrency)
        world.violate(5, `${where}: ${width} items of ${def.name} are in flight, and ${def.concurrency} may be`);
    }
  }

  /** A map that has just failed by its items, and whose frame is still there, had too many of them. */
  function checkTolerance(where: string, was: Run, is: Run, program: Program): void {
    for (const { node, failed, total } of is.maps) {
      const def = program.nodes[node]?.def;
      const hasFailed = nodeState(was.nodes, node) === "pending" && nodeState(is.nodes, node) === "failed";
      if (!hasFailed || was.ending || def?.kind !== "map") continue;
      const { tolerate } = def;
      const most = !tolerate ? 0 : "count" in tolerate ? tolerate.count : Math.floor(tolerate.share * total);
      if (failed <= most) world.violate(5, `${where}: ${def.name} failed with ${failed} items, and tolerates ${most}`);
    }
  }

  /** An iteration begins when its pause is over. */
  function checkPause(where: string, was: Run, is: Run, program: Program): void {
    for (const entry of is.active) {
      const def = program.nodes[entry.node]?.def;
      const before = was.active.find((each) => each.node === entry.node && each.index === entry.index - 1);
      const record = before && def?.kind === "repeat" ? recordOf(is, before) : undefined;
      if (!record || def?.kind !== "repeat") continue;
      const pauseMs = Math.min(def.longestMs, def.everyMs * def.factor ** (entry.index - 1));
      const pausedMs = entry.sinceMs - Number(record[at.endedAtMs]);
      if (pausedMs < pauseMs - 4 * world.profile.skewMs - 100)
        world.violate(5, `${where}: ${def.name} pauses for ${pausedMs} ms, and should for ${pauseMs}`);
    }
  }

  function checkAgain(where: string, was: Run, is: Run, program: Program): void {
    for (const entry of is.active) {
      const before = was.active.find((each) => place(each) === place(entry));
      const def = program.nodes[entry.node]?.def;
      const body = def && stepBodyOf(def);
      if (!before || before.attempt === entry.attempt || !body) continue;
      if (entry.attempt !== before.attempt + 1)
        world.violate(3, `${where}: ${place(entry)} went from attempt ${before.attempt} to ${entry.attempt}`);
      const record = recordOf(is, before);
      const outcome = record && outcomeFrom(record);
      if (outcome?.kind === "failed" && !faults[outcome.fault.code].isRetried)
        world.violate(5, `${where}: ${place(entry)} is tried again after ${outcome.fault.code}`);
      const isFree = entry.lost > before.lost;
      if (!isFree && entry.attempt - entry.lost > body.retry.attempts)
        world.violate(
          5,
          `${where}: ${place(entry)} is tried ${entry.attempt - entry.lost} times, and may be ${body.retry.attempts}`,
        );
    }
  }

  /** What this commit began: what the end of a run forbids, and the order in which things are undone. */
  function checkBegun(where: string, was: Run, is: Run, program: Program): void {
    const known = new Set(was.active.map(place));
    for (const entry of is.active) {
      const def = program.nodes[entry.node]?.def;
      if (!def || known.has(place(entry))) continue;
      if (def.compensates === undefined) {
        if (was.ending) world.violate(5, `${where}: ${def.name} began after the run's end had begun`);
        continue;
      }
      const undone = program.positions.get(def.compensates) ?? -1;
      // what lost to the first of its group, and was done all the same, is undone at once
      if (nodeState(is.nodes, undone) === "skipped") continue;
      for (const { def: later, position, compensation } of program.nodes.slice(undone + 1)) {
        const isLeft = compensation !== undefined && nodeState(is.nodes, compensation) === "pending";
        if (is.ending && isLeft && nodeState(is.nodes, position) === "done")
          world.violate(5, `${where}: ${def.compensates} is undone before ${later.name}`);
      }
    }
  }

  function checkCommands(where: string, was: Run, is: Run): void {
    if (is.mail.commands === was.mail.commands) return;
    const record = world.store.peek({ pk: partitionOf(is.tenant, is.runId), sk: sk.mail(is.runUid) });
    const taken = (record ? mailboxFrom(record).commands : []).filter(
      ({ seq }) => seq >= was.mail.commands && seq < is.mail.commands,
    );
    const kinds = taken.map(({ kind }) => kind);
    if (kinds.includes("terminate") && isLive(is)) world.violate(5, `${where}: it was terminated, and lives on`);
    if (kinds.includes("cancel") && isLive(is) && !is.ending)
      world.violate(5, `${where}: it was cancelled, and goes on`);
    const last = kinds.at(-1);
    const isOver = !isLive(is) || is.ending !== undefined || is.reason?.code === "deadline";
    if ((last === "pause" || last === "resume") && !isOver && is.isPaused !== (last === "pause"))
      world.violate(5, `${where}: the last command was ${last}, and it is ${is.isPaused ? "paused" : "not paused"}`);
  }

  function checkPaused(where: string, { was, is, atMs, write }: Committed): void {
    if (!was || !is) return;
    if (!is.isPaused || !isLive(is)) pausedSince.delete(write.key.pk);
    else if (!was.isPaused) pausedSince.set(write.key.pk, atMs);
    if (!is.isPaused) return;
    const held = new Set(was.active.filter((each) => each.state === "held").map(place));
    for (const entry of is.active)
      if (entry.state === "held" && !held.has(place(entry)))
        world.violate(5, `${where}: ${place(entry)} was taken while the run is paused`);
  }

  /** A claim by whoever began after the pause: it has seen it. */
  function checkClaim({ write, before, now, by }: Changed): void {
    const sinceMs = pausedSince.get(write.key.pk);
    if (sinceMs === undefined || before || now?.[at.token] === undefined || now[at.outcome] !== undefined) return;
    if (by && by.beganAtMs > sinceMs)
      world.violate(5, `${write.key.pk} ${write.key.sk} was claimed while the run is paused`);
  }

  return {
    onCommit(commit) {
      const { was, is, write } = commit;
      if (!is || (was && was.runUid !== is.runUid)) return;
      const where = write.key.pk;
      const program = programs.get(is.definitionHash);
      if (program) checkWidth(where, is, program);
      if (!was || !isLive(was)) return;
      checkCommands(where, was, is);
      checkPaused(where, commit);
      if (!program || !isLive(is)) return;
      checkAgain(where, was, is, program);
      checkPause(where, was, is, program);
      checkTolerance(where, was, is, program);
      checkBegun(where, was, is, program);
    },
    onChange(change) {
      if (change.write.key.sk.startsWith("ATT#")) checkClaim(change);
    },
  };
}
