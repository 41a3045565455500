import { attemptAttributes as at } from "../../lib/core/attempt-format.ts";
import type { Handler, Registry } from "../../lib/core/registry.ts";
import { rowAttributes as row } from "../../lib/core/row-format.ts";
import type { Check, Fields, Write } from "../../lib/ports.ts";
import type { World } from "../../lib/testing/world.ts";

/** What was found wrong, in words; empty at the end of a sound simulation. */
export type Violations = string[];

/**
 * Stands at the store and looks at every change at the instant at which it is made: the row's version rises by exactly one and
 * every write on it names its version, what is terminal stays, and an attempt ends once.
 */
export function watchStore(world: World, violations: Violations): void {
  world.store.watch((write, before, now) => {
    const { sk } = write.key;
    const where = `${write.key.pk} ${sk}`;
    if (sk === "STATE") checkState(where, write, before, now, violations);
    if (sk.startsWith("ATT#")) checkAttempt(where, before, now, violations);
  });
}

function checkState(
  where: string,
  write: Write,
  before: Fields | undefined,
  now: Fields | undefined,
  violations: Violations,
): void {
  if (write.kind === "put") {
    if (!namesAbsence(write.when)) violations.push(`${where}: created without a condition`);
    if (now?.[row.recordVersion] !== 1) violations.push(`${where}: created at version ${now?.[row.recordVersion]}`);
    return;
  }
  if (!write.when.some((check) => check.kind === "equals" && check.path[0] === row.recordVersion))
    violations.push(`${where}: a ${write.kind} names no version`);
  if (!now || !before) return;
  if (now[row.recordVersion] !== Number(before[row.recordVersion]) + 1)
    violations.push(`${where}: version went from ${before[row.recordVersion]} to ${now[row.recordVersion]}`);
  if (Number(now[row.transitionSeq]) < Number(before[row.transitionSeq])) violations.push(`${where}: went back`);
  if (before[row.live] !== undefined) return;
  for (const name of [row.status, row.body, row.reason, row.nodes, row.tiny, row.endedAtMs, row.live])
    if (String(before[name]) !== String(now[name])) violations.push(`${where}: ended, and ${name} changed`);
}

function checkAttempt(
  where: string,
  before: Fields | undefined,
  now: Fields | undefined,
  violations: Violations,
): void {
  if (before?.[at.outcome] === undefined) return;
  for (const name of [at.outcome, at.token, at.output, at.payload, at.endedBy])
    if (String(before[name]) !== String(now?.[name])) violations.push(`${where}: ended, and ${name} changed`);
}

const namesAbsence = (checks: readonly Check[]): boolean =>
  checks.some((check) =>
    check.kind === "any" ? check.of.some(namesAbsence) : check.kind === "absent" && check.path[0] === "pk",
  );

/**
 * Wraps every handler: says if one node or item is run by two at a time whose leases both still hold. `slackMs` is what an engine
 * adds to a lease.
 */
export function watchHandlers(
  registry: Registry,
  clock: { nowMs(): number },
  violations: Violations,
  leaseMs = 35_000,
): Registry & { readonly calls: Map<string, number> } {
  const running = new Map<string, { until: number; attempt: number }[]>();
  const calls = new Map<string, number>();
  return {
    ...registry,
    calls,
    handler(ref): Handler | undefined {
      const handler = registry.handler(ref);
      return (
        handler && {
          ...handler,
          ref,
          prepare: async (input) => {
            const call = await handler.prepare(input);
            return async (context) => {
              const key = context.idempotencyKey;
              calls.set(key, (calls.get(key) ?? 0) + 1);
              const others = (running.get(key) ?? []).filter((each) => each.until > clock.nowMs());
              if (others.length > 0)
                violations.push(
                  `${context.node}/${context.index}: attempt ${context.attempt} runs beside ${others[0]?.attempt}`,
                );
              const mine = { until: clock.nowMs() + leaseMs, attempt: context.attempt };
              running.set(key, [...others, mine]);
              try {
                return await call(context);
              } finally {
                mine.until = 0;
              }
            };
          },
        }
      );
    },
  };
}
