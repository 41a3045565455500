import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  and,
  coalesce,
  eq,
  exists,
  type Flow,
  gt,
  isIn,
  must,
  orElse,
  type Ref,
  signal,
  step,
  text,
  workflow,
} from "../../lib/index.ts";
import { tell } from "./story.ts";

const card = v.object({ kind: v.literal("card"), digits: v.string() });
const wire = v.object({ kind: v.literal("wire"), iban: v.string() });
const cash = v.object({ kind: v.literal("cash") });
const input = v.object({
  vip: v.optional(v.boolean(), false),
  cents: v.optional(v.number(), 0),
  coupon: v.optional(v.nullable(v.object({ code: v.string() }))),
  pay: v.optional(v.variant("kind", [card, wire, cash]), { kind: "cash" }),
});
type Input = v.InferOutput<typeof input>;

/** Runs the body once for this input; says what it came to and which steps ran. */
async function told(given: object, body: (flow: Flow, input: Ref<Input>) => unknown) {
  const ran: string[] = [];
  const say = step(
    "say",
    { input: v.object({ text: v.string() }), output: v.object({ text: v.string(), big: v.string() }) },
    (said, { node }) => {
      ran.push(node);
      return { ...said, big: "x".repeat(5000) };
    },
  );
  const story = tell(
    workflow("told", { input }, (flow, all) => ({ result: body(Object.assign(flow, { say }), all as Ref<Input>) })),
  );
  await story.begin(given as never);
  const { output, ...end } = await story.end();
  return { ...end, result: (output as { result?: unknown } | undefined)?.result, ran: ran.sort() };
}
type Say = (text: unknown) => Ref<{ text: string; big: string }>;
const saying = (flow: Flow, name: string, said: unknown): ReturnType<Say> =>
  flow.run((flow as unknown as { say: never }).say, { text: said } as never, { name });

describe("flow.when", () => {
  const body = (flow: Flow, { vip, cents }: Ref<Input>) =>
    flow.when(vip, (inner) => {
      const first = saying(inner, "first", "a");
      const rich = inner.when(gt(cents, 5), (deeper) => ({ text: saying(deeper, "rich", first.text).text }));
      return { first: first.text, rich: rich.text };
    });

  it("runs what is inside if the condition holds, in scopes inside scopes too", async () => {
    expect(await told({ vip: true, cents: 9 }, body)).toMatchObject({
      result: { first: "a", rich: "a" },
      ran: ["first", "rich"],
    });
    expect(await told({ vip: true, cents: 1 }, body)).toMatchObject({ result: { first: "a" }, ran: ["first"] });
  });

  it("skips all of it if not, whatever the scopes inside say", async () => {
    const { result, ran, status } = await told({ vip: false, cents: 9 }, body);
    expect([result, ran, status]).toEqual([undefined, [], "succeeded"]);
  });

  it("does not look at the inner condition of a scope that is skipped: it may read what was not made", async () => {
    const { status, ran } = await told({ vip: false }, (flow, { vip }) =>
      flow.when(vip, (inner) => {
        const made = saying(inner, "made", "a");
        return inner.when(gt(made.text, "0"), (deeper) => saying(deeper, "deeper", "b"));
      }),
    );
    expect([status, ran]).toEqual(["succeeded", []]);
  });

  it("is waited for as a whole by who names it in after", async () => {
    const order: string[] = [];
    const log = step("log", { input: v.object({}) }, (_, { node }) => void order.push(node));
    const story = tell(
      workflow("waits", { input: v.object({}) }, (flow) => {
        const all = flow.when(true, (inner) => {
          inner.run(log, {}, { name: "last", after: [inner.sleep("nap", "1h")] });
        });
        flow.run(log, {}, { name: "then", after: [all] });
      }),
    );
    await story.begin();
    await story.end();
    expect(order).toEqual(["last", "then"]);
  });

  it("gives single fields to conditions, though its whole result would be too big to compare", async () => {
    const { result, ran } = await told({ vip: true }, (flow, { vip }) => {
      const made = flow.when(vip, (inner) => ({ said: saying(inner, "said", "a"), also: saying(inner, "also", "b") }));
      return flow.when(eq(made.said.text, "a"), (inner) => saying(inner, "then", "c").text);
    });
    expect([result, ran]).toEqual(["c", ["also", "said", "then"]]);
  });
});

describe("what is there of several", () => {
  it.each([
    [true, "a"],
    [false, "b"],
  ])("gives its fields to conditions, though its whole result would be too big to compare (%s)", async (vip, text) => {
    const { result, ran } = await told({ vip }, (flow, given) => {
      const said = flow.when(given.vip, (inner) => saying(inner, "said", "a"));
      const else_ = saying(flow, "else", "b");
      const [both, either, sure] = [coalesce(said, else_), orElse(said, else_), must(coalesce(said, else_))];
      return flow.when(
        and(exists(both), eq(both.text, text), eq(either.text, text), eq(sure.text, text)),
        (inner) => saying(inner, "then", both.text).text,
      );
    });
    expect([result, ran]).toEqual([text, vip ? ["else", "said", "then"] : ["else", "then"]]);
  });

  it("fails where it must be there and is not", async () => {
    const { status, reason } = await told({ vip: false }, (flow, given) => {
      const one = flow.when(given.vip, (inner) => saying(inner, "one", "a"));
      const two = flow.when(given.vip, (inner) => saying(inner, "two", "a"));
      return saying(flow, "then", must(coalesce(one, two)).text).text;
    });
    expect([status, reason]).toEqual(["failed", "missing-value"]);
  });
});

describe("flow.given", () => {
  const body = (flow: Flow, { coupon }: Ref<Input>) =>
    orElse(
      flow.given(coupon, (known, inner) => saying(inner, "use", text`coupon ${known.code}`).text),
      "none",
    );

  it("runs what is inside with the value", async () => {
    expect(await told({ coupon: { code: "x" } }, body)).toMatchObject({ result: "coupon x", ran: ["use"] });
  });

  it.each([[{}], [{ coupon: null }]])("skips it if the value is missing or null: %j", async (given) => {
    expect(await told(given, body)).toMatchObject({ result: "none", ran: [] });
  });

  it("takes what another scope may not have made", async () => {
    const chain = (flow: Flow, { vip }: Ref<Input>) => {
      const said = flow.when(vip, (inner) => saying(inner, "said", "a"));
      return exists(flow.given(said, (known, inner) => saying(inner, "again", known.text)));
    };
    expect(await told({ vip: true }, chain)).toMatchObject({ result: true, ran: ["again", "said"] });
    expect(await told({ vip: false }, chain)).toMatchObject({ result: false, ran: [] });
  });
});

describe("flow.choose", () => {
  const body = (flow: Flow, { pay }: Ref<Input>) =>
    flow.choose(pay, "kind", {
      card: (by, inner) => saying(inner, "by-card", by.digits).text,
      wire: (by, inner) => saying(inner, "by-wire", by.iban).text,
      cash: () => null,
    });

  it("runs one case and yields what that returns, null included", async () => {
    expect(await told({ pay: { kind: "card", digits: "42" } }, body)).toMatchObject({ result: "42", ran: ["by-card"] });
    expect(await told({ pay: { kind: "wire", iban: "DE" } }, body)).toMatchObject({ result: "DE", ran: ["by-wire"] });
    expect(await told({ pay: { kind: "cash" } }, body)).toMatchObject({ result: null, ran: [] });
  });

  it("runs the function for the rest if there is no case", async () => {
    const rest = (flow: Flow, { pay }: Ref<Input>) =>
      flow.choose(pay, "kind", { card: (by) => by.digits }, (other, inner) => saying(inner, "other", other.kind).text);
    expect(await told({ pay: { kind: "card", digits: "42" } }, rest)).toMatchObject({ result: "42", ran: [] });
    expect(await told({ pay: { kind: "cash" } }, rest)).toMatchObject({ result: "cash", ran: ["other"] });
  });

  it("fails with no-case for a kind that nobody knows, also if nobody reads the result", async () => {
    const odd = step("odd", { input: v.object({}), output: v.unknown() }, () => ({ kind: "gold" }));
    const note = step("note", { input: v.object({}) }, () => {});
    const story = tell(
      workflow("odd", { input: v.object({}) }, (flow) => {
        const made = flow.run(odd, {}) as Ref<{ kind: "a" } | { kind: "b" }>;
        flow.choose(made, "kind", { a: (_, inner) => void inner.run(note, {}), b: () => {} });
      }),
    );
    await story.begin();
    expect(await story.end()).toMatchObject({ status: "failed", reason: "no-case" });
  });

  it("tells what became of a node that may fail", async () => {
    const tried = (isOk: boolean) =>
      workflow("tried", { input: v.object({}) }, (flow) => {
        const risky = step("risky", { input: v.object({}), output: v.object({ url: v.string() }), once: true }, () => {
          if (!isOk) throw new Error("no");
          return { url: "u" };
        });
        const outcome = flow.run(risky, {}, { onFailure: "continue" });
        const said = flow.choose(outcome, "ok", {
          true: (done) => done.value.url,
          false: (failed) => failed.error.code,
        });
        return { said };
      });
    for (const [isOk, said] of [
      [true, "u"],
      [false, "handler-failed"],
    ] as const) {
      const story = tell(tried(isOk));
      await story.begin();
      expect((await story.end()).output).toEqual({ said });
    }
  });

  it("chooses by who won", async () => {
    const bell = signal("bell", v.object({ who: v.string() }));
    const story = tell(
      workflow("race", { input: v.object({}) }, (flow) => {
        const note = step(
          "note",
          { input: v.object({ who: v.string() }), output: v.object({ who: v.string() }) },
          (it) => it,
        );
        const first = flow.first({ bell: flow.signal(bell), late: flow.sleep("late", "1h") });
        const who = flow.choose(first, "winner", {
          bell: ({ value }, inner) => inner.run(note, { who: value.who }).who,
          late: (_, inner) => inner.run(note, { who: "nobody" }, { name: "nobody" }).who,
        });
        return { who };
      }),
    );
    await story.begin();
    expect((await story.end()).output).toEqual({ who: "nobody" });
  });
});

describe("flow.scope", () => {
  it("lets a helper be used twice, with names that tell its nodes apart", async () => {
    const helper = (flow: Flow, said: unknown) => saying(flow, "said", said).text;
    const { result, ran } = await told({}, (flow, { pay }) => [
      flow.scope("a", (inner) => helper(inner, "1")),
      flow.scope("b", (inner) => inner.scope("c", (deeper) => helper(deeper, text`${isIn(pay.kind, ["cash"])}`))),
    ]);
    expect([result, ran]).toEqual([
      ["1", "true"],
      ["a.said", "b.c.said"],
    ]);
  });
});
