import type { NodeDef } from "../core/definition.ts";
import type { Build } from "./build.ts";
import type { Ref } from "./ref.ts";
import { referenceOf } from "./reference.ts";
import { scopesFrom } from "./scope.ts";

/** Adds a node and gives the reference to its output, known in the scope that it was added in. */
export function added(build: Build, node: NodeDef): Ref<unknown> {
  build.add(node);
  return outputOf(build, node.name);
}

/** The reference to a node's output. */
export function outputOf(build: Build, name: string): Ref<unknown> {
  const scope = scopesFrom(build.scope).find(({ kind }) => kind !== "call") ?? build.scope;
  return build.refer({ $: ["ref", name] }, name, { scope, isUsed: true });
}

/** Nothing waits while the graph is built: an async function would add its nodes too late. */
export function sync(build: Build, what: string, result: unknown): unknown {
  if (!(result instanceof Promise)) return result;
  result.catch(() => {});
  build.fault(`${what} must not be async: nothing runs while the graph is built, so remove async and await`);
  return undefined;
}

/** A function that plain JavaScript passed, and that is no reference. */
export const isFunction = (value: unknown): value is (...given: readonly unknown[]) => unknown =>
  typeof value === "function" && !referenceOf(value);

/** Notes that a method got something else than it takes, and gives a stand-in so that the build goes on. */
export function misfit(build: Build, method: string, wanted: string): Ref<never> {
  build.fault(`${method} takes ${wanted}`);
  return build.refer({ $: ["quote", null] }, method, { isUsed: true });
}
