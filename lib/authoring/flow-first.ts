import type { Expr } from "../core/definition.ts";
import { holeOf } from "../core/expression.ts";
import { misfit } from "./added.ts";
import type { Build } from "./build.ts";
import { lower } from "./lower.ts";
import type { Given } from "./node-options.ts";
import type { Ref } from "./ref.ts";
import { referenceOf } from "./reference.ts";

const wanted =
  'two or more nodes of this workflow, by the names under which they win: { paid: flow.signal(...), late: flow.sleep("late", "3d") }';

/**
 * Makes a group of nodes of which one wins, and gives the reference to `{ winner, value }`. With `onFailure: "continue"` the failure of
 * each is data that nobody sees: a rival that failed has no value, and so cannot win.
 */
export function addFirst(build: Build, rivals: unknown, options: Given): Ref<unknown> {
  const mayFail = mayFailIn(build, options);
  if (typeof rivals !== "object" || rivals === null || Array.isArray(rivals))
    return misfit(build, "flow.first", wanted);
  const labels = Object.keys(rivals);
  if (labels.length < 2) return misfit(build, "flow.first", wanted);
  const found = Object.entries(rivals).flatMap(([label, rival]) => {
    const name = nodeOf(build, label, rival);
    return name === undefined ? [] : [{ label, name }];
  });
  if (new Set(found.map(({ name }) => name)).size < found.length)
    build.fault("flow.first: two names stand for one node: name each node once");
  if (found.length === labels.length)
    build.race(
      found.map(({ name }) => name),
      mayFail ? { onFailure: "continue" } : {},
    );
  const path = mayFail ? ["value"] : [];
  const expr: Expr = { $: ["first", ...found.map(({ label, name }): Expr => [label, { $: ["ref", name, ...path] }])] };
  if (found.length === 0) return misfit(build, "flow.first", wanted);
  return build.refer(expr, `first(${labels.join(", ")})`, { isUsed: true, mayReadRival: true });
}

function mayFailIn(build: Build, options: Given): boolean {
  for (const option of Object.keys(options))
    if (option !== "onFailure") build.fault(`flow.first: there is no option "${option}": use onFailure`);
  const { onFailure } = options;
  if (onFailure !== undefined && onFailure !== "fail" && onFailure !== "continue")
    build.fault('flow.first: onFailure is "fail" or "continue"');
  return onFailure === "continue";
}

/** The node whose whole output this is. */
function nodeOf(build: Build, label: string, rival: unknown): string | undefined {
  const path = `flow.first: ${label}`;
  const expr = build.withoutNotes(() => lower(rival, path, build));
  const hole = holeOf(expr);
  const [name, ...more] = hole?.form === "ref" ? hole.operands : [];
  if (referenceOf(rival) && typeof name === "string" && more.length === 0 && !name.startsWith("$")) return name;
  build.fault(
    `${path} is not the whole output of one node: pass what flow.run, flow.signal, flow.gate or the like returned`,
  );
  return undefined;
}
