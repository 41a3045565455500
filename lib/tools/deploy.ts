/** Before a deploy: what a build has, how it differs from the last one, and what it would do to the runs in flight. */
import type { AnyWorkflow, RegistryOptions } from "../authoring/registry.ts";
import type { DeployReport } from "../core/deploy-report.ts";
import { type CheckOptions, checkDeploy } from "../engine/check-deploy.ts";
import { engineOn, type Installation } from "./installation.ts";

export { definitionsOf } from "../authoring/definitions.ts";
export type { Finding, Verdict } from "../core/deploy-check.ts";
export { compareBuilds, type DefinitionVerdict, type DeployReport, type RunVerdict } from "../core/deploy-report.ts";
export { deployText } from "../core/deploy-text.ts";
export type { CheckOptions } from "../engine/check-deploy.ts";
export { readDefinitions, writeDefinitions } from "./definitions-file.ts";
export type { Installation } from "./installation.ts";

/** What these workflows would do to the runs in flight of an installation. Reads its table (and bucket), and writes nothing. */
export async function checkRuns(
  installation: Installation,
  workflows: readonly AnyWorkflow[],
  options: CheckOptions & Pick<RegistryOptions, "keep"> = {},
): Promise<DeployReport> {
  const { engine, close } = engineOn(installation, workflows, options);
  try {
    return await checkDeploy(engine, options);
  } finally {
    close();
  }
}
