import { attemptAttributes as at, attemptNameFromSk } from "../../../lib/core/attempt-format.ts";
import type { NodeDef, WorkBody } from "../../../lib/core/definition.ts";
import { stepBodyOf } from "../../../lib/core/program.ts";
import { type Active, isLive, nodeState, type Run } from "../../../lib/core/run.ts";
import { functionMs } from "../functions.ts";
import type { Changed, Committed } from "../journal.ts";
import type { Checker, Scene } from "./checker.ts";

/** Nothing fires before its instant, and every instant, lease and pause is the one that the definition says. */
export function timers({ world, programs }: Scene): Checker {
  /** Whoever set an instant and whoever finds it over have clocks of their own, which may step. */
  const apartMs = 4 * world.profile.skewMs + 100;
  const { clockSlackMs } = world.limits;
  const defOf = (run: Run, node: number) => programs.get(run.definitionHash)?.nodes[node]?.def;
  const leaseOf = (body: WorkBody) => (body.heartbeatMs ?? body.timeoutMs) + clockSlackMs;

  function checkOpened(where: string, def: NodeDef, entry: Active): void {
    const wrong = (what: string) => world.violate(4, `${where} (${entry.state}): ${what}`);
    const lastsMs = entry.untilMs - entry.sinceMs;
    const body = stepBodyOf(def);
    if (def.kind === "sleep" && entry.state === "sleep" && lastsMs !== def.forMs)
      wrong(`it sleeps for ${lastsMs} ms, and should for ${def.forMs}`);
    if ((def.kind === "signal" || def.kind === "gate") && entry.state === def.kind) {
      const isRight = def.timeoutMs === undefined ? entry.untilMs === 0 : lastsMs === def.timeoutMs;
      if (!isRight) wrong(`it waits until ${entry.untilMs}, and its time-out is ${def.timeoutMs}`);
    }
    if (entry.state === "held" && body && lastsMs !== leaseOf(body))
      wrong(`its lease is ${lastsMs} ms, and should be ${leaseOf(body)}`);
  }

  /** What left by its instant alone left after it. */
  function checkGone({ was, is, atMs }: Committed, entry: Active): void {
    if (!was || !is || is.ending || !isLive(is) || entry.untilMs === 0) return;
    if (entry.state !== "sleep" && entry.state !== "signal") return;
    const isBySignal =
      entry.state === "signal" && is.tiny.some((each) => each.node === entry.node && each.kind !== "fault");
    if (isBySignal || nodeState(is.nodes, entry.node) === "skipped") return;
    const isTaken =
      entry.state === "signal" && (is.mail.signals !== was.mail.signals || is.mail.mask !== was.mail.mask);
    if (!isTaken && atMs < entry.untilMs - apartMs)
      world.violate(
        4,
        `${is.runId}: ${entry.node} (${entry.state}) was over ${entry.untilMs - atMs} ms before its time`,
      );
  }

  function checkDeadline({ was, is, atMs, write }: Committed): void {
    if (!was || !is || was.ending || is.reason?.code !== "deadline" || was.reason?.code === "deadline") return;
    if (atMs < was.deadlineAtMs - apartMs)
      world.violate(4, `${write.key.pk} failed ${was.deadlineAtMs - atMs} ms before its deadline`);
  }

  function checkRecord({ write, before, now, by }: Changed): void {
    const run = world.rows.get(write.key.pk);
    const name = attemptNameFromSk(write.key.sk);
    if (!now || !name || !run || now[at.runUid] !== run.runUid) return;
    const def = defOf(run, name.node);
    const body = def && stepBodyOf(def);
    const where = `${write.key.pk} ${write.key.sk}`;
    const startedAtMs = Number(now[at.startedAtMs]);
    if (!before && now[at.token] !== undefined && now[at.outcome] === undefined && body) {
      const lastsMs = Number(now[at.leaseUntilMs]) - startedAtMs;
      if (lastsMs !== leaseOf(body))
        world.violate(3, `${where}: its lease is ${lastsMs} ms, and should be ${leaseOf(body)}`);
    }
    if (now[at.outcome] !== "timed-out" || before?.[at.outcome] !== undefined) return;
    const entry = run.active.find((each) => each.node === name.node && each.attempt === name.attempt);
    const limitMs = def?.kind === "gate" || def?.kind === "signal" ? def.timeoutMs : body?.timeoutMs;
    const sinceMs = def?.kind === "gate" ? entry?.sinceMs : startedAtMs;
    // who has less time left than a step may take gives it no more
    if (body && by && by.beganAtMs + functionMs - 5000 < startedAtMs + (limitMs ?? 0)) return;
    const tookMs = Number(now[at.endedAtMs]) - (sinceMs ?? 0);
    if (limitMs !== undefined && sinceMs !== undefined && tookMs < limitMs - apartMs)
      world.violate(4, `${where}: it timed out after ${tookMs} ms of ${limitMs}`);
  }

  return {
    onCommit(commit) {
      const { was, is } = commit;
      if (!is) return;
      checkDeadline(commit);
      const key = ({ node, index, attempt, state }: Active) => `${node}/${index}/${attempt} ${state}`;
      const before = new Set(was?.active.map(key));
      const now = new Set(is.active.map(key));
      for (const entry of is.active) {
        const def = defOf(is, entry.node);
        if (def && !before.has(key(entry))) checkOpened(`${is.runId}: ${def.name}`, def, entry);
      }
      for (const entry of was?.active ?? []) if (!now.has(key(entry))) checkGone(commit, entry);
    },
    onChange(change) {
      if (change.write.key.sk.startsWith("ATT#")) checkRecord(change);
    },
  };
}
