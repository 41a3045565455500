import { describe, expect, test } from "vitest";
import { attemptAttributes } from "../../lib/core/attempt-format.ts";
import type { NodeDef } from "../../lib/core/definition.ts";
import { rowAttributes } from "../../lib/core/row-format.ts";
import { decide } from "../../lib/engine/decide.ts";
import { start } from "../../lib/engine/start.ts";
import type { Check, Write } from "../../lib/ports.ts";
import type { MemoryStore } from "../../lib/testing/memory-store.ts";
import { createWorld } from "../../lib/testing/world.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, rawRegistry, refOf } from "../engine/raw.ts";
import { type Violations, watchHandlers, watchStore } from "./invariants.ts";

type Guard = (write: Write, check: Check) => boolean;
const isOn = (write: Write, prefix: string) => write.key.sk.startsWith(prefix);
const names = (check: Check, name: string) => "path" in check && check.path[0] === name;

/** Conditions that stand between two processes, each to be taken away alone. */
const guards: { readonly [name: string]: Guard } = {
  "the row's version": (write, check) => write.key.sk === "STATE" && names(check, rowAttributes.recordVersion),
  "an attempt's one claim": (write, check) => write.kind === "put" && isOn(write, "ATT#") && names(check, "pk"),
  "a result's token and first end": (write, check) =>
    write.kind === "edit" &&
    isOn(write, "ATT#") &&
    (names(check, attemptAttributes.outcome) ||
      names(check, attemptAttributes.token) ||
      names(check, attemptAttributes.leaseUntilMs)),
};

const flow = definitionOf(
  "w",
  [
    stepNode("a", ["$input"], { timeoutMs: 5000 }),
    { kind: "gate", name: "g", timeoutMs: 20_000, onTimeout: "approve" },
    { kind: "map", name: "m", items: ref("$input"), body: stepBody({ timeoutMs: 5000 }), concurrency: 8 } as NodeDef,
    stepNode("z", ["a", "m", "g"]),
  ],
  ref("z"),
);

/** Many at once, messages doubled, slow handlers, people against time-outs: where every condition is needed. */
async function violationsWithout(guard: Guard | undefined, seed: number): Promise<Violations> {
  const violations: Violations = [];
  const strip = (write: Write): Write =>
    guard ? { ...write, when: write.when.filter((check) => !guard(write, check)) } : write;
  const registry = watchHandlers(
    rawRegistry([flow], {
      "work@1": async (_, { signal }) => {
        await world.clock.sleep(world.random.integer(7000), signal);
        return world.random.integer(1000);
      },
    }),
    { nowMs: () => world.clock.nowMs() },
    violations,
    10_000,
  );
  const world = createWorld({
    registry,
    seed,
    isShuffled: true,
    duplicateRate: 0.6,
    batchSize: 1,
    limits: { dispatchGraceMs: 2000 },
    // some workers freeze before they record, beyond their lease
    storeHooks: {
      before: async (call) => {
        if (call.op !== "write" || call.write.kind !== "edit" || !isOn(call.write, "ATT#")) return undefined;
        if (world.random.chance(0.2)) await world.clock.sleep(30_000);
        return undefined;
      },
    },
    store: (inner: MemoryStore) => ({ ...inner, write: (write, options) => inner.write(strip(write), options) }),
  });
  watchStore(world, violations);
  await start(world.engine, { workflow: "w", runId: "r", input: [1, 2, 3, 4, 5, 6, 7, 8] });
  await world.advance(19_990);
  await Promise.all([
    world.advance(60_000),
    ...[true, false].map((approved) =>
      decide(world.engine, refOf("r"), { gate: "g", approved }).catch(() => undefined),
    ),
  ]);
  return violations;
}

describe("the simulation", () => {
  test("finds nothing wrong while every condition is there", async () => {
    for (let seed = 0; seed < 10; seed++)
      expect({ seed, found: await violationsWithout(undefined, seed) }).toEqual({ seed, found: [] });
  });

  test.each(Object.entries(guards))("sees it if %s is taken away (W16)", async (_, guard) => {
    let found = 0;
    for (let seed = 0; seed < 10; seed++)
      found += (await violationsWithout(guard, seed).catch((error: unknown) => [String(error)])).length;
    expect(found).toBeGreaterThan(0);
  });
});
