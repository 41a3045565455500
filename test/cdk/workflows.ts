import * as v from "valibot";
import { step, workflow } from "../../lib/index.ts";

const quick = step("quick", { input: v.object({}), timeout: "20s" }, () => {});

/** One workflow for the group `default`. */
export const workflows = [workflow("small", { input: v.object({}) }, (flow, input) => void flow.run(quick, input))];
