import type { AnyWorkflow } from "../../lib/index.ts";
import { document, documents } from "../documents/workflow.ts";
import { onboardingWorkflow } from "../onboarding/workflow.ts";
import { orderWorkflow } from "../order/workflow.ts";

/** The workflows of the examples with seconds instead of days: the same graphs, made by the same functions. */
export const hurried: readonly AnyWorkflow[] = [
  orderWorkflow({ approval: "6s" }),
  documents,
  document,
  onboardingWorkflow({
    verification: "4s",
    lateVerification: "5s",
    review: "4s",
    escalation: "4s",
    settlingIn: "2s",
    trial: "5s",
  }),
];
