/**
 * Shows what the simulator finds: takes one rule after the other out of the source, in a copy, and counts the seeds until some checker
 * sees it. `node test/sim/proof.ts --runs 200`, or with ids of `test/mutations/table.ts`: `node test/sim/proof.ts "H5" "W4"`, or
 * `--builds` for those of `broken-builds.ts`. What is not found in so many seeds is said, too.
 */
import { parseArgs } from "node:util";
import { mutations } from "../mutations/table.ts";
import { brokenBuilds } from "./broken-builds.ts";
import { createBrokenCopy } from "./broken-copy.ts";

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      runs: { type: "string", default: "200" },
      profile: { type: "string", default: "mixed" },
      builds: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const all = values.builds ? brokenBuilds.map((each) => ({ ...each, id: each.what })) : mutations;
  const chosen = all.filter(({ id }) => positionals.length === 0 || positionals.some((each) => id === each));
  const look = { seed: Number(values.seed), runs: Number(values.runs), profile: values.profile };
  const copy = await createBrokenCopy();
  try {
    for (const broken of chosen) {
      const seen = await copy.seenOf(broken, look);
      const found = seen
        ? `seed ${seen.seed} | ${seen.invariant}: ${seen.what.slice(0, 110)} |`
        : `not in ${values.runs} seeds | |`;
      process.stdout.write(`| ${broken.id} | ${found}\n`);
    }
  } finally {
    await copy.remove();
  }
}

await main();
