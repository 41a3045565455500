import { isLive, type Run } from "../../../lib/core/run.ts";
import { strikesFrom } from "../../../lib/engine/records/strikes.ts";
import type { Changed, Committed } from "../journal.ts";
import type { Process } from "../process.ts";
import type { Checker, Scene } from "./checker.ts";

const minuteMs = 60_000;
/**
 * Longest that fair weather may leave a run alive which kills whoever moves it: the last of a message's receipts, the watchdog's longest
 * interval and the receipts of what it sends, once more if a deploy was rolled out, and the longest time that nobody looks.
 */
const poisonedMsMax = 4 * 60 * minuteMs;

/** A strike that was written down: by whom, for which transition and build. */
interface Struck {
  readonly by: Process;
  readonly seq: number;
  readonly atMs: number;
}

/**
 * Invariant 6: a run is only ended as stuck if enough processings of it began, one by one, and did not end, and as a livelock if its
 * commits were refused again and again at one transition; who died of a neighbour leaves no evidence; and what is poison is ended.
 */
export function forceFails({ world, functions }: Scene): Checker {
  const struck = new Map<string, readonly Struck[]>();
  const killing = new Map<string, { readonly seq: number; readonly sinceMs: number }>();
  // clocks differ, and between the look at one's own and the write lies a call or two
  const apartMs = 2 * world.profile.skewMs + 10_000;
  world.plagues.onKilled.push((process, pk) => {
    checkNeighbours(process, pk);
    const seq = world.rows.get(pk)?.transitionSeq ?? 0;
    if (world.weather.isOver && killing.get(pk)?.seq !== seq) killing.set(pk, { seq, sinceMs: world.timeline.nowMs() });
  });

  /** Whoever is received again is processed alone: nobody else's strike, counted by the same process, stands when it kills. */
  function checkNeighbours(process: Process, pk: string): void {
    for (const [other, strikes] of struck) {
      const isOwn = other === pk || !strikes.some(({ by }) => by.name === process.name);
      if (!isOwn && !isLost(process, other))
        world.violate(6, `${other} keeps a strike of ${process.name}, which died of ${pk}`);
    }
  }

  /** Its removal of what it had counted may not have come through. */
  const isLost = (process: Process, pk: string) =>
    [...process.troubles].some((name) => name.startsWith(`${pk} STATE#STRIKES`));

  function noteStrikes({ write, before, now, by, atMs }: Changed): void {
    const { pk } = write.key;
    const [was, is] = [strikesFrom(before), strikesFrom(now)];
    const mine = struck.get(pk) ?? [];
    if (!is) struck.delete(pk);
    else if (!was || is.count > was.count || is.seq !== was.seq || is.build !== was.build) {
      if (by) struck.set(pk, [...mine, { by, seq: is.seq, atMs }]);
    } else if (is.count < was.count)
      struck.set(
        pk,
        mine.filter((each) => each.by.name !== by?.name),
      );
  }

  /** Processings that counted themselves and did not end, of this transition and build, one spacing after the other. */
  function evidenceOf(pk: string, was: Run, by: Process | undefined): readonly Struck[] {
    const open = new Set(functions.unfinished(was.runId).map((each) => each.process.name));
    const mine = (struck.get(pk) ?? []).filter(
      (each) =>
        each.seq === was.transitionSeq &&
        each.by.build === by?.build &&
        each.by.name !== by.name &&
        // a zombie may end its processing long after its function's time was over
        (each.by.isZombie || (open.has(each.by.name) && each.by.isDead) || isLost(each.by, pk)),
    );
    const spaced: Struck[] = [];
    for (const each of mine) {
      const last = spaced.at(-1);
      if (!last || each.atMs - last.atMs >= world.limits.strikeSpacingMs - apartMs) spaced.push(each);
    }
    return spaced;
  }

  function checkEnd({ was, is, write, by, atMs }: Committed): void {
    if (!was || !is || !isLive(was) || isLive(is)) return;
    const { pk } = write.key;
    const where = `${pk} was force-failed (${is.reason?.message})`;
    if (is.reason?.code === "stuck") {
      world.count("ended as stuck");
      const evidence = evidenceOf(pk, was, by);
      // what one clock calls long ago, another calls just now: there several count themselves at once, and none has ended yet
      if (evidence.length < world.limits.strikesMax && !world.profile.isBeyondSlack)
        world.violate(6, `${where}, and only ${evidence.length} processings that counted themselves did not end`);
      const sinceMs = evidence[0]?.atMs ?? atMs;
      if (atMs - sinceMs < world.limits.stuckAfterMs - apartMs)
        world.violate(6, `${where} ${Math.round((atMs - sinceMs) / 1000)} s after the first of them`);
    }
    if (is.reason?.code === "livelock") {
      world.count("ended as livelock");
      const refused = world.refusals.get(`${pk} ${was.transitionSeq}`) ?? 0;
      if (refused < world.limits.requeuesMax)
        world.violate(6, `${where}, and only ${refused} commits were refused at that transition`);
    }
  }

  return {
    onCommit: checkEnd,
    onChange(change) {
      if (change.write.key.sk.startsWith("STATE#STRIKES")) noteStrikes(change);
    },
    onSweep() {
      for (const [pk, { seq, sinceMs }] of killing) {
        const run = world.rows.get(pk);
        const isAlive = run && isLive(run) && run.transitionSeq === seq;
        if (isAlive && world.timeline.nowMs() - sinceMs > poisonedMsMax + apartMs)
          world.violate(6, `${pk} kills whoever moves it, for hours, and is not ended`);
      }
    },
  };
}
