import { rowAttributes as a } from "../../../lib/core/row-format.ts";
import { nodeState, type Run } from "../../../lib/core/run.ts";
import type { Check } from "../../../lib/ports.ts";
import type { Committed } from "../journal.ts";
import type { Checker, Scene } from "./checker.ts";

/** Invariant 1: the version rises by exactly one per commit, every write on a row names it, and nothing that was committed goes back. */
export function versions({ world }: Scene): Checker {
  const wrong = (commit: Committed, what: string) => world.violate(1, `${commit.write.key.pk}: ${what}`);
  return {
    onCommit(commit) {
      const { write, before, now, was, is } = commit;
      if (write.kind === "put") {
        if (before && !isExpired(before, commit.atMs)) return wrong(commit, "a row was put over another");
        if (!write.when.some(isAbsence)) wrong(commit, "created without a condition");
        if (is?.recordVersion !== 1) wrong(commit, `created at version ${is?.recordVersion}`);
        return;
      }
      for (const name of ["recordVersion", "runUid", "live"] as const)
        if (!write.when.some((check) => "path" in check && check.path[0] === a[name]))
          wrong(commit, `a ${write.kind} names no ${name}`);
      if (!was || !is || !before || !now) return;
      if (now[a.recordVersion] !== Number(before[a.recordVersion]) + 1)
        wrong(commit, `version went from ${before[a.recordVersion]} to ${now[a.recordVersion]}`);
      if (was.runUid !== is.runUid) wrong(commit, `runUid changed from ${was.runUid} to ${is.runUid}`);
      for (const name of backwards(was, is)) wrong(commit, `${name} went back (${commit.by?.name})`);
    },
  };
}

/** What only grows, and did not. */
function backwards(was: Run, is: Run): readonly string[] {
  const lost: string[] = [];
  if (is.transitionSeq < was.transitionSeq) lost.push("transitionSeq");
  if (is.mail.signals < was.mail.signals || is.mail.commands < was.mail.commands) lost.push("a mailbox cursor");
  if (is.pages < was.pages || is.attempts < was.attempts || is.children < was.children) lost.push("a counter");
  if (is.deadlineAtMs < was.deadlineAtMs || is.createdAtMs !== was.createdAtMs) lost.push("an instant");
  for (let position = 0; position < was.nodes.length * 4; position++) {
    const [before, now] = [nodeState(was.nodes, position), nodeState(is.nodes, position)];
    if (before !== now && before !== "pending") lost.push(`node ${position} from ${before} to ${now}`);
  }
  for (const frame of was.maps) {
    const next = is.maps.find((each) => each.node === frame.node);
    if (next && (next.done < frame.done || next.failed < frame.failed || next.next < frame.next)) lost.push("a map");
  }
  return lost;
}

const isExpired = (row: { readonly [name: string]: unknown }, atMs: number) =>
  Number(row[a.expiresAtS] ?? Infinity) * 1000 <= atMs;

const isAbsence = (check: Check): boolean =>
  check.kind === "any"
    ? check.of.some((all) => all.some(isAbsence))
    : check.kind === "absent" && check.path[0] === "pk";
