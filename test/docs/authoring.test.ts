import { readFileSync } from "node:fs";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { eq, Fault, type Flow, step, workflow } from "../../lib/index.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const page = read("docs/authoring.md");

/** The rows of the table under this heading, cell by cell. */
function tableUnder(heading: string): readonly (readonly string[])[] {
  const [, table = ""] = page.split(`| you wrote | ${heading} |`);
  const [rows = ""] = table.split("\n\n");
  return rows
    .split("\n")
    .slice(2)
    .map((row) => row.split(/(?<!\\) ?\| ?/).map((cell) => cell.replaceAll("\\|", "|")));
}

/** What a cell quotes. */
const quoteIn = (cell = "") => /^`(.*)`$/.exec(cell)?.[1];

describe("the page on writing workflows", () => {
  test("quotes the compiler as it speaks", () => {
    const spoken = read("test/authoring/types/__snapshots__/editor.test.ts.snap");
    const quotes = tableUnder("the compiler says | write").flatMap(([, , cell]) => quoteIn(cell) ?? []);
    expect(quotes).toHaveLength(9);
    for (const quote of quotes) expect(spoken).toContain(quote);
  });

  // biome-ignore lint/suspicious/noExplicitAny: the compiler would refuse nearly all of this
  type Loose = any;
  const one = v.object({ id: v.unknown() });
  const charge = step("charge", { input: one, output: v.object({ id: v.string() }) }, () => ({ id: "r" }));
  const use = (flow: Flow, id: unknown, name = "charge") => flow.run(charge, { id }, { name });
  const polls = { until: () => true, every: "1s", limit: 2 } as const;
  const mistakes: readonly [string, (flow: Loose, input: Loose) => unknown][] = [
    ["`if (input.vip)`", (flow, input) => input.vip && use(flow, 1)],
    ["`input.lines.map(...)`", (flow, input) => use(flow, input.lines.map(String))],
    ["`for (const line of input.lines)`", (_, input) => [...input.lines]],
    ["`{ ...paid }`", (flow) => ({ ...use(flow, 1) })],
    ["`input.cents * 2`", (flow, input) => use(flow, input.cents * 2)],
    ["`await flow.run(...)`", async (flow) => await use(flow, 1)],
    ["two uses of one step", (flow) => [use(flow, 1), use(flow, 2)]],
    ["a gate or a sleep", (flow) => void flow.gate("approval")],
    ["`Date.now()`", (flow) => use(flow, Math.random())],
    [
      "a reference kept",
      (flow, input) => {
        let kept: unknown;
        flow.when(input.vip, (inner: Flow) => {
          kept = use(inner, 1);
        });
        return use(flow, kept, "again");
      },
    ],
    [
      "reading a rival",
      (flow) => {
        const paid = use(flow, 1);
        const { winner } = flow.first({ paid, late: flow.sleep("late", "1d") });
        return [winner, paid.id];
      },
    ],
    [
      "`flow.repeat` until",
      (flow) => {
        const paid = use(flow, 1);
        return flow.repeat(charge, { id: 1 }, { ...polls, name: "poll", until: () => eq(paid.id, "x") });
      },
    ],
    ["`flow.self` without", (flow) => flow.self({ id: 1 })],
  ];

  test.each(mistakes)("quotes the build as it speaks: %s", (written, body) => {
    const rows = tableUnder("the build says").filter(([, cell]) => cell?.startsWith(written));
    expect(rows).toHaveLength(1);
    const build = () => workflow("order", { input: one, output: one }, body as never);
    expect(build).toThrow(
      expect.objectContaining({ message: expect.stringContaining(quoteIn(rows[0]?.[2]) ?? "there is no quote") }),
    );
    expect(build).toThrow(Fault);
  });

  test("quotes no other texts of the build", () => {
    expect(tableUnder("the build says")).toHaveLength(mistakes.length);
  });
});
