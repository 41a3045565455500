import type { Reader } from "./definition-expressions.ts";
import type { Place } from "./definition-fault.ts";
import { isJsonObject, type Json } from "./json.ts";

/** Holds one value against one rule, and complains at its place. `reader` decides what expressions inside may read. */
export type Check = (value: unknown, place: Place, reader: Reader) => void;

/** The fields of an object in a definition, by name. */
export type Fields = { readonly [name: string]: { readonly isRequired: boolean; readonly check: Check } };

/** A field that must be there. */
export const required = (check: Check) => ({ isRequired: true, check });
/** A field that may be left out. */
export const optional = (check: Check) => ({ isRequired: false, check });

/** A rule as a predicate; the message says what the value must be. */
export const must = (holds: (value: unknown) => boolean, message: string): Check => {
  return (value, place) => {
    if (!holds(value)) place.fault(message);
  };
};

/** Whether it is a number of this range, both ends included. */
export const isWithin = (value: unknown, least: number, most: number): value is number =>
  typeof value === "number" && value >= least && value <= most;
/** A whole number of this range. */
export const whole = (least: number, most: number, of = ""): Check =>
  must(
    (value) => Number.isInteger(value) && isWithin(value, least, most),
    `must be a whole number${of} from ${least} to ${most}`,
  );
/** A duration in whole milliseconds. */
export const span = (least: number, most: number): Check => whole(least, most, " of milliseconds");
/** One of a few constants. */
export const only = (...values: readonly (string | boolean)[]): Check =>
  must(
    (value) => values.some((one) => one === value),
    `must be ${values.map((one) => JSON.stringify(one)).join(" or ")}, or left out`,
  );

/** Holds an object against its fields: all required ones, and none that nobody knows. */
export function checkFields(
  value: unknown,
  fields: Fields,
  place: Place,
  reader: Reader,
): value is { readonly [name: string]: Json } {
  if (!isJsonObject(value)) {
    place.fault("must be an object");
    return false;
  }
  for (const [name, field] of Object.entries(fields)) {
    if (value[name] !== undefined) field.check(value[name], place.at(name), reader);
    else if (field.isRequired) place.at(name).fault("is missing");
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(fields, name)) place.at(name).fault(`nobody knows it: use ${Object.keys(fields).join(", ")}`);
  }
  return true;
}
