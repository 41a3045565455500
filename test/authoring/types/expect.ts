/** Assertions for the compiler: a file that uses them passes `tsc` or does not. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if the two types are the same. */
export function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [{ got: A; wanted: B }]): void {}

/** A value of a type, for the compiler alone: such files are compiled and never run. */
export declare function some<T>(): T;
