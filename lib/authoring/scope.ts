import type { Expr } from "../core/definition.ts";

/** A part of the workflow in which some references are known. */
export interface Scope {
  readonly label: string;
  readonly parent: Scope | undefined;
  /** `call`: the function of one map, repeat or compensation, which describes a call and adds no nodes. */
  readonly kind: "workflow" | "call" | "condition";
  /** What the nodes of this scope need to run, beside what the scopes around it say. */
  readonly condition?: Expr;
  /** Names of the nodes that were added in it, for who waits for all of it. */
  readonly nodes: string[];
}

/** A condition out of several that must all hold, from the outermost to the innermost: what follows a false one is not looked at. */
export function allOf(conditions: readonly Expr[]): Expr | undefined {
  return conditions.length > 1 ? { $: ["and", ...conditions] } : conditions[0];
}

/** The scope, and those around it, from the inside out. */
export function scopesFrom(scope: Scope): readonly Scope[] {
  return scope.parent ? [scope, ...scopesFrom(scope.parent)] : [scope];
}
