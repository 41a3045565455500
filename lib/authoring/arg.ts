import type { Meaning, RefTo, Scalar } from "./ref.ts";

/** Where a `T` is wanted: a reference to one, or a constant with references at any depth. */
export type Arg<T> = RefTo<Frozen<T>> | Constant<T>;

/** Nobody changes what a reference stands for, so a read-only list fits where a schema says a plain one. */
type Frozen<T> = T extends readonly unknown[] ? Readonly<T> : T;

type Constant<T> = unknown extends T
  ? unknown
  : T extends Scalar
    ? T
    : T extends readonly unknown[]
      ? List<T>
      : T extends object
        ? Properties<T>
        : never;

/** A named type for lists, so that types which hold lists of themselves end. */
interface Args<T> extends ReadonlyArray<Arg<T>> {}

type List<T extends readonly unknown[]> = number extends T["length"]
  ? Args<T[number]>
  : { readonly [K in keyof T]: Arg<T[K]> };

type Properties<T> = { readonly [K in keyof T]: Arg<T[K] | Absent<T, K>> };

/** An optional property takes a reference that may turn out to have no value: the property is then left out. */
type Absent<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? undefined : never;

/**
 * The input of a step, a child or a call. For plain objects it is no union with a reference, so that the compiler complains
 * about the property that is wrong; a reference to a whole input fits by its fields.
 */
export type Input<T> = unknown extends T
  ? unknown
  : [T] extends [Scalar | readonly unknown[]]
    ? Arg<T>
    : T extends Scalar | readonly unknown[]
      ? Arg<T>
      : Properties<T> & { readonly [K in Meaning]?: T };

/** `T`, from elsewhere: keeps the compiler from inferring it here. (`NoInfer` would blur the errors.) */
export type Given<T> = [T][T extends unknown ? 0 : never];

/** Keeps promises out: the graph is built at once, from references. */
export type NotAsync<R> = R extends PromiseLike<unknown> ? "this function must not be async" : unknown;

/** What a shape with references in it comes to in the run. */
export type Resolved<S> =
  S extends RefTo<infer T>
    ? T
    : S extends Scalar
      ? S
      : S extends readonly unknown[]
        ? { readonly [K in keyof S]: Resolved<S[K]> }
        : S extends object
          ? { readonly [K in keyof S]: Resolved<S[K]> }
          : S;
