import type { AnyWorkflow } from "../../lib/index.ts";
import { document, documents } from "../documents/workflow.ts";
import { onboardingWorkflow } from "../onboarding/workflow.ts";
import { orderWorkflow } from "../order/workflow.ts";

/** The workflows of the examples with seconds instead of days: the same graphs, made by the same functions. */
export const hurried: readonly AnyWorkflow[] = [
  orderWorkflow({ approval: "4s" }),
  documents,
  document,
  onboardingWorkflow({
    verification: "3s",
    lateVerification: "4s",
    review: "3s",
    escalation: "3s",
    settlingIn: "2s",
    trial: "5s",
  }),
];
