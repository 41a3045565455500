import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Engine } from "../../lib/engine/engine.ts";
import type { Check } from "../../lib/ports.ts";
import { mutations } from "../mutations/table.ts";
import { found, outOfReach } from "./reach.ts";
import type { Scope } from "./scope.ts";
import { flow, sends, waitFor } from "./scopes/parts.ts";
import { scopes } from "./scopes.ts";
import { explore, replayed } from "./search.ts";

const waiting = flow([waitFor("go")], "go");
const key = { pk: "default#toy", sk: "COUNT" };

/** Somebody who counts one up: reads, and writes what he makes of it, on a condition or on none. */
const counter = (name: string, when: (n: number) => readonly Check[]) => ({
  name,
  call: async ({ store }: Engine): Promise<unknown> => {
    for (;;) {
      const [record] = await store.read([key], { isConsistent: true });
      const n = Number(record?.["n"] ?? 0);
      const written = await store.write({ kind: "put", key, fields: { n: n + 1 }, when: when(n) });
      if (written.kind === "applied") return { seq: n + 1 };
    }
  },
});

const toy = (when: (n: number) => readonly Check[]): Scope => ({
  name: "toy",
  about: "Two who count",
  not: "Everything else",
  definitions: [waiting],
  outside: [counter("one", when), counter("two", when)],
  ends: ["running"],
  isWrong: ({ answers }) => (answers["one"] === answers["two"] ? `both counted ${answers["one"]}` : undefined),
});

describe("exploring", () => {
  test.each(["depth", "breadth"] as const)("finds a race that was planted, %s first", async (order) => {
    const { violation } = await explore(
      toy(() => []),
      { order },
    );
    expect(violation?.what).toEqual(["both counted ok 1"]);
    expect(violation?.trace.filter((each) => each.includes("reads COUNT"))).toHaveLength(2);
  });

  test("finds nothing where the race is won by a condition", async () => {
    const fenced = toy((n) =>
      n === 0 ? [{ kind: "absent", path: ["pk"] }] : [{ kind: "equals", path: ["n"], value: n }],
    );
    expect(await explore(fenced)).toMatchObject({ violation: undefined, cut: 0 });
  });

  test("tells the way to what is wrong by numbers that lead there again", async () => {
    const scope = toy(() => []);
    const { violation } = await explore(scope);
    const again = await replayed(scope, violation?.replay ?? "");
    expect(again.wrong).toEqual(violation?.what);
    expect(again.trace).toEqual(violation?.trace);
  });

  test.each([
    [1, 2, 9],
    [2, 2, 16],
    [2, 3, 64],
    [3, 3, 125],
  ])(
    "with %i reads each, %i callers have exactly as many states as there are places to stand",
    async (reads, callers, states) => {
      const caller = (name: string) => ({
        name,
        call: async ({ store }: Engine) => {
          for (let at = 0; at < reads; at++) await store.read([key], { isConsistent: true });
        },
      });
      const names = ["one", "two", "three"].slice(0, callers);
      const scope: Scope = { ...toy(() => []), outside: names.map(caller), isWrong: () => undefined };
      const explored = await explore(scope);
      // not begun, before each read, done
      expect(explored).toMatchObject({ states, ends: 1, cut: 0, longest: callers * (reads + 1) });
      expect((await explore(scope, { order: "breadth" })).states).toBe(states);
    },
  );

  test("runs the real code once for each point at which a process can stand, not for each way there", async () => {
    const scope: Scope = { ...toy(() => []), outside: [sends("go", 1), sends("go", 2)], ends: ["succeeded"] };
    const { states, moves, positions, executions, violation } = await explore({ ...scope, isWrong: () => undefined });
    expect(violation).toBeUndefined();
    expect(states).toBeGreaterThan(positions * 3);
    expect(moves).toBeGreaterThan(executions * 10);
  });

  test("says that it was not exhaustive where a bound cut it", async () => {
    const scope = scopes.find(({ name }) => name === "append-against-wait") as Scope;
    expect((await explore(scope, { depthMax: 5 })).cut).toBeGreaterThan(0);
    expect(await explore(scope)).toMatchObject({ cut: 0, violation: undefined, outcomes: ["succeeded"] });
  });
});

describe("the command", () => {
  const command = (...options: readonly string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, "run.ts"), "--scope", "left-signal", ...options], {
      encoding: "utf8",
    });

  test("succeeds where a scope was seen to its end", () => {
    expect(command()).toMatchObject({ status: 0, stdout: expect.stringContaining("each to its end") });
  });

  test("does not succeed where a bound cut a scope, and names it", () => {
    expect(command("--depth", "5")).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("not to the end: left-signal"),
    });
  });
});

describe("scopes", () => {
  test("each has a name of its own, and says what it covers and what not", () => {
    expect(new Set(scopes.map(({ name }) => name)).size).toBe(scopes.length);
    for (const { about, not } of scopes) for (const each of [about, not]) expect(each).toMatch(/^[A-Z].*\.$/);
  });

  test("what is said of rules names rules and scopes that there are", () => {
    const rules = new Set(mutations.map(({ id }) => id));
    for (const rule of [...Object.keys(found), ...Object.keys(outOfReach)]) expect(rules).toContain(rule);
    for (const rule of Object.keys(found)) expect(outOfReach[rule]).toBeUndefined();
    const names = new Set(scopes.map(({ name }) => name));
    for (const { scopes: all } of Object.values(found)) for (const name of all) expect(names).toContain(name);
  });
});
