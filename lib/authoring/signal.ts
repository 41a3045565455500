import { inside } from "./inside.ts";
import type { Kept, MustBeJson, Schema, Sent } from "./schema.ts";

declare const contract: unique symbol;

/** Something that the outside tells a run. A run waits for it with `flow.signal`; until then the mailbox keeps it. */
export interface Signal<in In, out Payload> {
  readonly kind: "signal";
  readonly name: string;
  readonly [contract]?: (sent: In) => Payload;
  readonly [inside]: { readonly schema: Schema };
}

/** Defines a signal. The schema checks what is sent; the kept side is stored and read by the run. */
export function signal<S extends Schema>(
  name: string,
  schema: S & MustBeJson<Kept<S>, "payload">,
): Signal<Sent<S>, Kept<S>> {
  return { kind: "signal", name, [inside]: { schema } };
}
