import { readFileSync } from "node:fs";
import { bootstrapAndDeploy } from "./cdk-cli.ts";
import { endpointAt, listenerAt, portOf } from "./endpoint.ts";
import { makeFolder, outputsFile } from "./state.ts";

/** The outputs of our stack, as `cdk deploy` wrote them. */
export type Outputs = Readonly<Record<string, string>>;

/** Throws what to do if nothing listens there. */
export async function requireEndpoint(): Promise<number> {
  const port = portOf(process.env);
  const there = await listenerAt(port);
  if (there === "ministack" || there === "localstack") return port;
  throw new Error(`No endpoint listens on ${endpointAt(port)}: npm run stack:up starts one.`);
}

/** Bootstraps and deploys our own app as it is, with the CDK's own CLI: the same two commands as for AWS. */
export async function deploy(say: (line: string) => void): Promise<void> {
  const port = await requireEndpoint();
  makeFolder();
  bootstrapAndDeploy(port, { outputsFile });
  for (const [name, value] of Object.entries(deployed())) say(`${name}: ${value}`);
  say("Next: npm run stack:demo.");
}

/** What `deploy` left; throws what to do if it has not been. */
export function deployed(): Outputs {
  try {
    const stacks = JSON.parse(readFileSync(outputsFile, "utf8")) as Readonly<Record<string, Outputs>>;
    return Object.assign({}, ...Object.values(stacks)) as Outputs;
  } catch {
    throw new Error("Nothing was deployed from here yet: npm run stack:deploy does it.");
  }
}
