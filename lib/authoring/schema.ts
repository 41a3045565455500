import type { StandardSchemaV1 } from "@standard-schema/spec";

/** A schema of any library that speaks Standard Schema: valibot, zod, arktype and others. */
export type Schema = StandardSchemaV1;

/** What a caller sends: the side before transforms and defaults. */
export type Sent<S extends Schema> = Known<StandardSchemaV1.InferInput<S>>;

/** What the receiver gets: the side after transforms and defaults. */
export type Kept<S extends Schema> = Known<StandardSchemaV1.InferOutput<S>>;

/** `any` would fit everywhere, references to it too. */
type Known<T> = 0 extends 1 & T ? unknown : T;

/** Nothing for a type that JSON can carry, else an object type that says at which path it cannot, and what to use. */
export type MustBeJson<T, Path extends string> = [Complaint<T, Path>] extends [never]
  ? unknown
  : { readonly "not JSON": Complaint<T, Path> };

/** A `Blob`, also where neither Node's nor the browser's types are known: an unknown name would let nothing pass. */
interface BlobLike {
  readonly size: number;
  readonly arrayBuffer: () => Promise<ArrayBuffer>;
}

/** Types nested deeper than this are taken on trust, so that recursive ones end; values are checked in the run. */
type Deeper = [never, 0, 1, 2, 3, 4, 5, 6, 7];

type Complaint<T, Path extends string, Depth extends number = 7> = unknown extends T
  ? never
  : [Depth] extends [never]
    ? never
    : T extends string | number | boolean | null
      ? never
      : T extends undefined
        ? `${Path} may be undefined, which JSON lacks: use null or an optional property`
        : T extends Date
          ? `${Path} is a Date, which JSON lacks: use an ISO string or a number`
          : T extends bigint
            ? `${Path} is a bigint, which JSON lacks: use a string`
            : T extends symbol | ((...never: never) => unknown)
              ? `${Path} is a function or a symbol, which JSON lacks`
              : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
                ? `${Path} is a Map or a Set, which JSON lacks: use an object or a list`
                : T extends ArrayBuffer | ArrayBufferView | BlobLike
                  ? `${Path} is binary, which JSON lacks: store it and pass its address, or use base64`
                  : T extends PromiseLike<unknown>
                    ? `${Path} is a promise, which JSON lacks: await it`
                    : T extends readonly unknown[]
                      ? ItemComplaint<T, Path, Depth>
                      : T extends object
                        ? FieldComplaint<T, Path, Depth>
                        : never;

type ItemComplaint<T extends readonly unknown[], Path extends string, Depth extends number> = Complaint<
  T[number],
  `${Path}[]`,
  Deeper[Depth]
>;

type FieldComplaint<T, Path extends string, Depth extends number> = {
  [K in keyof T]-?: K extends string | number
    ? Complaint<Exclude<T[K], undefined>, `${Path}.${K}`, Deeper[Depth]>
    : never;
}[keyof T];
