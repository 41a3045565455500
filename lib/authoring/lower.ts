import type { Expr } from "../core/definition.ts";
import { fixed } from "../core/limits.ts";
import type { Build } from "./build.ts";
import { isPlainScalar, lackOf, NotJson, plain } from "./plain.ts";
import { type Reference, referenceOf } from "./reference.ts";
import { type Scope, scopesFrom } from "./scope.ts";

/**
 * Turns what an author wrote, references and constants in any mixture, into an expression. What cannot be one becomes a fault of
 * the build that names `path`.
 */
export function lower(value: unknown, path: string, build: Build, depth = 0): Expr {
  const reference = referenceOf(value);
  if (reference) return lowerReference(reference, path, build);
  if (isPlainScalar(value)) return value;
  const lack = depth > fixed.expressionDepthMax ? "nested too deep, or holds itself: flatten it" : lackOf(value);
  if (lack !== undefined) {
    build.fault(`${path} is ${lack}`);
    return null;
  }
  if (Array.isArray(value)) return Array.from(value, (item, at) => lower(item, `${path}[${at}]`, build, depth + 1));
  if (Object.hasOwn(value as object, "$")) return quote(value, path, build);
  const fields = Object.entries(value as object).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, lower(field, `${path}.${name}`, build, depth + 1)]));
}

function lowerReference(reference: Reference, path: string, build: Build): Expr {
  reference.isUsed = true;
  const { label, scope, expr } = reference;
  if (reference.build !== build) {
    const owner =
      reference.build.workflow === build.workflow ? "another call of it" : `workflow "${reference.build.workflow}"`;
    build.fault(`${path} uses ${label}, which belongs to ${owner}: pass its value as an input`);
  } else if (!isKnown(build.scope, scope)) {
    build.fault(`${path} uses ${label}, which is known only inside ${scope.label}: return what you need from there`);
  } else if (!reference.mayReadRival) build.noteRead(reference, path);
  return expr;
}

const isKnown = (current: Scope, wanted: Scope): boolean => scopesFrom(current).includes(wanted);

/** A constant with a key `$` would look like a hole. */
function quote(value: unknown, path: string, build: Build): Expr {
  try {
    return { $: ["quote", plain(value, path)] };
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    build.fault(`${error.message} (an object with a key "$" is a constant: it cannot hold references)`);
    return null;
  }
}
