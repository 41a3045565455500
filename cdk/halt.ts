import type { Construct } from "constructs";

/** The context that halts an installation: `cdk deploy -c tickwright:halt=true`. */
export const haltContext = "tickwright:halt";

/**
 * Whether the installation shall stand still: every mapping and the schedule are off, nothing else differs. What arrives waits in its
 * queue, for up to four days; a deploy without the context goes on with it, and the watchdog finds the rest.
 */
export function isHalted(scope: Construct): boolean {
  const value: unknown = scope.node.tryGetContext(haltContext);
  if (value === undefined || value === false || value === "false") return false;
  if (value === true || value === "true") return true;
  throw new Error(`The context ${haltContext} is ${JSON.stringify(value)}: give true to halt, or leave it out.`);
}
