import * as v from "valibot";
import { signal, step } from "../../lib/index.ts";
import { ask } from "../sandbox.ts";

const id = v.pipe(v.string(), v.nonEmpty());
const plan = v.picklist(["free", "team", "enterprise"]);
const account = v.object({ accountId: id });

/** What somebody who signs up sends. */
export const signUpInput = v.object({ company: id, email: id, plan, region: v.optional(id, "region") });

/** Sent by the link in the invitation. */
export const verified = signal("verified", v.object({ at: v.pipe(v.string(), v.isoTimestamp()) }));

/** Sent when a customer leaves the trial before it ends, or decides to stay. */
export const decided = signal("decided", v.object({ stays: v.boolean(), reason: v.optional(v.string()) }));

export const open = step(
  "open",
  { input: v.object({ company: id, plan, region: id }), output: account, timeout: "5s", retry: { attempts: 3 } },
  async ({ company, region }, context) => {
    await ask("the directory", region, context);
    return { accountId: `account-${company}` };
  },
);

export const close = step("close", { input: account, timeout: "5s" }, () => {});

export const write = step(
  "write",
  {
    input: v.object({ to: id, about: v.picklist(["invitation", "reminder", "survey"]) }),
    retry: { attempts: 4 },
    timeout: "5s",
  },
  async ({ to }, context) => {
    await ask("the mail server", to, context);
  },
);

export const provision = step(
  "provision",
  {
    input: v.object({ accountId: id, plan, region: id }),
    output: v.object({ address: id, seats: v.number() }),
    timeout: "10m",
    heartbeat: "15s",
  },
  async ({ accountId, plan }, context) => {
    await context.heartbeat();
    return { address: `https://${accountId}.example`, seats: { free: 3, team: 20, enterprise: 500 }[plan] };
  },
);

export const suspend = step(
  "suspend",
  { input: v.object({ accountId: id, reason: v.string() }), output: v.object({ reason: v.string() }) },
  ({ reason }) => ({ reason }),
);
