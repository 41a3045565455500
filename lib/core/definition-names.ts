import { type Check, must } from "./definition-fields.ts";

/** Names of workflows, nodes, groups and signals. They end up in record keys, metrics and addresses. */
export const namePattern = /^[A-Za-z0-9._-]{1,64}$/;

/** A name by the rule that holds everywhere. */
export const checkName: Check = must(
  (value) => typeof value === "string" && namePattern.test(value),
  "must be a name of 1 to 64 letters, digits, dots, underscores and hyphens",
);
