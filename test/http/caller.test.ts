import { describe, expect, it } from "vitest";
import type { Identity } from "../../lib/ports/exchange.ts";
import { stage } from "./stage.ts";

const claims = (of: Record<string, unknown>): Identity => ({ kind: "claims", claims: of });

describe("a caller", () => {
  it.each<[string, Identity | undefined, number, string]>([
    ["nobody", undefined, 401, "unauthenticated"],
    ["a token without the claim", claims({ sub: "ann" }), 403, "no-tenant"],
    ["a token whose claim is empty", claims({ sub: "ann", org: "" }), 403, "no-tenant"],
    ["a token whose claim is no id", claims({ sub: "ann", org: "a#b" }), 403, "no-tenant"],
    ["a token whose claim is a list", claims({ sub: "ann", org: ["acme"] }), 403, "no-tenant"],
    ["a token of nobody", claims({ org: "acme" }), 401, "unauthenticated"],
  ])("that is %s is let into nothing", async (_, identity, status, code) => {
    const { call, world } = stage({ tenancy: { tenantClaim: "org" } });
    const body = { workflow: "quick", runId: "o-1", input: { cents: 1 } };
    for (const [method, path] of [
      ["POST", "/runs"],
      ["GET", "/runs/o-1"],
      ["POST", "/runs/o-1/signals/go"],
    ] as const)
      expect(await call(method, path, { body, identity })).toMatchObject({ status, json: { code } });
    expect(world.store.snapshot()).toEqual([]);
  });

  it("with a token is let into nothing where no claim is configured", async () => {
    const { call } = stage();
    const identity = claims({ sub: "ann", org: "acme", tenant: "acme" });
    expect(await call("GET", "/runs/o-1", { identity })).toMatchObject({ status: 403, json: { code: "no-tenant" } });
  });

  it("with a token works on its tenant's runs, as its subject", async () => {
    const { call, world } = stage({ tenancy: { tenantClaim: "org" } });
    const body = { workflow: "quick", runId: "o-1", input: { cents: 1 } };
    await call("POST", "/runs", { body, identity: claims({ sub: "ann", org: "acme" }) });
    const input = world.store.snapshot().find(({ sk }) => sk.startsWith("IN#"));
    expect(input).toMatchObject({ pk: "acme#o-1", actor: "ann" });
  });
});
