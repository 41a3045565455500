import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import { call, eq, Fault, type Flow, step, text, workflow } from "../../lib/index.ts";

const charge = step(
  "charge",
  { input: v.object({ id: v.unknown() }), output: v.object({ receiptId: v.string() }) },
  () => ({
    receiptId: "r",
  }),
);

/** The workflow as JavaScript would write it: references are `any`. */
// biome-ignore lint/suspicious/noExplicitAny: the compiler would refuse nearly all of this file
type Loose = any;

function faultsOf(body: (flow: Flow, input: Loose) => unknown): string {
  try {
    workflow("order", { input: v.object({}) }, body as never);
    return "";
  } catch (error) {
    if (!Fault.is(error, "bad-definition")) throw error;
    return error.message;
  }
}

const use = (flow: Flow, id: unknown) => flow.run(charge, { id });
const nowhere = /is read and ends up nowhere/;

const refused: readonly [string, (flow: Flow, input: Loose) => unknown, RegExp][] = [
  [
    "if",
    (flow, input) => {
      if (input.vip) use(flow, 1);
    },
    nowhere,
  ],
  ["a ternary", (flow, input) => use(flow, input.vip ? 1 : 2), nowhere],
  ["&&", (flow, input) => use(flow, input.vip && 1), nowhere],
  ["!", (flow, input) => use(flow, !input.vip), nowhere],
  [
    "a test that hides a use",
    (flow, input) => {
      if (input.coupon) use(flow, input.coupon.code);
    },
    /input\.coupon is read/,
  ],
  [
    "if on an operator",
    (flow, input) => {
      if (eq(input.a, 1) as unknown) use(flow, 1);
    },
    /eq\(input\.a, 1\) is read/,
  ],
  ["===", (flow, input) => use(flow, input.kind === "a"), nowhere],
  [
    "switch",
    (flow, input) => {
      switch (input.kind) {
        case "a":
          use(flow, 1);
      }
    },
    nowhere,
  ],
  ["typeof", (flow, input) => use(flow, typeof input.id), nowhere],
  ["instanceof", (flow, input) => use(flow, input.id instanceof Date), nowhere],
  ["Array.isArray", (flow, input) => use(flow, Array.isArray(input.lines)), nowhere],
  [
    ">",
    (flow, input) => use(flow, input.cents > 5),
    /input\.cents is a reference, not a value, and cannot be compared/,
  ],
  ["*", (flow, input) => use(flow, input.cents * 2), /cannot be compared or computed with/],
  ["unary minus", (flow, input) => use(flow, -input.cents), /cannot be compared or computed with/],
  ["+", (flow, input) => use(flow, `${input.id}x`), /input\.id is a reference, not a value, and cannot become text/],
  ["a template", (flow, input) => use(flow, `order ${input.id}`), /cannot become text/],
  ["String", (flow, input) => use(flow, String(input.id)), /cannot become text/],
  ["toString", (flow, input) => use(flow, input.id.toString()), /input\.id\.toString is a reference.*cannot be called/],
  ["a computed key", (flow, input) => use(flow, { [input.id]: 1 }), /cannot become text/],
  ["spread into an object", (flow, input) => use(flow, { ...input.at }), /input\.at is a reference.*cannot be spread/],
  [
    "rest of a destructuring",
    (flow, input) => {
      const { id, ...rest } = input;
      use(flow, [id, rest]);
    },
    /cannot be spread/,
  ],
  ["Object.keys", (flow, input) => use(flow, Object.keys(input)), /cannot be spread or listed/],
  [
    "for in",
    (flow, input) => {
      for (const name in input) use(flow, name);
    },
    /cannot be spread or listed/,
  ],
  [
    "map of a list",
    (flow, input) => use(flow, input.lines.map(String)),
    /input\.lines\.map is a reference.*cannot be called: use flow\.map/,
  ],
  [
    "for of",
    (flow, input) => {
      for (const line of input.lines) use(flow, line);
    },
    /input\.lines.*cannot be looped over: use flow\.map/,
  ],
  ["spread into a list", (flow, input) => use(flow, [...input.lines]), /cannot be looped over/],
  [
    "destructuring a list",
    (flow, input) => {
      const [head] = input.lines;
      use(flow, head);
    },
    /cannot be looped over/,
  ],
  ["JSON.stringify", (flow, input) => use(flow, JSON.stringify(input.at)), /cannot become JSON/],
  ["in", (flow, input) => use(flow, "id" in input), /cannot be asked with `in`/],
  [
    "assignment",
    (flow, input) => {
      input.id = 1;
      use(flow, 1);
    },
    /input is a reference.*cannot be changed/,
  ],
  [
    "delete",
    (flow, input) => {
      delete input.id;
      use(flow, 1);
    },
    /cannot be changed/,
  ],
  [
    "an async body",
    async (flow, input) => {
      use(flow, input.id);
    },
    /a workflow function must not be async/,
  ],
  [
    "await",
    async (flow, input) => {
      await use(flow, input.id);
    },
    /charge is a reference, not a value, and cannot be awaited/,
  ],
  ["Promise.all", (_, input) => Promise.all([input.id]), /must not be async/],
  [
    "an async series",
    (flow) => {
      flow.series((async () => {}) as never);
    },
    /a series must not be async/,
  ],
  [
    "a Date constant",
    (flow) => use(flow, { at: [new Date(0)] }),
    /charge: input\.id\.at\[0\] is a Date, which JSON lacks: use an ISO string/,
  ],
  ["an instance", (flow) => use(flow, new URL("https://x.test")), /charge: input\.id is an instance of URL/],
  ["a Map", (flow) => use(flow, new Map()), /an instance of Map, which JSON lacks: use a plain object/],
  ["a function", (flow) => use(flow, () => 1), /charge: input\.id is a function, which JSON lacks/],
  ["a bigint", (flow) => use(flow, 1n), /is a bigint, which JSON lacks/],
  ["NaN", (flow) => use(flow, Number.NaN), /is NaN, which JSON lacks/],
  ["undefined in a list", (flow) => use(flow, [undefined]), /charge: input\.id\[0\] is undefined, which JSON lacks/],
  [
    "a cycle",
    (flow) => {
      const a: Loose = {};
      a.a = a;
      use(flow, a);
    },
    /nested too deep, or holds itself/,
  ],
  [
    "the same step twice",
    (flow) => {
      use(flow, 1);
      use(flow, 2);
    },
    /two nodes are called "charge": give one of them a name of its own/,
  ],
  [
    "a misspelt option",
    (flow) => flow.run(charge, { id: 1 }, { wehn: true } as never),
    /charge: there is no option "wehn": use name, when, after/,
  ],
  [
    "a single after",
    (flow, input) => {
      const a = use(flow, input.id);
      flow.run(charge, { id: 1 }, { name: "b", after: a } as never);
    },
    /b: after is a list/,
  ],
  [
    "after the input",
    (flow, input) => flow.run(charge, { id: 1 }, { after: [input.id] }),
    /charge: after\[0\] is known from the start/,
  ],
  [
    "after a name",
    (flow) => flow.run(charge, { id: 1 }, { after: ["x"] } as never),
    /charge: after\[0\] is no reference/,
  ],
  ["something else than a step", (flow) => flow.run({} as never, {}), /flow\.run takes a step/],
  ["a reference as a step", (flow, input) => flow.run(input.step, {}), /flow\.run takes a step/],
  ["a step as a child", (flow) => flow.child(charge as never, {}), /flow\.child takes a workflow/],
  ["a map over what is no list", (flow) => flow.map("abc" as never, charge as never), /charge: items: must be a list/],
  [
    "a map that returns no call",
    (flow, input) => flow.map(input.lines, ((line: Loose) => ({ id: line.id })) as never),
    /flow\.map takes a step, a workflow, or a function/,
  ],
  [
    "a node inside a map",
    (flow, input) =>
      flow.map(
        input.lines,
        (line: Loose) => {
          use(flow, line.id);
          return call(charge, { id: 1 });
        },
        { name: "m" },
      ),
    /"charge" is added inside the function of a map/,
  ],
  [
    "an item taken out of its map",
    (flow, input) => {
      let kept: Loose;
      flow.map(input.lines, (line: Loose) => {
        kept = line;
        return call(charge, { id: 1 });
      });
      flow.run(charge, { id: kept.id }, { name: "b" });
    },
    /b: input\.id uses item\.id, which is known only inside the function of a map/,
  ],
  [
    "a compensation that is a step",
    (flow) => flow.run(charge, { id: 1 }, { compensate: charge } as never),
    /the compensation of "charge" is a function of the output/,
  ],
  [
    "a compensation that returns no call",
    (flow) => flow.run(charge, { id: 1 }, { compensate: (() => 1) as never }),
    /the compensation of "charge" must return call/,
  ],
  [
    "a sleep that nobody waits for",
    (flow) => {
      flow.sleep("nap", "5m");
      use(flow, 1);
    },
    /nap: nothing waits for the sleep "nap"/,
  ],
  [
    "a gate that nobody waits for",
    (flow) => {
      flow.gate("ok");
      use(flow, 1);
    },
    /ok: nothing waits for the gate "ok"/,
  ],
  [
    "a duration that is none",
    (flow) => flow.sleep("nap", "5 m" as never),
    /nap: duration is no duration: write whole milliseconds, or "30s"/,
  ],
  ["a negative duration", (flow) => flow.gate("ok", { timeout: -5 }), /ok: timeout is no duration/],
  [
    "a concurrency out of range",
    (flow, input) => flow.map(input.lines, charge as never, { concurrency: 5000 }),
    /charge: concurrency: must be a whole number from 1 to 4096/,
  ],
  [
    "a tolerance that is none",
    (flow, input) => flow.map(input.lines, charge as never, { tolerate: "few" as never }),
    /charge: tolerate is a count/,
  ],
  ["a bad name", (flow) => flow.run(charge, { id: 1 }, { name: "a b" }), /a b: name: must be a name of 1 to 64/],
  [
    "a name too long to be undone",
    (flow) => flow.run(charge, { id: 1 }, { name: "x".repeat(62), compensate: () => call(charge, { id: 1 }) }),
    /\.undo: name: must be a name/,
  ],
  [
    "the clock",
    (flow) => use(flow, performance.now()),
    /"charge" differs: called twice, the function came to two graphs/,
  ],
  ["chance in the result", () => Math.random(), /the result differs/],
  [
    "a field called then",
    (flow, input) => use(flow, input.then),
    /cannot be awaited.*a field "then" is at\(ref, "then"\)/,
  ],
  ["a field called toJSON", (flow, input) => use(flow, input.toJSON), /a field "toJSON" is at\(ref, "toJSON"\)/],
  ["a variable that is never used", (flow, { a, b }) => use(flow, [a, void b]), /input\.b is read and ends up nowhere/],
  [
    "an object with a key $ that holds a reference",
    (flow, input) => use(flow, { $: input.id }),
    /a constant: it cannot hold references/,
  ],
];

/** What JavaScript does not let anybody notice. The compiler refuses some of it; linting rules see the rest, or nobody does. */
const silent: readonly [string, (flow: Flow, input: Loose) => unknown][] = [
  ["?? never takes its right side", (flow, input) => use(flow, input.note ?? "none")],
  ["|| never takes its right side", (flow, input) => use(flow, input.note || "none")],
  [
    "a default in a destructuring is never taken",
    (flow, input) => {
      const { note = "none" } = input;
      use(flow, note);
    },
  ],
  [
    "if on a whole output",
    (flow, input) => {
      const paid = use(flow, input.id);
      if (paid as unknown) flow.run(charge, { id: paid }, { name: "b" });
    },
  ],
  [
    "a flag of the environment makes another graph in another process: start by the definitions that were deployed",
    (flow, input) => use(flow, process.env["TICKWRIGHT_NO_SUCH_FLAG"] ? input.a : input.b),
  ],
  ["fields too many, out of a wider reference, are sent as they are", (flow, input) => use(flow, input)],
  [
    "names that functions have are fields like others",
    (flow, input) => use(flow, [input.name, input.length, input.map]),
  ],
  ["inherited names are paths that lead nowhere", (flow, input) => use(flow, [input.__proto__, input.hasOwnProperty])],
];

describe("misuse of references", () => {
  test.each(refused)("%s is a build fault", (_, body, message) => expect(faultsOf(body)).toMatch(message));
  test.each(silent)("known and silent: %s", (_, body) => expect(faultsOf(body)).toBe(""));

  test("faults are listed all at once, each with its place", () => {
    const message = faultsOf((flow, input) => {
      if (input.vip) flow.sleep("nap", "x" as never);
      use(flow, new Date(0));
      flow.run(charge, { id: 1 });
    });
    expect(message.match(/^- /gm)).toHaveLength(5);
    expect(message.match(/^ {4}at .*misuse\.test\.ts:\d+:\d+$/gm)).toHaveLength(5);
  });

  test("a reference of another workflow is refused", () => {
    let other: Loose;
    workflow("other", { input: v.object({ id: v.string() }) }, (_, input) => {
      other = input;
    });
    expect(faultsOf((flow) => use(flow, other))).toMatch(
      /charge: input\.id uses input, which belongs to workflow "other"/,
    );
  });

  test("a reference kept from an earlier call is refused", () => {
    let kept: Loose;
    expect(
      faultsOf((flow, input) => {
        kept ??= input;
        use(flow, kept);
      }),
    ).toMatch(/belongs to another call of it/);
  });

  test("errors of the author's own pass through", () => {
    expect(() =>
      faultsOf(() => {
        throw new RangeError("mine");
      }),
    ).toThrow(RangeError);
  });

  test("structuredClone does not get hold of a reference", () => {
    expect(() => faultsOf((flow, input) => use(flow, structuredClone(input.id)))).toThrow(/could not be cloned/);
  });

  test("two copies of the package understand each other's steps, references and faults", async () => {
    vi.resetModules();
    const copy = await import("../../lib/index.ts");
    expect(copy.step).not.toBe(step);
    const theirs = copy.step(
      "theirs",
      { input: v.object({ id: v.unknown() }), output: v.object({ id: v.unknown() }) },
      (it) => it,
    );
    const made = workflow("mixed", { input: v.object({ vip: v.boolean() }) }, (flow, input) => {
      const done = flow.run(theirs as never, { id: input.vip } as never, {
        when: copy.eq(input.vip as never, true as never) as never,
      });
      return { done, also: copy.exists(done as never) };
    });
    expect(made.definition.nodes.map(({ name }) => name)).toEqual(["theirs"]);
    expect(copy.Fault.is(new Fault("bad-input", "x"), "bad-input")).toBe(true);
    expect(copy.createRegistry([made as never]).handler("theirs@1")).toBeDefined();
  });

  test("operators belong into a workflow function", () => {
    expect(() => text`a`).toThrow(/text was called outside of a workflow function/);
  });

  test("console.log prints a reference, and counts as a use", async () => {
    const { inspect } = await import("node:util");
    let printed = "";
    expect(
      faultsOf((_, input) => {
        printed = inspect(input.lines.length);
      }),
    ).toBe("");
    expect(printed).toBe("Ref(input.lines.length)");
  });
});
