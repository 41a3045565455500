import type { Scope } from "./scope.ts";
import { batches } from "./scopes/batches.ts";
import { children } from "./scopes/children.ts";
import { faults } from "./scopes/faults.ts";
import { kinds } from "./scopes/kinds.ts";
import { leases } from "./scopes/leases.ts";
import { mail } from "./scopes/mail.ts";
import { people } from "./scopes/people.ts";
import { rough } from "./scopes/rough.ts";
import { steps } from "./scopes/steps.ts";

/** Every scope, by what it is about. */
export const scopes: readonly Scope[] = [
  ...steps,
  ...mail,
  ...people,
  ...leases,
  ...faults,
  ...children,
  ...kinds,
  ...batches,
  ...rough,
];
