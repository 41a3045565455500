import type { Expr } from "../core/definition.ts";
import { Fault } from "../core/faults.ts";
import type { Build } from "./build.ts";
import { fieldOf } from "./field.ts";
import { type Misuse, misuses } from "./misuse.ts";
import type { Ref } from "./ref.ts";
import type { Scope } from "./scope.ts";

/** What is behind a reference that a workflow function holds. */
export interface Reference {
  readonly build: Build;
  /** Where it may be used: the whole workflow, a conditional part of it, or the function of one map, repeat or compensation. */
  readonly scope: Scope;
  readonly expr: Expr;
  /** How the author would write it: `charge.receiptId`. */
  readonly label: string;
  readonly place: string | undefined;
  /** Whether it ended up in a node, a condition or the result. One that does not was taken for a value. */
  isUsed: boolean;
  /** Nodes that `after` waits for, beside those that it reads: all of a scope. */
  readonly waits?: readonly string[] | undefined;
  /** It may read a node that can lose to the first of several: through their result, or as what undoes it. */
  readonly mayReadRival?: boolean | undefined;
}

const registryKey = Symbol.for("tickwright.references");
const shared = globalThis as { [registryKey]?: WeakMap<object, Reference> };
/** Shared by all copies of the package in a process, so that the references of one are known to the others. */
const references: WeakMap<object, Reference> = shared[registryKey] ?? new WeakMap();
shared[registryKey] = references;

/** What is behind a value, if it is a reference. */
export function referenceOf(value: unknown): Reference | undefined {
  return typeof value === "function" ? references.get(value) : undefined;
}

/** The proxy for a reference. Reading a property gives the reference to that property; all else is a fault with its mend. */
export function createRef<T>(reference: Reference): Ref<T> {
  const misused = (misuse: Misuse): never => {
    reference.isUsed = true;
    const message = `${reference.label} is a reference, not a value, and ${misuses[misuse]}`;
    reference.build.fault(message);
    throw new Fault("bad-definition", message);
  };
  // inspection looks behind proxies, at their target
  const target = Object.assign(() => {}, {
    [Symbol.for("nodejs.util.inspect.custom")]: () => {
      reference.isUsed = true;
      return `Ref(${reference.label})`;
    },
  });
  const ref = new Proxy(target, {
    get: (_, key) => (typeof key === "string" ? readField(reference, key, misused) : readSymbol(key, misused)),
    apply: () => misused("call"),
    ownKeys: () => misused("spread"),
    getOwnPropertyDescriptor: () => misused("spread"),
    has: () => misused("has"),
    set: () => misused("change"),
    deleteProperty: () => misused("change"),
    defineProperty: () => misused("change"),
  });
  references.set(ref, reference);
  return ref as unknown as Ref<T>;
}

function readField(reference: Reference, name: string, misused: (misuse: Misuse) => never): unknown {
  if (name === "then") return misused("await");
  if (name === "toJSON") return misused("json");
  reference.isUsed = true;
  const { scope, waits, mayReadRival } = reference;
  return reference.build.refer(fieldOf(reference.expr, name), `${reference.label}.${name}`, {
    scope,
    waits,
    mayReadRival,
  });
}

function readSymbol(key: symbol, misused: (misuse: Misuse) => never): unknown {
  if (key === Symbol.toPrimitive) return (hint: string) => misused(hint === "number" ? "number" : "text");
  return key === Symbol.iterator || key === Symbol.asyncIterator ? misused("iterate") : undefined;
}
