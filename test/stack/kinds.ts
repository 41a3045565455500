import { describe, expect, it } from "vitest";
import { statusOf } from "../../lib/core/run.ts";
import { signal } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { complete } from "../../lib/engine/external.ts";
import type { Emulator } from "./emulator.ts";
import { asked, chain, elsewhere, mapped, nested, slept, told, undone } from "./tour/first.ts";
import type { Touring } from "./touring.ts";

/** A run of every kind of node, to its end: the same with and without enforced IAM. All wait side by side. */
export function runEveryKind(here: () => Touring, emulator: () => Emulator): void {
  describe.concurrent("a run of every kind comes to its end", () => {
    const ended = async (runId: string) => {
      await here().untilStatus(runId, "succeeded", 150_000);
      return (await here().outputOf(runId)) as unknown;
    };
    const timeoutMs = 200_000;

    it(
      "twenty-five steps, one after the other",
      async () => {
        await here().begin(chain, "chain", { n: 0 });
        expect(await ended("chain")).toEqual({ ok: true, value: { n: 25 } });
      },
      timeoutMs,
    );

    it(
      "a map",
      async () => {
        await here().begin(mapped, "mapped", { list: Array.from({ length: 12 }, (_, n) => ({ n })) });
        expect(await ended("mapped")).toEqual({
          ok: true,
          value: Array.from({ length: 12 }, (_, n) => ({ n: n + 1 })),
        });
      },
      timeoutMs,
    );

    it(
      "a gate",
      async () => {
        await here().begin(asked, "asked", { n: 1 });
        await decide(here().engine, here().refOf("asked"), { gate: "ok", approved: true, by: "kim" });
        expect(await ended("asked")).toEqual({ ok: true, value: { n: 2 } });
      },
      timeoutMs,
    );

    it(
      "a signal",
      async () => {
        await here().begin(told, "told", { n: 1 });
        await signal(here().engine, here().refOf("told"), { signal: "go", payload: { n: 7 } });
        expect(await ended("told")).toEqual({ ok: true, value: { n: 8 } });
      },
      timeoutMs,
    );

    it(
      "a timer",
      async () => {
        await here().begin(slept, "slept", { n: 1 });
        expect(await ended("slept")).toEqual({ ok: true, value: { n: 2 } });
      },
      timeoutMs,
    );

    it(
      "a child",
      async () => {
        await here().begin(nested, "nested", { n: 1 });
        expect(await ended("nested")).toEqual({ ok: true, value: { n: 2 } });
      },
      timeoutMs,
    );

    it(
      "a saga, which fails and undoes what it did",
      async () => {
        await here().begin(undone, "undone", { n: 1 });
        await here().untilStatus("undone", "failed", 150_000);
        const run = await here().look("undone");
        expect(run && statusOf(run)).toBe("failed");
        expect(run?.reason?.message).toContain("not today");
        const { nodes } = await here().timelineOf("undone");
        expect(nodes.find(({ undoes }) => undoes === "take")?.state).toBe("done");
        expect(run?.isUncompensated).toBe(false);
      },
      timeoutMs,
    );

    it(
      "an external, completed from outside by its token",
      async () => {
        await here().begin(elsewhere, "elsewhere", { n: 1 });
        const tokenIn = () => /token of elsewhere: ([\w.#:-]+)/.exec(emulator().log())?.[1];
        await here().until("the token is out", async () => tokenIn() !== undefined);
        await complete(here().engine, tokenIn() ?? "", { n: 41 });
        expect(await ended("elsewhere")).toEqual({ ok: true, value: { n: 41 } });
      },
      timeoutMs,
    );
  });
}
