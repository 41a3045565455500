import { Fault } from "../core/faults.ts";
import { isId } from "../core/keys.ts";
import { exchange } from "../core/limits.ts";
import type { Identity } from "../ports/exchange.ts";

/** Whose runs a request is about, and who it is that asks. */
export interface Caller {
  readonly tenant: string;
  readonly actor: string;
}

/** How an installation tells its tenants apart. */
export interface Tenancy {
  /** Claim of a token that names the tenant. Absent: tokens name none, and no token is let in. */
  readonly tenantClaim?: string | undefined;
}

/**
 * The caller, from what the authorizer found out and nothing else. Whoever signs with the account's own credentials works on tenant
 * `default`; a token must name its tenant, as one that names none could be anybody's. Throws `unauthenticated`, `no-tenant`.
 */
export function callerOf(identity: Identity | undefined, { tenantClaim }: Tenancy): Caller {
  switch (identity?.kind) {
    case "iam":
      return { tenant: "default", actor: identity.arn.slice(0, exchange.actorCharsMax) };
    case "local":
      return { tenant: "default", actor: identity.name };
    case "claims": {
      const tenant = tenantClaim === undefined ? undefined : identity.claims[tenantClaim];
      if (!isId(tenant)) throw new Fault("no-tenant", "the token does not say whose runs it is for");
      const { sub } = identity.claims;
      if (typeof sub !== "string" || sub === "") throw new Fault("unauthenticated", "the token does not say who it is");
      return { tenant, actor: sub.slice(0, exchange.actorCharsMax) };
    }
    default:
      throw new Fault("unauthenticated", "the request says not who sends it");
  }
}
