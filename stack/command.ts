import { parseArgs } from "node:util";
import { demo } from "./demo.ts";
import { deploy } from "./deploy.ts";
import { down } from "./down.ts";
import { up, type With } from "./up.ts";

const help = `Tickwright on a LocalStack-compatible endpoint on this machine.

  npm run stack:up        an endpoint on port 4566: the one that listens there; else one in Docker, where Docker is;
                          else MiniStack, installed into .venv (Python 3.10 or newer)
      -- --with WAY       ministack or localstack (both in Docker), or python
  npm run stack:deploy    bootstraps and deploys our stack there, with the CDK's own CLI
  npm run stack:demo      runs the examples on it
  npm run stack:down      stops what stack:up started

TICKWRIGHT_STACK_PORT is the port, if it shall be another. LocalStack's images need an account: LOCALSTACK_AUTH_TOKEN.
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { with: { type: "string" }, help: { type: "boolean" } },
  });
  const [verb] = positionals;
  if (values.help || verb === undefined) return say(help) ?? 0;
  switch (verb) {
    case "up":
      await up(withOf(values.with), say);
      return 0;
    case "deploy":
      await deploy(say);
      return 0;
    case "demo":
      return (await demo(say)) === 0 ? 0 : 1;
    case "down":
      await down(say);
      return 0;
    default:
      throw new Error(`There is no "${verb}".\n\n${help}`);
  }
}

function withOf(text: string | undefined): { readonly with?: With } {
  if (text === undefined) return {};
  if (text === "ministack" || text === "localstack" || text === "python") return { with: text };
  throw new Error(`--with takes ministack, localstack or python, not ${text}.`);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
