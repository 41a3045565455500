import * as v from "valibot";
import { call, external, FatalError, signal, step, workflow } from "../../../lib/index.ts";

const count = v.object({ n: v.number() });
const done = v.object({ n: v.number(), by: v.array(v.string()) });
const short = { timeout: "3s" } as const;

export const next = step("next", { input: count, output: count, ...short }, ({ n }) => ({ n: n + 1 }));

/** Twenty-five hops between a queue and a function: more than Lambda's recursion guard lets pass. */
export const chain = workflow("chain", { input: count }, (flow, input) => {
  let last = flow.run(next, { n: input.n }, { name: "hop-1" });
  for (let hop = 2; hop <= 25; hop++) last = flow.run(next, { n: last.n }, { name: `hop-${hop}` });
  return { n: last.n };
});

export const mapped = workflow("mapped", { input: v.object({ list: v.array(count) }) }, (flow, input) =>
  flow.map(input.list, (each) => call(next, { n: each.n }), { concurrency: 5 }),
);

export const asked = workflow("asked", { input: count }, (flow, input) => {
  const ok = flow.gate("ok");
  return flow.run(next, { n: input.n }, { after: [ok] });
});

export const go = signal("go", count);
export const told = workflow("told", { input: count }, (flow) => {
  const told = flow.signal(go);
  return flow.run(next, { n: told.n });
});

export const slept = workflow("slept", { input: count }, (flow, input) => {
  const nap = flow.sleep("nap", "2s");
  return flow.run(next, { n: input.n }, { after: [nap] });
});

export const inner = workflow("inner", { input: count }, (flow, input) => flow.run(next, { n: input.n }));
export const nested = workflow("nested", { input: count }, (flow, input) => flow.child(inner, { n: input.n }));

const take = step("take", { input: count, output: count, ...short }, ({ n }) => ({ n }));
const giveBack = step("give-back", { input: count, ...short }, () => {});
const refuse = step("refuse", { input: count, output: count, ...short }, () => {
  throw new FatalError("not today");
});
export const undone = workflow("undone", { input: count }, (flow, input) => {
  const taken = flow.run(take, { n: input.n }, { compensate: (took) => call(giveBack, { n: took.n }) });
  return flow.run(refuse, { n: taken.n });
});

/** The token leaves the function as whoever works outside would get it: here in its log. */
const outside = external("outside", { input: count, output: count, completeWithin: "1h", ...short }, (_, context) =>
  console.log(`token of ${context.runId}: ${context.token}`),
);
export const elsewhere = workflow("elsewhere", { input: count }, (flow, input) =>
  flow.external(outside, { n: input.n }),
);

const pack = step("pack", { input: count, output: done, ...short }, ({ n }) => ({ n, by: ["pack"] }));
const wrap = step("wrap", { input: done, output: done, ...short }, ({ n, by }) => ({ n, by: [...by, "wrap"] }));

export const label = (name: string) =>
  step(name, { input: done, output: done, ...short }, ({ n, by }) => ({ n, by: [...by, name] }));

/** Its graph changes with the next deploy. */
export const changed = workflow("changed", { input: count }, (flow, input) => {
  const packed = flow.run(pack, { n: input.n });
  const ok = flow.gate("ok", { after: [packed] });
  return flow.run(wrap, packed, { after: [ok] });
});

/** Its last step has another name after the next deploy, and its own again after the one behind that. */
export const renamed = workflow("renamed", { input: count }, (flow, input) => {
  const packed = flow.run(pack, { n: input.n });
  const ok = flow.gate("ok", { after: [packed] });
  return flow.run(label("label"), packed, { after: [ok] });
});

export const parts = { count, pack, wrap, short, done };

export const unchanging = [chain, mapped, asked, told, slept, nested, inner, undone, elsewhere];
export const workflows = [...unchanging, changed, renamed];
