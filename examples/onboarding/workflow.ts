import { call, eq, exists, not, orElse, workflow } from "../../lib/index.ts";
import { close, decided, open, provision, signUpInput, suspend, verified, write } from "./steps.ts";

/**
 * A customer, from signing up to the end of the trial: up to four weeks in which the run mostly waits, and costs nothing while it
 * does. Who never verifies the address, or is turned down, finds the account closed again.
 */
export const onboarding = workflow("onboarding", { input: signUpInput }, (flow, input) => {
  const account = flow.run(
    open,
    { company: input.company, plan: input.plan, region: input.region },
    { compensate: (opened) => call(close, opened) },
  );

  const invitation = flow.run(write, { to: input.email, about: "invitation" }, { name: "invite", after: [account] });
  const verification = flow.signal(verified, { after: [invitation], timeout: "3d", onTimeout: "continue" });

  const isLate = not(exists(verification));
  const reminder = flow.run(write, { to: input.email, about: "reminder" }, { name: "remind", when: isLate });
  const lateVerification = flow.signal(verified, {
    name: "verified-late",
    when: isLate,
    after: [reminder],
    timeout: "7d",
  });

  const review = flow.gate("review", {
    when: eq(input.plan, "enterprise"),
    after: [verification, lateVerification],
    about: { company: input.company, plan: input.plan },
    timeout: "1d",
    onTimeout: "continue",
  });

  // nobody looked in time: the director decides, and no answer is a no
  const escalation = flow.gate("escalation", {
    when: eq(review.timedOut, true),
    about: { company: input.company, plan: input.plan },
    timeout: "2d",
    onTimeout: "reject",
  });

  const space = flow.run(
    provision,
    { accountId: account.accountId, plan: input.plan, region: input.region },
    { after: [verification, lateVerification, review, escalation] },
  );

  const settledIn = flow.sleep("settle-in", "7d", { after: [space] });
  flow.run(write, { to: input.email, about: "survey" }, { name: "survey", after: [settledIn], onFailure: "continue" });

  const decision = flow.signal(decided, { after: [space], timeout: "14d", onTimeout: "continue" });
  const suspension = flow.run(
    suspend,
    { accountId: account.accountId, reason: orElse(decision.reason, "none given") },
    { when: eq(decision.stays, false) },
  );

  return { accountId: account.accountId, address: space.address, hasLeft: exists(suspension) };
});
