import { call, type Duration, eq, exists, not, orElse, workflow } from "../../lib/index.ts";
import { close, decided, open, provision, signUpInput, suspend, verified, write } from "./steps.ts";

/** How long a customer, a person, the run itself may take. */
export interface OnboardingPeriods {
  /** To verify the address; and again, once reminded. */
  readonly verification: Duration;
  readonly lateVerification: Duration;
  readonly review: Duration;
  readonly escalation: Duration;
  /** Before the survey asks how it goes. */
  readonly settlingIn: Duration;
  readonly trial: Duration;
}

/**
 * A customer, from signing up to the end of the trial: up to four weeks in which the run mostly waits, and costs nothing while it
 * does. Who never verifies the address, or is turned down, finds the account closed again.
 */
export const onboardingWorkflow = (within: OnboardingPeriods) =>
  workflow("onboarding", { input: signUpInput }, (flow, input) => {
    const account = flow.run(
      open,
      { company: input.company, plan: input.plan, region: input.region },
      { compensate: (opened) => call(close, opened) },
    );

    const invitation = flow.run(write, { to: input.email, about: "invitation" }, { name: "invite", after: [account] });
    const verification = flow.signal(verified, {
      after: [invitation],
      timeout: within.verification,
      onTimeout: "continue",
    });

    const isLate = not(exists(verification));
    const reminder = flow.run(write, { to: input.email, about: "reminder" }, { name: "remind", when: isLate });
    const lateVerification = flow.signal(verified, {
      name: "verified-late",
      when: isLate,
      after: [reminder],
      timeout: within.lateVerification,
    });

    const review = flow.gate("review", {
      when: eq(input.plan, "enterprise"),
      after: [verification, lateVerification],
      about: { company: input.company, plan: input.plan },
      timeout: within.review,
      onTimeout: "continue",
    });

    // nobody looked in time: the director decides, and no answer is a no
    const escalation = flow.gate("escalation", {
      when: eq(review.timedOut, true),
      about: { company: input.company, plan: input.plan },
      timeout: within.escalation,
      onTimeout: "reject",
    });

    const space = flow.run(
      provision,
      { accountId: account.accountId, plan: input.plan, region: input.region },
      { after: [verification, lateVerification, review, escalation] },
    );

    const settledIn = flow.sleep("settle-in", within.settlingIn, { after: [space] });
    flow.run(
      write,
      { to: input.email, about: "survey" },
      { name: "survey", after: [settledIn], onFailure: "continue" },
    );

    const decision = flow.signal(decided, { after: [space], timeout: within.trial, onTimeout: "continue" });
    const suspension = flow.run(
      suspend,
      { accountId: account.accountId, reason: orElse(decision.reason, "none given") },
      { when: eq(decision.stays, false) },
    );

    return { accountId: account.accountId, address: space.address, hasLeft: exists(suspension) };
  });

export const onboarding = onboardingWorkflow({
  verification: "3d",
  lateVerification: "7d",
  review: "1d",
  escalation: "2d",
  settlingIn: "7d",
  trial: "14d",
});
