import type { Resolved } from "./arg.ts";
import type { Ref, RefTo } from "./ref.ts";

/** What a scope's function returned, as the run will know it. */
export type Shape<R> = [R] extends [never] ? never : R extends void ? undefined : Resolved<R>;

/** The values that tell a union apart, as names of cases: `true` and `1` are written `"true"` and `"1"`. */
export type Kind<T, K extends keyof T> = `${Extract<T[K], string | number | boolean>}`;

/** The members of a union whose field `K` may be `V`. */
export type Member<T, K extends keyof T, V> = T extends unknown ? (V extends Kind<T, K> ? T : never) : never;

/** The members of a union that have no case. */
export type Other<T, K extends keyof T, V> = T extends unknown
  ? [Exclude<Kind<T, K>, V>] extends [never]
    ? never
    : T
  : never;

/** A function for each kind, and none for what is no kind. (Inferred through its results, so that parameters get their types.) */
export type Cases<T, K extends keyof T, R, F> = {
  readonly [V in keyof R]: V extends Kind<T, K>
    ? (value: Ref<Member<T, K, V>>, flow: F) => R[V]
    : "there is no such kind";
};

/** What takes part in `flow.first`: nodes, by the names under which they win. */
export type Rivals = { readonly [label: string]: RefTo<unknown> };

/** Which of the rivals won, and its output. Nobody may, if all of them may be skipped. (Spelled out for editors.) */
export type Winner<R extends Rivals> = [
  { [K in keyof R]: undefined extends Yielded<R[K]> ? never : K }[keyof R],
] extends [never]
  ? { [K in keyof R]: { readonly winner: K; readonly value: Won<R[K]> } }[keyof R] | undefined
  : { [K in keyof R]: { readonly winner: K; readonly value: Won<R[K]> } }[keyof R];

type Yielded<R> = R extends RefTo<infer T> ? T : never;
type Won<R> = Exclude<Yielded<R>, undefined>;
