import { appendFileSync } from "node:fs";
import * as v from "valibot";
import {
  type AnyWorkflow,
  call,
  external,
  Fault,
  type StepContext,
  signal,
  step,
  workflow,
} from "../../../lib/index.ts";

const number = v.object({ n: v.number() });
const retry = { attempts: 9, firstDelay: 100, longestDelay: 500 } as const;
const go = signal("go", number);

/** What a handler did, as a line of the journal: written at once, so that it survives the process. */
export interface Entry {
  readonly runId: string;
  readonly node: string;
  readonly key: string;
  readonly atMs: number;
}

/**
 * Workflows with everything that a run can be in the middle of: a queued step, a chain of inline ones, a map, a gate, a signal, a timer, a
 * child, work that is completed from outside; and a saga that fails and is undone. `begun` is given what goes on outside.
 */
export function crashWorkflows(journal: string, begun: (token: string) => void): readonly AnyWorkflow[] {
  const note = (context: StepContext) => {
    const entry: Entry = {
      runId: context.runId,
      node: context.node,
      key: context.idempotencyKey,
      atMs: Date.now(),
    };
    appendFileSync(journal, `${JSON.stringify(entry)}\n`);
  };
  const plus = (name: string, more: object = {}) =>
    step(name, { input: number, output: number, retry, timeout: "2s", ...more }, ({ n }, context) => {
      note(context);
      return { n: n + 1 };
    });
  const render = external(
    "render",
    { input: number, output: number, completeWithin: "3s", timeout: "2s", retry },
    (_, context) => {
      note(context);
      begun(context.token);
    },
  );
  const kid = workflow("kid", { input: number }, (flow, { n }) => flow.run(plus("in-kid"), { n }));
  const all = workflow("all", { input: number }, (flow, { n }) => {
    const first = flow.run(plus("first"), { n });
    const one = flow.run(plus("inline-1", { inline: true }), first);
    const two = flow.run(plus("inline-2", { inline: true }), one);
    const three = flow.run(plus("inline-3", { inline: true }), two);
    const made = flow.external(render, three);
    const child = flow.child(kid, first);
    const approval = flow.gate("approval", { after: [first] });
    const mail = flow.signal(go, { after: [first] });
    const nap = flow.sleep("nap", "1s", { after: [first] });
    const items = flow.run(
      step("list", { input: number, output: v.array(number), retry, timeout: "2s" }, (given, context) => {
        note(context);
        return [given, given, given];
      }),
      first,
    );
    const each = flow.map(items, plus("each"), { concurrency: 2 });
    return flow.run(
      step(
        "last",
        { input: v.object({ all: v.array(v.number()), each: v.array(number) }), output: number, retry, timeout: "2s" },
        (given, context) => {
          note(context);
          return { n: [...given.all, ...given.each.map((item) => item.n)].reduce((sum, value) => sum + value, 0) };
        },
      ),
      { all: [made.n, child.n, mail.n], each },
      { after: [approval, nap] },
    );
  });
  const undone = step("undone", { input: number, retry, timeout: "2s" }, (_, context) => note(context));
  const boom = step("boom", { input: number, retry: { attempts: 1 }, timeout: "2s" }, (_, context) => {
    note(context);
    throw new Fault("fatal", "always");
  });
  const saga = workflow("saga", { input: number }, (flow, { n }) => {
    const booked = flow.run(plus("booked"), { n }, { compensate: (out) => call(undone, out) });
    const paid = flow.run(plus("paid", { inline: true }), booked, { compensate: (out) => call(undone, out) });
    flow.run(boom, paid);
  });
  return [all, kid, saga];
}

/** What the runs must come to, wherever the process was killed. */
export const expected = {
  "all-1": { status: "succeeded", output: { n: 17 } },
  "saga-1": { status: "failed", output: undefined },
} as const;

/**
 * What has to have been done at least once, by run. A step may run again after a kill, and then has the key of the first time. `boom` is not
 * here: it has one try, and a kill between its claim and its handler ends that as lost.
 */
export const done = {
  "all-1": ["first", "inline-1", "inline-2", "inline-3", "render", "list", "each", "last"],
  "saga-1": ["booked", "paid", "booked.undo", "paid.undo"],
} as const;
