import { attemptAttributes as at, attemptFrom, attemptNameFromSk } from "../../../lib/core/attempt-format.ts";
import { partitionOf, sk } from "../../../lib/core/keys.ts";
import { defaultLimits } from "../../../lib/core/limits.ts";
import { isInline } from "../../../lib/core/program.ts";
import { type Active, isLive, nodeState, type Run } from "../../../lib/core/run.ts";
import type { Fields, Write } from "../../../lib/ports.ts";
import type { Call } from "../calls.ts";
import type { Changed, Committed } from "../journal.ts";
import { type Checker, type Scene, same } from "./checker.ts";

/**
 * Invariant 3: an attempt is claimed once and ends once, the record disposes, and no step is run under two rights that hold. Where
 * clocks differ by more than a lease's slack, two holders may each believe in theirs: only the last of these is not held then.
 */
export function attempts({ world, programs }: Scene): Checker {
  const holders = new Map<string, string | undefined>();
  world.onCall.push((call, others) => checkCall(call, others));

  function recordOf(run: Run, entry: Pick<Active, "node" | "index" | "attempt">): Fields | undefined {
    return world.store.peek({
      pk: partitionOf(run.tenant, run.runId),
      sk: sk.attempt(run.runUid, entry.node, entry.index, entry.attempt),
    });
  }

  function checkRecord({ write, before, now }: Changed): void {
    const { pk } = write.key;
    const where = `${pk} ${write.key.sk}`;
    if (before && now && before[at.token] !== now[at.token]) world.violate(3, `${where}: its claim changed hands`);
    if (before?.[at.outcome] !== undefined && now)
      for (const name of [
        at.outcome,
        at.endedBy,
        at.output,
        at.payload,
        at.faultCode,
        at.decision,
        at.leaseUntilMs,
        at.endedAtMs,
      ])
        if (!same(before[name], now[name])) world.violate(3, `${where}: it has ended, and ${name} changed`);
    checkEnd(where, before, now);
    checkConditions(where, write);
    const name = attemptNameFromSk(write.key.sk);
    if (before || !now || now[at.token] === undefined || !name || name.attempt === 1) return;
    const earlier = world.store.peek({
      pk,
      sk: write.key.sk.replace(/\d+$/, String(name.attempt - 1).padStart(3, "0")),
    });
    if (earlier && earlier[at.outcome] === undefined)
      world.violate(3, `${where}: claimed beside an attempt that has not ended`);
  }

  function checkEnd(where: string, before: Fields | undefined, now: Fields | undefined): void {
    if (before?.[at.outcome] !== undefined || now?.[at.outcome] !== "lost" || !before) return;
    const leftMs = Number(before[at.leaseUntilMs]) - world.timeline.nowMs();
    if (!world.profile.isBeyondSlack && leftMs > defaultLimits.clockSlackMs)
      world.violate(3, `${where}: it was lost, and its lease held for another ${leftMs} ms`);
  }

  /** An end, and a longer lease, are for the holder of this claim, and only while there is no end. */
  function checkConditions(where: string, write: Write): void {
    if (write.kind !== "edit") return;
    const isSet = (name: string) => write.edits.some((edit) => edit.kind === "set" && edit.path[0] === name);
    if (!isSet(at.outcome) && !isSet(at.leaseUntilMs)) return;
    for (const name of [at.token, at.outcome])
      if (!write.when.some((check) => "path" in check && check.path[0] === name))
        world.violate(3, `${where}: an edit of it names no ${name === at.token ? "token" : "outcome"}`);
  }

  /** An attempt that the row has gone past must have ended on its record; an inline one may end on the row, by its holder's commit. */
  function checkCommit({ was, is, by }: Committed): void {
    if (!was || !is || !isLive(was)) return;
    for (const entry of is.active)
      if (entry.state === "held" && !holders.has(entry.token)) holders.set(entry.token, by?.name);
    if (!isLive(is) && is.phase !== "succeeded") return;
    for (const entry of was.active) {
      if (!["task", "held", "gate", "child"].includes(entry.state)) continue;
      const next = is.active.find((each) => each.node === entry.node && each.index === entry.index);
      const isPast = next ? next.attempt > entry.attempt : hasMovedOn(was, is, entry);
      if (!isPast || recordOf(was, entry)?.[at.outcome] !== undefined) continue;
      const isHolders = entry.state === "held" && holders.get(entry.token) === by?.name;
      // a holder takes a dispatched inline attempt, and what follows it, in one commit
      const node = programs.get(was.definitionHash)?.nodes[entry.node];
      const isOwn = entry.state === "task" && node !== undefined && isInline(node.def) && by?.name.startsWith("worker");
      if (!isHolders && !isOwn)
        world.violate(
          3,
          `${was.runId} went past ${entry.node}/${entry.index}/${entry.attempt} (${entry.state}), and its record has no end (${by?.name})`,
        );
    }
  }

  function checkCall(call: Call, others: readonly Call[]): void {
    const [runUid = "", node = "", index = ""] = call.key.split("-");
    const run = [...world.rows.values()].find((each) => each.runUid === runUid);
    const def = run && programs.get(run.definitionHash)?.nodes[Number(node)]?.def;
    if (run && ((def !== undefined && def.name !== call.node) || call.key !== `${runUid}-${node}-${call.index}`))
      world.violate(3, `${call.node}/${call.index} of ${run.runId} was called under the key ${call.key}`);
    const isRepeatable = def?.kind === "step" && def.isRepeatable === true;
    if (isRepeatable) return;
    const twin = others.find((each) => each.attempt === call.attempt);
    // whoever claims what was purged while it looked finds no record that refuses it
    if (twin && run)
      world.violate(
        3,
        `${call.node}/${index} attempt ${call.attempt} of ${run?.runId} was run twice: by ${twin.process.name} and ${call.process.name}`,
      );
    const rights = run && !world.profile.isBeyondSlack ? rightsOf(run, Number(node), Number(index)) : 0;
    const running = others.filter((each) => !each.isOver && !each.process.isDead);
    if (rights > 1 && running.length > 0)
      world.violate(3, `${call.node}/${index} of ${run?.runId} is run under ${rights} rights that hold`);
  }

  /** Claims without an end whose lease has not run out. */
  function rightsOf(run: Run, node: number, index: number): number {
    const held = run.active.find((each) => each.node === node && each.index === index && each.state === "held");
    let rights = held && held.untilMs > world.timeline.nowMs() ? 1 : 0;
    const last = run.active.find((each) => each.node === node && each.index === index)?.attempt ?? 1;
    for (let attempt = 1; attempt <= last + 1; attempt++) {
      const record = recordOf(run, { node, index, attempt });
      const found = record && attemptFrom({ node, index, attempt }, record);
      if (found?.token && !found.outcome && (found.leaseUntilMs ?? 0) > world.timeline.nowMs()) rights += 1;
    }
    return rights;
  }

  return {
    onCommit: checkCommit,
    onChange: (change) => {
      if (change.write.key.sk.startsWith("ATT#")) checkRecord(change);
    },
  };
}

/** The node, or its map's count, says that this attempt came to something. */
function hasMovedOn(was: Run, is: Run, entry: Active): boolean {
  const frame = was.maps.find((each) => each.node === entry.node);
  if (frame) return false;
  return nodeState(was.nodes, entry.node) === "pending" && nodeState(is.nodes, entry.node) === "done";
}
