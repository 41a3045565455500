import type { Check, Fields } from "../ports.ts";
import { compareValues, isEqual, sizeOf, valueAt } from "./values.ts";

/**
 * Whether a condition holds, as DynamoDB's condition expressions have it: a missing attribute makes every check but `absent` false,
 * a comparison of two types is false, and so is everything but `absent` on a record that does not exist.
 */
export function isHolding(checks: readonly Check[], record: Fields | undefined): boolean {
  return checks.every((check) => isTrue(check, record));
}

function isTrue(check: Check, record: Fields | undefined): boolean {
  if (check.kind === "any") return check.of.some((checks) => checks.every((one) => isTrue(one, record)));
  const value = record && valueAt(record, check.path);
  switch (check.kind) {
    case "absent":
      return value === undefined;
    case "exists":
      return value !== undefined;
    case "equals":
      return isEqual(value, check.value);
    case "sized": {
      const size = sizeOf(value);
      return size !== undefined && (check.is === "equals" ? size === check.count : size < check.count);
    }
    default: {
      const order = compareValues(value, check.value);
      return order !== undefined && (check.kind === "atMost" ? order <= 0 : order < 0);
    }
  }
}
