import * as v from "valibot";
import { Fault } from "../core/faults.ts";
import { idRule, isId } from "../core/keys.ts";

/** A member that is an id. */
export const idSchema = v.custom<string>(isId, `must be ${idRule}`);

/** An id of an address. Throws `bad-request`. */
export function idOf(params: Readonly<Record<string, string>>, name: string): string {
  const id = params[name];
  if (!isId(id)) throw new Fault("bad-request", `${name} must be ${idRule}`);
  return id;
}
