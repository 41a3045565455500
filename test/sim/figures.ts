import { faultKinds } from "./faults.ts";

type Counts = ReadonlyMap<string, number>;

/**
 * Branches of the engine that a simulation has to reach: one that it never reaches proves nothing of them. A big run fails if one was not.
 */
const branches: { readonly [name: string]: readonly string[] } = {
  "a conflict, recomputed": ["metric:conflicts"],
  "an unclear commit": ["metric:commits-ambiguous"],
  requeue: ["metric:requeues"],
  strike: ["metric:strikes"],
  "force-fail": ["metric:force-fails"],
  "a run that is stuck ended": ["ended as stuck"],
  "a livelock ended": ["ended as livelock"],
  "a deadline reached": ["ended by its deadline"],
  "an attempt lost with its lease": ["attempt lost"],
  "an attempt timed out": ["attempt timed-out"],
  "an attempt closed before it began": ["attempt cancelled"],
  "a task that was never claimed": ["attempt never-claimed"],
  "a result too late": ["metric:attempts-late"],
  "a delivery lost in the dead-letter queue": ["metric:deliveries-lost"],
  "a gate that timed out against people": ["decisions lost"],
  "a gate decided": ["attempt decided"],
  "a run parked": ["metric:runs-parked"],
  "a message of a newer format handed on": ["log:message.newer-format"],
  "an unreadable message buried": ["metric:messages-dead"],
  "a run that is gone": ["metric:runs-missing"],
  "a tick that changes nothing": ["metric:noop-ticks"],
  "a signal undelivered": ["metric:signals-undelivered"],
  "a full mailbox": ["metric:mailbox-full"],
  "a failed sending": ["metric:sends-failed"],
  "a watchdog held back": ["metric:watchdog-held"],
  "an end without its compensations": ["metric:uncompensated"],
  "a page of spilled outputs": ["record OUT#P"],
  "an output beside its record": ["record OUT"],
  "a page of items": ["record ITEM"],
  "a slice of a wide map": ["runs of slices"],
  "a node undone": ["undone"],
  "a run purged and started anew": ["purges"],
  "a zombie": ["zombies"],
  "a run succeeded": ["ended succeeded"],
  "a run failed": ["ended failed"],
  "a run cancelled": ["ended cancelled"],
  "a run terminated": ["ended terminated"],
};

const nodeKinds = [
  "step",
  "inline step",
  "repeatable step",
  "map",
  "sleep",
  "signal",
  "gate",
  "child",
  "repeat",
  "external",
];

const sum = (counts: Counts, names: readonly string[]) =>
  names.reduce((total, name) => total + (counts.get(name) ?? 0), 0);

/** Expected branches and node kinds that were never reached. */
export function unreached(counts: Counts): readonly string[] {
  const missing = Object.entries(branches).flatMap(([name, from]) => (sum(counts, from) === 0 ? [name] : []));
  const kinds = nodeKinds.flatMap((kind) => (sum(counts, [`node ${kind} done`]) === 0 ? [`a ${kind} done`] : []));
  return [...missing, ...kinds];
}

/** The figures of many simulations as text. */
export function figuresOf(counts: Counts): string {
  const of = (name: string) => String(counts.get(name) ?? 0);
  const rows = (title: string, entries: readonly (readonly [string, string])[]) =>
    [`\n${title}`, ...entries.map(([name, value]) => `  ${name.padEnd(52)} ${value.padStart(10)}`)].join("\n");
  const all = [
    rows("what was played", [
      ["runs (of workflows, children and slices among them)", of("metric:runs-started")],
      ["invocations of functions", of("invocations")],
      ["handler calls", of("handler calls")],
      ["ticks", of("metric:ticks")],
      ["commits", of("metric:commits")],
      ["conflicts at the table", of("conflicts at the table")],
      ["messages sent", of("metric:messages-sent")],
      ["writes applied", of("changes")],
    ]),
    rows(
      "faults",
      Object.keys(faultKinds).map((kind) => [kind, of(`fault:${kind}`)] as const),
    ),
    rows(
      "nodes: done, failed, skipped",
      nodeKinds.map(
        (kind) => [kind, ["done", "failed", "skipped"].map((state) => of(`node ${kind} ${state}`)).join("  ")] as const,
      ),
    ),
    rows(
      "branches reached",
      Object.entries(branches).map(([name, from]) => [name, String(sum(counts, from))] as const),
    ),
  ];
  return all.join("\n");
}
