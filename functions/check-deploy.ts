import { parseArgs } from "node:util";
import * as app from "#workflows";
import type { App } from "../lib/index.ts";
import { checkRuns, compareBuilds, definitionsOf, deployText, readDefinitions } from "../lib/tools/deploy.ts";

const help = `npm run check-deploy -- --table NAME [--bucket NAME] [--endpoint URL] [--region NAME]
npm run check-deploy -- --against definitions.json

Says what deploying this build would do to runs in flight: to those of a table, or, without a stack, to any that the last build may
have started. Ends with 1 if runs would be stopped, or might be; with 2 if it could not tell.
`;

const options = {
  table: { type: "string" },
  bucket: { type: "string" },
  endpoint: { type: "string" },
  region: { type: "string" },
  against: { type: "string" },
  help: { type: "boolean" },
} as const;

const { workflows, keep = [] }: App = app;

async function report() {
  const { table, bucket, endpoint, region, against, help: isAsked } = parseArgs({ options }).values;
  if (isAsked) return undefined;
  if (against !== undefined) return compareBuilds(await readDefinitions(against), definitionsOf(workflows, { keep }));
  if (table === undefined) return undefined;
  return await checkRuns(
    { tableName: table, ...(bucket && { bucket }), ...(endpoint && { endpoint }), ...(region && { region }) },
    workflows,
    { keep },
  );
}

try {
  const found = await report();
  process.stdout.write(found ? `${deployText(found)}\n` : help);
  if (found?.isBad) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
  process.exitCode = 2;
}
