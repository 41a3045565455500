import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { call, eq, external, Fault, type Flow, signal, step, workflow } from "../../lib/index.ts";

// What plain JavaScript, or a compiler told to look away, may do with scopes, races, repeats and external work.
// biome-ignore lint/suspicious/noExplicitAny: the compiler would refuse nearly all of this file
type Loose = any;

const output = v.object({ id: v.string(), state: v.string() });
const work = step("work", { input: v.object({ id: v.unknown() }), output }, () => ({ id: "x", state: "done" }));
const begin = external("begin", { input: v.object({}), output, completeWithin: "1h" }, () => {});
const told = signal("told", v.object({ by: v.string() }));
const use = (flow: Flow, id: unknown, options: Loose = {}) => flow.run(work, { id }, options) as Loose;
const until = (out: Loose) => eq(out.state, "done");
const every = { every: "1m", limit: 3 } as const;

function faultsOf(body: (flow: Loose, input: Loose) => unknown): string {
  try {
    workflow("order", { input: v.object({}) }, body as never);
    return "";
  } catch (error) {
    if (!Fault.is(error, "bad-definition")) throw error;
    return error.message;
  }
}

const refused: readonly [string, (flow: Loose, input: Loose) => unknown, RegExp][] = [
  [
    "a reference taken out of flow.when",
    (flow, input) => {
      let kept: Loose;
      flow.when(input.vip, (inner: Flow) => {
        kept = use(inner, 1);
      });
      use(flow, kept.id, { name: "b" });
    },
    /b: input\.id uses work\.id, which is known only inside flow\.when\(input\.vip\): return what you need from there/,
  ],
  [
    "a value taken out of flow.given",
    (flow, input) => {
      let kept: Loose;
      flow.given(input.coupon, (coupon: Loose) => {
        kept = coupon;
      });
      use(flow, kept.code);
    },
    /work: input\.id uses input\.coupon\.code, which is known only inside flow\.given\(input\.coupon\)/,
  ],
  [
    "a value taken out of a case, into another",
    (flow, input) => {
      let kept: Loose;
      return flow.choose(input.pay, "kind", {
        card: (card: Loose) => {
          kept = card;
        },
        wire: (_: Loose, inner: Flow) => use(inner, kept.digits),
      });
    },
    /uses input\.pay\.digits, which is known only inside flow\.choose\(input\.pay\.kind\), case "card"/,
  ],
  [
    "a scope inside out: the result of an inner scope, kept beside the outer one's",
    (flow, input) => {
      let kept: Loose;
      flow.when(input.a, (outer: Loose) => {
        kept = outer.when(input.b, () => ({ x: 1 }));
      });
      return kept.x;
    },
    /result uses flow\.when\(input\.b\)\.x, which is known only inside flow\.when\(input\.a\)/,
  ],
  ["a scope without a function", (flow, input) => flow.when(input.vip), /flow\.when takes a condition and a function/],
  ["a scope of no reference", (flow) => flow.given("x", () => {}), /flow\.given takes a reference and a function/],
  [
    "cases that are no functions",
    (flow, input) => flow.choose(input.pay, "kind", { card: 1 }),
    /flow\.choose takes a reference, the field that tells its kinds apart, and a function for each kind/,
  ],
  ["no cases", (flow, input) => flow.choose(input.pay, "kind", {}), /flow\.choose takes/],
  [
    "an async scope",
    (flow, input) => flow.when(input.vip, async () => {}),
    /flow\.when\(input\.vip\) must not be async/,
  ],
  ["an async case", (flow, input) => flow.choose(input.p, "k", { a: async () => {} }), /case "a" must not be async/],
  ["an async scope of names", (flow) => flow.scope("a", async () => {}), /the scope "a" must not be async/],
  ["a scope of names without one", (flow) => flow.scope(() => {}), /flow\.scope takes a name and a function/],
  [
    "a name in a scope that is no name",
    (flow) => flow.scope("a b", (inner: Flow) => use(inner, 1)),
    /a b\.work: name: must be a name of 1 to 64/,
  ],
  [
    "one name twice in a scope",
    (flow) =>
      flow.scope("a", (inner: Flow) => {
        use(inner, 1);
        use(inner, 2);
      }),
    /two nodes are called "a\.work": give one of them a name of its own, \{ name: "\.\.\." \}, or put it into flow\.scope/,
  ],
  [
    "a sleep in a scope that nothing waits for",
    (flow, input) => flow.when(input.vip, (inner: Flow) => void inner.sleep("nap", "1m")),
    /nothing waits for the sleep "nap"/,
  ],

  ["the first of one", (flow) => flow.first({ a: use(flow, 1) }), /flow\.first takes two or more nodes/],
  [
    "the first of a list",
    (flow) => flow.first([use(flow, 1), use(flow, 2, { name: "b" })]),
    /flow\.first takes two or more/,
  ],
  [
    "the first of what is no node",
    (flow, input) => flow.first({ a: use(flow, 1), b: input.x, c: 5 }),
    /flow\.first: b is not the whole output of one node(.|\n)*flow\.first: c is not the whole output/,
  ],
  [
    "the first of a part of an output",
    (flow) => flow.first({ a: use(flow, 1).id, b: flow.sleep("s", "1m") }),
    /flow\.first: a is not the whole output/,
  ],
  [
    "one node under two names",
    (flow) => {
      const a = use(flow, 1);
      return flow.first({ a, b: a });
    },
    /two names stand for one node/,
  ],
  [
    "one node in two races",
    (flow) => {
      const [a, b, c] = ["a", "b", "c"].map((name) => use(flow, 1, { name }));
      return [flow.first({ a, b }).winner, flow.first({ a, c }).winner];
    },
    /"a" takes part in two flow\.first: join them in one/,
  ],
  [
    "a rival that is read beside the race",
    (flow) => {
      const a = use(flow, 1);
      const first = flow.first({ a, b: flow.sleep("s", "1m") });
      use(flow, a.id, { name: "reader" });
      return first.winner;
    },
    /reader: input\.id reads work\.id, and "work" has no output if another of its flow\.first wins: read `winner` and `value`/,
  ],
  [
    "a rival that was read before the race, in a condition",
    (flow) => {
      const a = use(flow, 1);
      use(flow, 2, { name: "reader", when: eq(a.state, "x") });
      return flow.first({ a, b: flow.sleep("s", "1m") }).winner;
    },
    /operand 1 of eq\(work\.state, "x"\) reads work\.state, and "work" has no output/,
  ],
  [
    "a rival that is the result",
    (flow) => {
      const a = use(flow, 1);
      flow.first({ a, b: flow.sleep("s", "1m") });
      return a;
    },
    /result reads work, and "work" has no output/,
  ],
  [
    "a rival that waits for another",
    (flow) => {
      const a = use(flow, 1);
      return flow.first({ a, b: use(flow, 2, { name: "b", after: [a] }) }).winner;
    },
    /b: waits for "work" of its own group, so it could never win/,
  ],
  [
    "rivals in a series",
    (flow) => flow.series((inner: Loose) => inner.first({ a: use(inner, 1), b: use(inner, 1, { name: "b" }) })).winner,
    /b: waits for "work" of its own group/,
  ],
  [
    "a rival whose failure is data",
    (flow) => flow.first({ a: use(flow, 1, { onFailure: "continue" }), b: flow.sleep("s", "1m") }).winner,
    /work: onFailure: "continue" is neither a win nor a failure: say it of all rivals/,
  ],
  [
    "options of a race that it does not have",
    (flow) => flow.first({ a: use(flow, 1), b: flow.sleep("s", "1m") }, { onFailure: "ignore", limit: 1 }).winner,
    /flow\.first: there is no option "limit": use onFailure[\s\S]*flow\.first: onFailure is "fail" or "continue"/,
  ],
  [
    "a rival whose time-out is data",
    (flow) => flow.first({ a: flow.signal(told, { timeout: "1m", onTimeout: "continue" }), b: use(flow, 1) }).winner,
    /told: onTimeout: "continue" is neither a win nor a failure: leave the time-out out, and add a sleep/,
  ],

  ["a repeat of a workflow", (flow) => flow.repeat({} as never, {}, { until, ...every }), /flow\.repeat takes a step/],
  ["a repeat without until", (flow) => flow.repeat(work, { id: 1 }, every), /work: until is a function of the output/],
  [
    "a repeat without options",
    (flow) => flow.repeat(work, { id: 1 }),
    /work: every is no duration(.|\n)*limit: is missing/,
  ],
  [
    "a repeat without a limit",
    (flow) => flow.repeat(work, { id: 1 }, { until, every: "1m" }),
    /work: limit: is missing/,
  ],
  [
    "a repeat without end",
    (flow) => flow.repeat(work, { id: 1 }, { until, every: 0, limit: 1e9 }),
    /work: limit: must be a whole number from 1 to 10000/,
  ],
  [
    "a repeat whose condition never changes",
    (flow) => flow.repeat(work, { id: 1 }, { until: () => true, ...every }),
    /work: until: never changes/,
  ],
  [
    "a repeat whose condition reads another node",
    (flow) => {
      const other = use(flow, 1, { name: "other" });
      return flow.repeat(work, { id: 1 }, { until: (out: Loose) => eq(out.state, other.state), ...every });
    },
    /the condition of a repeat reads its own output and nothing else: pass "other" through/,
  ],
  [
    "the last output taken out of its repeat",
    (flow) => {
      let kept: Loose;
      const input = (last: Loose) => {
        kept = last;
        return { id: last.id };
      };
      flow.repeat(work, input, { until, ...every });
      use(flow, kept.id, { name: "b" });
    },
    /b: input\.id uses last\.id, which is known only inside the input of a repeat/,
  ],
  [
    "a node inside a repeat",
    (flow) => flow.repeat(work, () => ({ id: use(flow, 1, { name: "b" }) }), { until, ...every }),
    /"b" is added inside the input of a repeat/,
  ],
  [
    "an async input of a repeat",
    (flow) => flow.repeat(work, async () => ({ id: 1 }), { until, ...every }),
    /the input of a repeat must not be async/,
  ],
  [
    "a repeat that is undone",
    (flow) => flow.repeat(work, { id: 1 }, { until, ...every, compensate: () => call(work, { id: 1 }) }),
    /work: a repeat is not undone: put the effect into a step before it/,
  ],
  [
    "a longest pause that is shorter",
    (flow) => flow.repeat(work, { id: 1 }, { until, every: "1h", longest: "1m", limit: 2 }),
    /longestMs: is shorter than everyMs/,
  ],

  ["a step as an external", (flow) => flow.external(work, {}), /flow\.external takes what external\(\.\.\.\) made/],
  ["an external as a step", (flow) => flow.run(begin, {}), /flow\.run takes a step/],
  [
    "an external in a map",
    (flow, input) => flow.map(input.lines, begin),
    /flow\.map takes a step, a workflow, or a function/,
  ],

  [
    "a sleep of a reference",
    (flow, input) => flow.sleep("nap", input.at),
    /nap: a reference is no duration: .* or \{ until: ref \}/,
  ],
  [
    "a sleep until nothing",
    (flow) => flow.sleep("nap", { until: new Date(0) }),
    /nap: until is a Date, which JSON lacks: use an ISO string/,
  ],
  ["a sleep without an end", (flow) => flow.sleep("nap", { untill: 5 }), /nap: duration is no duration/],

  [
    "flow.self without an output schema",
    (flow) => flow.self({}),
    /flow\.self takes the output's type from the workflow: declare its `output` schema/,
  ],
];

describe("misuse of scopes, races, repeats and external work", () => {
  test.each(refused)("%s is a build fault", (_, body, message) => expect(faultsOf(body)).toMatch(message));

  test("a workflow that always starts itself is a build fault", () => {
    const build = () =>
      workflow("endless", { input: v.object({}), output: v.object({}) }, (flow) => {
        flow.self({});
        return {};
      });
    expect(build).toThrow(/self: a workflow that always starts itself never ends: add `when`/);
  });

  test.each([
    ["a bad duration", { completeWithin: "5 m" }, /completeWithin: "5 m" is no duration/],
    ["a beat longer than all", { completeWithin: "1m", beat: "1h" }, /beat: is longer than completeWithin/],
    ["no time at all", {}, /completeWithin: say how long/],
    ["once and retried", { completeWithin: "1m", once: true, retry: {} }, /once: it is never tried again/],
  ])("an external with %s is refused", (_, options, message) =>
    expect(() => external("x", { input: v.object({}), output, ...options } as never, () => {})).toThrow(message),
  );

  test("all faults come at once, each with its place", () => {
    const message = faultsOf((flow, input) => {
      flow.when(input.vip, async () => {});
      flow.repeat(work, { id: new Date(0) }, { until: () => true, ...every });
      flow.first({ a: flow.sleep("nap", "x") });
    });
    expect(message.match(/^- /gm)?.length).toBeGreaterThanOrEqual(6);
    expect(message.match(/^ {4}at .*misuse-of-scopes\.test\.ts:\d+:\d+$/gm)?.length).toBe(
      message.match(/^- /gm)?.length,
    );
  });
});
