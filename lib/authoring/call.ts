import type { Given, Input } from "./arg.ts";
import type { Callable } from "./callable.ts";
import { inside } from "./inside.ts";

declare const contract: unique symbol;

/** A step or workflow together with its input, as data: what a map does for each item, and what a compensation does. */
export interface Call<out Out, out Kind extends "step" | "workflow" = "step" | "workflow"> {
  readonly kind: "call";
  readonly [contract]?: Out;
  readonly [inside]: { readonly callee: Callable<never, unknown, Kind>; readonly input: unknown };
}

/** Pairs a step or workflow with its input, without running it: `flow.map(lines, (line) => call(reserve, { sku: line.sku }))`. */
export function call<In, Out, Kind extends "step" | "workflow">(
  callee: Callable<In, Out, Kind>,
  input: Input<Given<In>>,
): Call<Out, Kind> {
  return { kind: "call", [inside]: { callee, input } };
}
