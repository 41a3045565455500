declare const meaning: unique symbol;

/**
 * Key under which the type of a reference is kept. It exists for the compiler alone, and being a symbol it stays out of
 * completions.
 */
export type Meaning = typeof meaning;

/**
 * A value that is known only in the run, as a parameter asks for it: nominal, covariant, without fields. A
 * `RefTo<"card">` fits where a `RefTo<string>` is wanted, and nothing but a reference fits at all.
 */
export interface RefTo<out T> {
  readonly [meaning]: T;
}

/**
 * A value that is known only in the run, as a workflow function gets it: `paid.receiptId` is the reference to that field.
 *
 * It is no value: it cannot be compared, added, printed or looped over while the graph is built. Operators (`eq`, `gt`,
 * `text` ...) make new references out of it, and a step computes everything else.
 */
export type Ref<T> = RefTo<T> & Fields<T>;

/** What JSON holds at its leaves. */
export type Scalar = string | number | boolean | null | undefined;

/**
 * A lie for the compiler: a reference to a scalar pretends to be a symbol and a function, so that `if (ref)`, `` `${ref}` ``,
 * `ref + 1` and `ref > 1` do not compile. The references themselves are proxies and answer with a build fault.
 */
type Leaf = symbol & ((never: never) => never);

/** Nothing to reach by a dot: `unknown`, records (see `at`), and what is always missing. */
interface Opaque {
  readonly [meaning]: unknown;
}

type Fields<T> = unknown extends T ? Opaque : Shape<NonNullable<T>, Gap<T>>;

/** What a path through `T` carries on: nothing if `T` is always there, else `undefined`, as with `?.`. */
type Gap<T> = undefined extends T ? undefined : null extends T ? undefined : never;

type Shape<T, G> = [T] extends [never]
  ? Opaque
  : [T] extends [Scalar]
    ? Leaf
    : [T] extends [readonly unknown[]]
      ? ListFields<T, G>
      : IsUnion<T> extends true
        ? UnionFields<T, G>
        : ObjectFields<T, G>;

type IsUnion<T, Each = T> = Each extends unknown ? ([T] extends [Each] ? false : true) : never;

/** Keeps keys with names; an index signature would make every misspelling a field. */
type Named<K> = string extends K ? never : number extends K ? never : symbol extends K ? never : K;

type ObjectFields<T, G> = { readonly [K in keyof T as Named<K>]-?: Ref<T[K] | G> };

/** Fields of all members, `undefined` where a member lacks one. */
type UnionFields<T, G> = { readonly [K in MemberKeys<T>]: Ref<MemberField<T, K> | G> };
type MemberKeys<T> = T extends Scalar | readonly unknown[] ? never : Named<keyof T>;
type MemberField<T, K> = T extends unknown ? (K extends keyof T ? T[K] : undefined) : never;

/** A list has a length, a tuple also its items; other items are reached with `at` or `flow.map`. */
type ListFields<T extends readonly unknown[], G> = { readonly length: Ref<number | G> } & (number extends T["length"]
  ? unknown
  : { readonly [K in keyof T as K extends `${number}` ? K : never]: Ref<T[K] | G> });
