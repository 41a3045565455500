declare const contract: unique symbol;

/** What can be called with an input and yields an output: a step (a worker does it) or a workflow (a child run does it). */
export interface Callable<in In, out Out, out Kind extends "step" | "workflow" = "step" | "workflow"> {
  readonly kind: Kind;
  readonly name: string;
  /** For the compiler alone. */
  readonly [contract]?: (input: In) => Out;
}
