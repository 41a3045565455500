import type { Expr } from "../core/definition.ts";
import { holeOf } from "../core/expression.ts";
import { isFunction, misfit, sync } from "./added.ts";
import type { Build } from "./build.ts";
import { fieldOf, nothing, presenceOf } from "./field.ts";
import { lower } from "./lower.ts";
import type { Ref } from "./ref.ts";
import { type Reference, referenceOf } from "./reference.ts";

type Body = (...given: readonly unknown[]) => unknown;

/** What one conditional part came to: its result as an expression, and the nodes in it. */
interface Part {
  readonly expr: Expr;
  readonly nodes: readonly string[];
}

function partOf(build: Build, label: string, condition: Expr, body: () => unknown): Part {
  return build.inScope(
    label,
    ({ nodes }) => {
      const result = sync(build, label, body());
      return { expr: result === undefined ? nothing : lower(result, `the result of ${label}`, build), nodes };
    },
    condition,
  );
}

export function addWhen(build: Build, flow: unknown, condition: unknown, body: unknown): Ref<unknown> {
  if (!isFunction(body)) return misfit(build, "flow.when", "a condition and a function that adds nodes: (flow) => ...");
  const label = `flow.when(${labelOf(condition)})`;
  const lowered = lower(condition, `the condition of ${label}`, build);
  const { expr, nodes } = partOf(build, label, lowered, () => body(flow));
  return build.refer({ $: ["if", lowered, expr] }, label, { isUsed: true, waits: nodes, mayReadRival: true });
}

export function addGiven(build: Build, flow: unknown, value: unknown, body: unknown): Ref<unknown> {
  const reference = referenceOf(value);
  if (!reference || !isFunction(body))
    return misfit(build, "flow.given", "a reference and a function of its value: (value, flow) => ...");
  const label = `flow.given(${reference.label})`;
  const condition = presenceOf(lower(value, `the value of ${label}`, build));
  const { expr, nodes } = partOf(build, label, condition, () => body(inner(build, reference, reference.expr), flow));
  return build.refer({ $: ["if", condition, expr] }, label, { isUsed: true, waits: nodes, mayReadRival: true });
}

/** The same value under the type that it has in the current scope. */
const inner = (build: Build, { label, mayReadRival }: Reference, expr: Expr) =>
  build.refer(expr, label, { isUsed: true, mayReadRival });

export function addChoose(
  build: Build,
  flow: unknown,
  value: unknown,
  key: unknown,
  cases: unknown,
  otherwise: unknown,
): Ref<unknown> {
  const reference = referenceOf(value);
  const bodies = typeof cases === "object" && cases !== null && !referenceOf(cases) ? Object.entries(cases) : [];
  const isFit = bodies.length > 0 && bodies.every(([, body]) => isFunction(body));
  if (!reference || typeof key !== "string" || !isFit || (otherwise !== undefined && !isFunction(otherwise)))
    return misfit(
      build,
      "flow.choose",
      'a reference, the field that tells its kinds apart, and a function for each kind: flow.choose(input.pay, "kind", { card: (card, flow) => ... })',
    );
  const label = `flow.choose(${reference.label}.${key})`;
  const kinds = bodies.map(([kind]) => kind);
  lower(value, `the value of ${label}`, build);
  const subject = subjectOf(fieldOf(reference.expr, key), kinds);
  // each node asks for all kinds, so that one that nobody knows fails it: skipping all of them would be silence
  const only = (chosen: string | undefined): Expr => ({
    $: [
      "case",
      subject,
      kinds.map((kind): Expr => [kind, kind === chosen]),
      ...(otherwise === undefined ? [] : [chosen === undefined]),
    ],
  });
  const part = (kind: string | undefined, body: Body) =>
    partOf(build, `${label}, ${kind === undefined ? "otherwise" : `case "${kind}"`}`, only(kind), () =>
      body(inner(build, reference, narrowed(reference.expr, key, kind, kinds)), flow),
    );
  const parts = bodies.map(([kind, body]) => ({ kind, ...part(kind, body as Body) }));
  const rest = isFunction(otherwise) ? [part(undefined, otherwise)] : [];
  const arms = parts.map(({ kind, expr }): Expr => [kind, expr]);
  return build.refer({ $: ["case", subject, arms, ...rest.map(({ expr }) => expr)] }, label, {
    isUsed: true,
    waits: [...parts, ...rest].flatMap(({ nodes }) => nodes),
    mayReadRival: true,
  });
}

/** Cases have names. Where a kind may be a number or a boolean, it is compared as text; a missing one as the empty text. */
function subjectOf(field: Expr, kinds: readonly string[]): Expr {
  const isText = kinds.every(
    (kind) => kind !== "true" && kind !== "false" && (kind === "" || Number.isNaN(Number(kind))),
  );
  return isText ? field : { $: ["text", { $: ["orElse", field, ""] }] };
}

/** Of the first of several, the one that won in this case; anything else is the same value. */
function narrowed(expr: Expr, key: string, kind: string | undefined, kinds: readonly string[]): Expr {
  const hole = holeOf(expr);
  if (hole?.form !== "first" || key !== "winner") return expr;
  const rivals = (hole.operands as readonly (readonly [string, Expr])[]).filter(([label]) =>
    kind === undefined ? !kinds.includes(label) : label === kind,
  );
  return rivals.length > 0 ? { $: ["first", ...rivals.map(([label, rival]): Expr => [label, rival])] } : expr;
}

export function addNames(build: Build, flow: unknown, name: unknown, body: unknown): unknown {
  if (typeof name !== "string" || !isFunction(body))
    return misfit(build, "flow.scope", "a name and a function that adds nodes: (flow) => ...");
  return build.inNames(name, () => sync(build, `the scope "${name}"`, body(flow)));
}

export function addSeries(build: Build, flow: unknown, body: unknown): unknown {
  if (!isFunction(body)) return misfit(build, "flow.series", "a function that adds nodes: (flow) => ...");
  return build.inSeries(() => sync(build, "a series", body(flow)));
}

const labelOf = (value: unknown) => referenceOf(value)?.label ?? String(value);
