import type { Check, Write } from "../../lib/ports.ts";
import type { World } from "./world.ts";

/** Conditions of writes that `--break` takes away at the table, each alone: what a simulator that finds nothing would miss. */
export const breakages = {
  "commit-condition": { sk: /^STATE$/, isDropped: named("v") },
  "live-guard": { sk: /^STATE$/, isDropped: named("l") },
  "run-uid": { sk: /^STATE$/, isDropped: named("u") },
  "claim-once": { sk: /^ATT#/, kind: "put", isDropped: named("pk") },
  "result-token": { sk: /^ATT#/, kind: "edit", isDropped: named("k") },
  "first-end": { sk: /^ATT#/, kind: "edit", isDropped: named("v") },
  "lease-seen": { sk: /^ATT#/, kind: "edit", isDropped: named("w") },
  "trim-base": { sk: /^STATE#MAIL/, isDropped: (check: Check) => named("b")(check) || named("cb")(check) },
  "mail-id": { sk: /^STATE#MAIL/, isDropped: named("i") },
} satisfies { readonly [name: string]: Rule };
export type Breakage = keyof typeof breakages;

interface Rule {
  readonly sk: RegExp;
  readonly kind?: Write["kind"];
  readonly isDropped: (check: Check) => boolean;
}

function named(attribute: string) {
  return (check: Check): boolean =>
    check.kind === "any" ? check.of.some((all) => all.some(named(attribute))) : check.path[0] === attribute;
}

/** Writes as they would be if the engine had left that condition out. */
export function broken(breakage: Breakage, write: World["write"]): World["write"] {
  const rule: Rule = breakages[breakage];
  return (by, asked, options) => {
    const isMeant = rule.sk.test(asked.key.sk) && (rule.kind === undefined || rule.kind === asked.kind);
    const when = isMeant ? asked.when.filter((check) => !rule.isDropped(check)) : asked.when;
    return write(by, { ...asked, when }, options);
  };
}
